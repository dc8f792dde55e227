"""Plans for NeuronCore: pieces, offsets, rebased indices, loads of SBUF, early discarding, nonzeros."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import lanesort
from lanesort import plan
from lanesort.neuron import GENERATIONS, decode_many

X = np.random.default_rng(3).integers(0, 50, (3, 70000)).astype(np.int16)


def test_16_bit_indices_are_rebased_by_the_host() -> None:
    planned = plan.sort(shape=X.shape, dtype="int16", target="cayman")
    assert planned.chosen.rebased
    assert {word.index_offset for word in planned.program} == {0}
    found = planned.check(X)
    assert found.equal
    assert "sort.index-wrap" not in found.unpinned


def test_16_bit_indices_that_fit_come_from_the_words() -> None:
    planned = plan.sort(shape=(3, 65536), dtype="int16", target="cayman")
    assert not planned.chosen.rebased
    assert max(word.index_offset for word in planned.program) > 60000
    assert planned.check(np.ascontiguousarray(X[:, :65536]))


def test_words_are_as_large_as_pool_ram_allows() -> None:
    planned = plan.sort(shape=(16, 8192), target="cayman").using("pieces of 2048")
    assert {word.src.counts[0] * word.num_active_channels for word in planned.program} == {2048}
    short = plan.sort(shape=(100, 30), dtype="bfloat16", target="cayman")
    assert [word.num_active_channels for word in short.program] == [100]


def test_emitted_words_decode(tmp_path) -> None:
    planned = plan.top_k(shape=(4, 5000), k=9, target="mariana")
    path = planned.emit(tmp_path / "words.bin")
    assert tuple(decode_many(path.read_bytes())) == planned.program


def test_pieces_that_do_not_fit_sbuf_at_once_are_loaded_one_after_another() -> None:
    planned = plan.sort(shape=(1, 200000), target="sunda").using("pieces of 2048")
    loads = {piece.place.load for piece in planned.chosen.pieces}
    assert len(loads) == max(loads) + 1 > 1
    room = GENERATIONS["sunda"].sbuf_bytes
    assert all(span.stop <= room for step in planned.steps for span in (*step.reads, *step.writes))
    assert planned.check(np.random.default_rng(0).standard_normal((1, 200000)).astype(np.float32))


def test_pieces_of_one_load_do_not_overlap() -> None:
    for given in ({"shape": (40, 3000)}, {"shape": (200, 48)}, {"shape": (1, 100000)}):
        planned = plan.sort(**given, target="cayman")
        taken: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for piece in planned.chosen.pieces:
            size = 3 * piece.length * 4
            for channel in range(piece.channels):
                key = (piece.place.load, piece.place.partition + channel)
                taken.setdefault(key, []).append((piece.place.offset_bytes, piece.place.offset_bytes + size))
        for spans in taken.values():
            spans.sort()
            assert all(first[1] <= second[0] for first, second in pairwise(spans))


def test_case_56_top_3_of_a_vocabulary_reads_three_pairs_a_piece() -> None:
    """gh:aws-neuron/aws-neuron-sdk/issues/1339: k stays 3, and 128256 of 128256 is a tiled sort."""
    logits = np.random.default_rng(1).standard_normal((1, 128256)).astype(np.float32)
    top = plan.top_k(shape=logits.shape, k=3, target="cayman")
    whole = plan.top_k(shape=logits.shape, k=128256, target="cayman")
    assert top.check(logits)
    assert whole.check(logits)
    read = {p.job.k: sum(s.bytes for s in p.steps if s.op == "read") for p in (top, whole)}
    assert read[3] == 3 * 8 * len(top.program)
    assert read[128256] == 128256 * 8
    for k in (3, 128256):
        assert plan.top_k(shape=logits.shape, k=k, target="a5").check(logits)


def test_candidates_that_fit_one_sort_may_be_sorted_again() -> None:
    """Equal values keep the order of their positions, across pieces and across the two sorts."""
    x = np.random.default_rng(2).integers(0, 3, (5, 9000)).astype(np.float32)
    planned = plan.top_k(shape=x.shape, k=100, target="cayman").using("pieces of 2048, sorted again")
    assert planned.check(x)
    assert planned.run(x).indices.tolist() == lanesort.top_k(x, 100).indices.tolist()
    assert "merge" not in planned.cost.by_operation
    assert len(planned.program) == len(planned.chosen.pieces) == 25 + 2
    wide = plan.top_k(shape=x.shape, k=1000, target="cayman")
    assert not [program.name for program in wide.alternatives if "again" in program.name]


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("nan", ["last", "largest", "total"])
def test_nan_and_zeros_in_both_directions(nan: str, descending: bool) -> None:
    bits = np.array([0x3F800000, 0xFFC00000, 0x7FC00000, 0x7F800000, 0xFF800000, 0, 0x80000000], np.uint32)
    x = np.resize(bits, (2, 3000)).view(np.float32)
    choices = {"sort.nan-order": nan}
    planned = plan.sort(shape=x.shape, target="cayman", descending=descending, choices=choices)
    found = planned.check(x)
    assert found.equal
    assert "sort.nan-order" in found.unpinned


@pytest.mark.parametrize("n", [1, 7, 8, 9, 127, 4096, 100001, 300000])
@pytest.mark.parametrize("partitions", ["every-16th", "all"])
def test_nonzero_of_any_length(n: int, partitions: str) -> None:
    x = np.random.default_rng(n).integers(-1, 2, n).astype(np.int32)
    planned = plan.nonzero(shape=n, dtype="int32", choices={"nonzero.partitions": partitions})
    for program in planned.alternatives:
        indices, total = planned.using(program.name).run(x)
        expected = lanesort.flatnonzero(x)
        assert np.array_equal(indices, expected.indices)
        assert total == expected.total


def test_nonzero_rules_other_than_the_librarys_are_compared_with_the_reference() -> None:
    x = np.array([0.0, -0.0, np.nan, 1.0], np.float32)
    for rule, expected in (("counted", [2, 3]), ("ordered", [3]), ("bits", [1, 2, 3])):
        planned = plan.nonzero(shape=4, choices={"nonzero.nan": rule})
        assert planned.run(x).indices.tolist() == expected
        found = planned.check(x)
        assert found.equal
        assert ("library" in found.differences) == (rule == "counted")
        assert ("library: not asked" in str(found)) == (rule != "counted")
