"""Every unpinned behaviour that a result decides has a probe, and the probe decides it."""

from __future__ import annotations

import numpy as np
import pytest

from lanesort.cli.probe import probe as command
from lanesort.errors import ArgumentValueError
from lanesort.evidence import unpinned_behaviours
from lanesort.neuron.core import NeuronCore
from lanesort.probe.probe import PROBES, UNDECIDED, describe, probe, write_probe
from lanesort.pto.interpreter import run


def test_every_unpinned_behaviour_has_a_probe_or_a_reason():
    known = {behaviour.id for behaviour in unpinned_behaviours()}
    assert known == set(PROBES) | set(UNDECIDED)
    assert not set(PROBES) & set(UNDECIDED)


@pytest.mark.parametrize("id", PROBES)
def test_every_choice_gives_a_result_of_its_own(id):
    made = probe(id)
    assert made.tells_apart
    behaviour = next(b for b in unpinned_behaviours() if b.id == id)
    assert [o.choice for o in made.outcomes if o.on_offer] == list(behaviour.choices)
    for outcome in made.outcomes:
        assert outcome in made.consistent(outcome.result)


@pytest.mark.parametrize("id", [id for id in PROBES if isinstance(probe(id).program, bytes)])
def test_words_run_from_their_files(id, tmp_path):
    program, inputs, _ = write_probe(id, tmp_path)
    made = probe(id)
    core = NeuronCore(made.runs_on, engine="reference")
    held = np.load(inputs)
    for partition, row in enumerate(held["sbuf"]):
        core.sbuf.write(partition, 0, row)
    for number, value in enumerate(held.get("registers", [])):
        core.registers[number] = int(value)
    refused = {"sort.start-partition", "sort.top-k-shape", "sort.reserved"}
    if id in refused:
        with pytest.raises(ValueError, match=id):
            core.run(program.read_bytes())
        return
    result = core.run(program.read_bytes())
    assert id in result.unpinned
    default = made.outcomes[0].result
    for partition in range(len(default)):
        read = core.sbuf.read(partition, 64, default.shape[1], f"u{8 * default.itemsize}")
        assert read.tobytes() == default[partition].tobytes()


@pytest.mark.parametrize("id", [id for id in PROBES if isinstance(probe(id).program, str)])
def test_kernels_run_from_their_files(id, tmp_path):
    program, inputs, _ = write_probe(id, tmp_path)
    with np.load(inputs) as held:
        done = run(program.read_text(), dict(held), engine="reference", check_sorted=False)
    assert id in done.unpinned
    default = probe(id).outcomes[0].result
    if default.itemsize == 4:
        assert done.outputs["dst"].tobytes()[: default.nbytes] == default.tobytes()


def test_the_probe_of_nan_shows_networks_too():
    names = {outcome.choice for outcome in probe("sort.nan-order").outcomes}
    assert "network bitonic, swap, index as second key" in names
    assert len(names) == 3 + 4 * 3 * 2


def test_descriptions_say_what_to_do():
    text = describe("nonzero.nan")
    assert "nonzero.fp32 ch=1" in text
    assert "ffffffff ffffffff 00000000" in text
    assert "lanesort fit results.npz" in text
    assert "pto.tmrgsort" in describe("pto.merge-tie")


def test_what_has_no_probe_is_told_why():
    with pytest.raises(ArgumentValueError, match=r"pto\.exhausted-tail has no probe: no other choice"):
        probe("pto.exhausted-tail")
    with pytest.raises(ArgumentValueError, match=r"no unpinned behaviour 'sort\.speed'"):
        probe("sort.speed")


def test_the_command_lists_prints_and_writes(capsys, tmp_path):
    assert command() == 0
    listed = capsys.readouterr().out
    assert all(id in listed for id in (*PROBES, *UNDECIDED))
    assert command("sort.tie-order", "sort.zero-order") == 0
    assert "stable = 0" in capsys.readouterr().out
    assert command(all=True, output=tmp_path) == 0
    assert len(list(tmp_path.iterdir())) == 3 * len(PROBES)
