"""NeuronCore generations, as data: memory map, version, and which instructions they have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lanesort.errors import ArgumentValueError
from lanesort.evidence import fact, unpinned

__all__ = ["BOTH", "GENERATIONS", "MAVERICK_MAP", "Generation", "availability", "generation"]

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation of NeuronCore.

    Attributes
    ----------
    name
        Name of the architecture in the ISA headers.
    version
        NeuronCore version: 3 for NC-v3.
    products
        Where it is found.
    partitions
        Partitions of SBUF.
    sbuf_bytes
        Bytes of SBUF in a partition; 0 where no instruction here exists.
    partition_stride_bytes
        Distance of two partitions in the address space.
    psum_base
        First address of PSUM.
    psum_bytes, psum_stride_bytes
        Active bytes of PSUM in a partition, and the distance of two partitions.
    registers
        Address registers.
    sort_ram_bytes
        Pool working RAM that a Sort has to fit into.
    instructions
        Mnemonics that the generation has, of those modelled here.
    debug_build
        Whether a DEBUG build of its firmware is known.
    """

    name: str
    version: int
    products: str
    partitions: int = 128
    sbuf_bytes: int = 0
    partition_stride_bytes: int = 256 * KIB
    psum_base: int = 0x2000000
    psum_bytes: int = 16 * KIB
    psum_stride_bytes: int = 32 * KIB
    registers: int = 64
    sort_ram_bytes: int = 8 * KIB
    instructions: frozenset[str] = frozenset({"sort", "nonzero_with_count"})
    debug_build: bool = True

    def address(self, partition: int, offset_bytes: int) -> int:
        """Return the SBUF address of a byte.

        Examples
        --------
        >>> hex(generation("cayman").address(2, 0x10))
        '0x80010'
        """
        return partition * self.partition_stride_bytes + offset_bytes

    def partition_of(self, address: int) -> int:
        """Return the partition that an SBUF address lies on."""
        return address // self.partition_stride_bytes

    def offset_of(self, address: int) -> int:
        """Return the byte offset of an SBUF address in its partition."""
        return address % self.partition_stride_bytes

    def start_partitions(self, channels: int) -> tuple[int, ...]:
        """Return where an access of that many partitions may start."""
        half, quarter = self.partitions // 2, self.partitions // 4
        if channels > half:
            return (0,)
        return tuple(range(0, self.partitions, half if channels > quarter else quarter))


GENERATIONS: Mapping[str, Generation] = MappingProxyType(
    {
        g.name: g
        for g in (
            Generation("tonga", 1, "inf1", instructions=frozenset()),
            Generation(
                "sunda",
                2,
                "trn1, inf2",
                sbuf_bytes=192 * KIB,
                instructions=frozenset({"sort"}),
                debug_build=False,
            ),
            Generation("cayman", 3, "trn2", sbuf_bytes=224 * KIB),
            Generation("mariana", 4, "trn3", sbuf_bytes=256 * KIB),
            Generation("mariana_plus", 4, "trn3", sbuf_bytes=256 * KIB),
            Generation(
                "maverick",
                5,
                "known from headers only",
                sbuf_bytes=512 * KIB,
                partition_stride_bytes=1 * MIB,
                psum_base=0x8000000,
            ),
        )
    }
)
"""Every generation by name, oldest first."""


def generation(name: str | Generation) -> Generation:
    """Return the generation of that name, or the generation itself.

    Raises
    ------
    ArgumentValueError
        For an unknown name.

    Examples
    --------
    >>> generation("cayman").version
    3
    """
    if isinstance(name, Generation):
        return name
    found = GENERATIONS.get(name)
    if found is None:
        raise ArgumentValueError(f"generation is {name!r}; known are {', '.join(GENERATIONS)}")
    return found


def availability(instruction: str) -> dict[str, str]:
    """Say for each generation whether it has an instruction.

    Examples
    --------
    >>> availability("sort")["tonga"]
    'no (NC-v1, inf1)'
    """
    return {
        g.name: f"{'yes' if instruction in g.instructions else 'no'} (NC-v{g.version}, {g.products})"
        for g in GENERATIONS.values()
    }


BOTH = ("neuron.sort", "neuron.nonzero_with_count")

MAVERICK_MAP = unpinned(
    "neuron.maverick-map",
    BOTH,
    "128 partitions of 1 MiB each would overlap the PSUM base of the other generations",
    "no source; headers of NC-v5 give the partition stride alone",
    {"psum-behind-sbuf": "PSUM lies behind SBUF, at 0x8000000"},
)

fact(
    "neuron.machine",
    "An SBUF address is partition × stride + byte offset; the stride is 256 KiB, on maverick 1 MiB.",
    "observed",
    "medium",
    "ISA header reading, address map; same author as seeds 000 and 003",
)
fact(
    "neuron.machine",
    "SBUF has 128 partitions of 192 KiB (sunda), 224 KiB (cayman), 256 KiB (mariana, mariana_plus), "
    "512 KiB (maverick).",
    "documented",
    "high",
    "NKI documentation, architecture guides; maverick: ISA headers (observed)",
)
fact(
    "neuron.machine",
    "An access of more than 64 partitions starts at 0, of 33 to 64 at 0 or 64, of up to 32 at 0, 32, 64 "
    "or 96.",
    "documented",
    "high",
    "NKI documentation, start partitions of an access",
)
fact(
    "neuron.machine",
    "The start-partition clause of the predicates (start_addr_active_channels) is that rule.",
    "assumed",
    "medium",
    "its body is not public",
)
fact(
    "neuron.machine",
    "PSUM starts at 0x2000000, 16 KiB active in each partition at a stride of 32 KiB; neither instruction "
    "may touch it.",
    "observed",
    "medium",
    "ISA header reading, address map; predicates in seeds 000 and 003 (AllowedInPSUM::False)",
)
