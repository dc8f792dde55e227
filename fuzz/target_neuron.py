"""Fuzz targets for NeuronCore words, text and machine; each takes any bytes and must return."""

from __future__ import annotations

from lanesort import neuron
from lanesort.errors import DecodeError, LanesortError, MachineError, ProgramError, RuleViolations

__all__ = ["fuzz_assemble", "fuzz_decode", "fuzz_run"]

_CORES = {name: neuron.NeuronCore(name, engine="reference") for name in ("sunda", "cayman", "maverick")}
LONGEST_PROGRAM = 8


def _expect(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(what)


def fuzz_decode(data: bytes) -> None:
    """A word decodes or errs by name; what decodes survives bytes, text and repr, and validates."""
    try:
        word = neuron.decode(data)
    except DecodeError as error:
        _expect("64 bytes" in str(error) or "opcode 0x" in str(error), "a refusal says why")
        return
    assert word.encode() == data
    assert neuron.assemble(str(word)) == word
    assert eval(repr(word), vars(neuron)) == word
    for generation in neuron.GENERATIONS:
        for mode in neuron.MODES:
            assert all(v.text for v in word.validate(generation, mode))


def fuzz_assemble(data: bytes) -> None:
    """A text assembles, and prints to itself, or is refused with a place."""
    try:
        words = neuron.assemble_program(data.decode("utf-8", "replace"))
    except ProgramError as error:
        _expect(error.place is not None, "a refusal has a place")
        return
    for word in words:
        assert neuron.assemble(str(word)) == word


def fuzz_run(data: bytes) -> None:
    """A program runs or is refused; a refused first instruction changes nothing.

    The first byte chooses generation and mode; what follows are words, the opcode of each made
    one that is modelled.
    """
    if len(data) < 65:
        return
    core = list(_CORES.values())[data[0] % len(_CORES)]
    mode = neuron.MODES[data[0] // 16 % len(neuron.MODES)]
    opcodes = tuple(neuron.INSTRUCTIONS)
    count = min(LONGEST_PROGRAM, (len(data) - 1) // 64)
    words = [data[1 + 64 * i : 65 + 64 * i] for i in range(count)]
    program = [bytes([opcodes[w[0] % len(opcodes)]]) + w[1:] for w in words]
    try:
        result = core.run(program, mode)
    except (RuleViolations, MachineError) as error:
        _expect(bool(str(error)), "a refusal says why")
        return
    except LanesortError as error:
        raise AssertionError(f"{type(error).__name__} from a decodable program") from error
    assert len(result.instructions) == count
