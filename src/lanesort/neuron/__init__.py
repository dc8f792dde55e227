"""NeuronCore: the words of Sort and NonzeroWithCount, and the machine that runs them."""

from __future__ import annotations

from lanesort.neuron.core import BUILDS, NeuronCore
from lanesort.neuron.descriptor import Events, Header, Tensor, UpdateMode, WaitMode, register_address
from lanesort.neuron.dtype import AluOp, Dtype
from lanesort.neuron.events import Bank
from lanesort.neuron.generation import GENERATIONS, Generation
from lanesort.neuron.immediate import ImmSource, Pointer, Register
from lanesort.neuron.instruction import MODES, Instruction
from lanesort.neuron.memory import Access, Sbuf
from lanesort.neuron.nonzero_with_count import NonzeroWithCount
from lanesort.neuron.opcodes import INSTRUCTIONS, KNOWN_OPCODES, Words, decode, decode_many
from lanesort.neuron.sort import Sort
from lanesort.neuron.text import assemble, assemble_program, dump
from lanesort.neuron.trace import Result, TraceEvent, chrome_trace

__all__ = [
    # Words
    "Sort",
    "NonzeroWithCount",
    "Instruction",
    "decode",
    "decode_many",
    "Words",
    "assemble",
    "assemble_program",
    "dump",
    "INSTRUCTIONS",
    "KNOWN_OPCODES",
    # Their pieces
    "Header",
    "Events",
    "WaitMode",
    "UpdateMode",
    "Tensor",
    "register_address",
    "Pointer",
    "Register",
    "ImmSource",
    "Dtype",
    "AluOp",
    # Where and how they are valid
    "GENERATIONS",
    "Generation",
    "MODES",
    # The machine
    "NeuronCore",
    "Result",
    "TraceEvent",
    "chrome_trace",
    "Sbuf",
    "Access",
    "Bank",
    "BUILDS",
]
