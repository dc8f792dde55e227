"""The kernels of the three strategies, written instruction by instruction.

Flags: loads alternate between two buffers, which V gives back by flags 0 and 1 to MTE2; V
waits for MTE3 by flag 0 before it writes what the last stores have read.
"""

from __future__ import annotations

from collections.abc import Callable

from lanesort.plan.job import Job
from lanesort.plan.kernel import Kernel, Tile
from lanesort.plan.layout import Layout
from lanesort.plan.tree import BLOCK, Run, Tree, merge_tree, most_rounds
from lanesort.plan.windows import merge_runs, window_pairs
from lanesort.pto.operand import BLOCK_BYTES, round_up
from lanesort.pto.target import find_target
from lanesort.pto.tile import PAIR_BYTES

__all__ = ["JobKernel"]

Chunk = Callable[[str, str, str, int, int], None]
"""Takes row, first column, first position, elements, and which buffer of values to use."""


class JobKernel:
    """Writes the kernel of one strategy."""

    def __init__(self, job: Job, layout: Layout | None = None, rounds: int = 0) -> None:
        self.job = job
        self.target = find_target(job.target)
        self.layout = layout or Layout.of(BLOCK, job.dtype.itemsize, 0)
        self.rounds = rounds
        self.kernel = Kernel(job.op, self.target, job.dtype)
        self.spills = False

    def kernel_text(self) -> str:
        """Return the module."""
        job, element = self.job, self.kernel.element
        arguments = [
            f"%scores: !pto.ptr<{element}>",
            f"%values: !pto.ptr<{element}>",
            "%indices: !pto.ptr<i32>",
        ]
        if self.spills:
            arguments.append(f"%work: !pto.ptr<{element}>")
        comment = f"The best {job.k} of {job.width} in each of {job.rows} rows: values and positions."
        if self.spills:
            comment += "\nA block needs a work area of two rows of pairs."
        return self.kernel.text(arguments, comment)

    def tree(self, n: int) -> Tree | None:
        """Return how a chunk of `n` is sorted."""
        limit = self.target.list_pairs_limit
        return merge_tree(n, min(self.job.k, n), min(self.rounds, most_rounds(n, limit)), limit)

    # --- strategies ------------------------------------------------------------------------

    def whole(self) -> None:
        """Sort rows that fit, two buffers in turn."""
        k, n = self.kernel, self.job.width
        self._begin()
        k.phase = "rows"
        rows, step, both = k.index(self.job.rows), "%blocks", self.job.rows > 1
        if both:
            step = k.compute("muli", "%blocks", k.index(2), prefix="step")
        with k.inside(f"scf.for %row = %block to {rows} step {step} {{"):
            with k.repeated((self.job.rows + 1) // 2):
                self._sorted_row("%row", n, 0)
            if both:
                other = k.compute("addi", "%row", "%blocks", prefix="row")
                more = k.compute("cmpi slt,", other, rows, prefix="more")
                with k.inside(f"scf.if {more} {{"), k.repeated(self.job.rows // 2):
                    self._sorted_row(other, n, 1)
        self._end()

    def _sorted_row(self, row: str, n: int, source: int) -> None:
        zero = self.kernel.index(0)
        result = self._sort_chunk(row, zero, self.kernel.i32(0), n, source, after_stores=True)
        self._give(row, self.layout.buffers[result.buffer], self.layout.buffers[1 - result.buffer])

    def keep_best(self) -> None:
        """Keep the best k pairs of the chunks of a row."""
        k, layout = self.kernel, self.layout
        self._begin()
        loop = f"scf.for %row = %block to {k.index(self.job.rows)} step %blocks {{"
        with k.inside(loop), k.repeated(self.job.rows):
            k.phase, zero = "first chunk", k.index(0)
            first = self._sort_chunk("%row", zero, k.i32(0), layout.chunk, 0, after_stores=True)
            k.copy(self._run(first, "i32"), k.tile("best", layout.best, 2 * self.job.k, "i32"))
            k.phase = "further chunks"
            self._each_chunk("%row", 1, self._keep_chunk)
            k.phase = "result"
            self._give("%row", layout.best, layout.buffers[0])
        self._end()

    def _keep_chunk(self, row: str, start: str, first: str, n: int, source: int) -> None:
        k, layout = self.kernel, self.layout
        found = self._sort_chunk(row, start, first, n, source)
        best = k.pairs(layout.best, self.job.k)
        k.merge_lists([best, self._run(found)], layout.buffers[1 - found.buffer], best)

    def spill(self) -> None:
        """Sort chunks into global memory and merge them from there."""
        k, job = self.kernel, self.job
        self.spills = True
        self._begin()
        columns = k.index(job.width * k.pair_width)
        rows = k.compute("muli", "%blocks", k.index(2), prefix="rows")
        work = k.view("%runs", "%work", rows, columns)
        near = k.compute("muli", "%block", k.index(2), prefix="half")
        far = k.compute("addi", near, k.index(1), prefix="half")
        with k.inside(f"scf.for %row = %block to {k.index(job.rows)} step %blocks {{"), k.repeated(job.rows):
            k.phase = "chunks"

            def store_chunk(row: str, start: str, first: str, n: int, source: int) -> None:
                found = self._sort_chunk(row, start, first, n, source, after_stores=True)
                tile = self._run(found)
                k.hand_over("V", "MTE3")
                column = k.compute("muli", start, k.index(k.pair_width), prefix="column")
                part, kind = k.part("%runs", work, near, column, tile.valid or 0)
                k.store(tile, part, kind, f"a run of {found.pairs} pairs")
                k.set_flag("MTE3", "V", 0)

            self._each_chunk("%row", 0, store_chunk)
            k.barrier()
            merge_runs(k, job, self.layout.chunk, work, (near, far), window_pairs(self.target))
        self._end()

    # --- parts -----------------------------------------------------------------------------

    def _begin(self) -> None:
        k, job = self.kernel, self.job
        for name, op in (("block", "get_block_idx"), ("blocks", "get_block_num")):
            k.line(f"%{name}_i64 = pto.{op}")
            k.line(f"%{name} = arith.index_cast %{name}_i64 : i64 to index")
        rows = k.index(job.rows)
        self.scores = k.view("%scores_view", "%scores", rows, k.index(job.width))
        k.view("%values_view", "%values", rows, k.index(job.k))
        k.view("%indices_view", "%indices", rows, k.index(job.k), "i32")
        for source in (0, 1):
            k.set_flag("V", "MTE2", source)
        k.set_flag("MTE3", "V", 0)

    def _end(self) -> None:
        for source in (0, 1):
            self.kernel.wait_flag("V", "MTE2", source)
        self.kernel.wait_flag("MTE3", "V", 0)

    def _each_chunk(self, row: str, first: int, work: Chunk) -> None:
        """Call `work` for whole chunks from number `first` on, in a loop, and for the rest."""
        k, chunk = self.kernel, self.layout.chunk
        whole, rest = divmod(self.job.width, chunk)
        if whole > first:
            number = k.fresh("chunk")
            end = k.index(whole)
            count = whole - first
            with k.inside(f"scf.for {number} = {k.index(first)} to {end} step {k.index(2)} {{"):
                with k.repeated((count + 1) // 2):
                    self._chunk(row, number, chunk, first % 2, work)
                if count > 1:
                    other = k.compute("addi", number, k.index(1), prefix="chunk")
                    more = k.compute("cmpi slt,", other, end, prefix="more")
                    with k.inside(f"scf.if {more} {{"), k.repeated(count // 2):
                        self._chunk(row, other, chunk, (first + 1) % 2, work)
        if rest:
            self._chunk(row, k.index(whole), rest, whole % 2, work)

    def _chunk(self, row: str, number: str, n: int, source: int, work: Chunk) -> None:
        k = self.kernel
        start = k.compute("muli", number, k.index(self.layout.chunk), prefix="start")
        first = k.fresh("first")
        k.line(f"{first} = arith.index_cast {start} : index to i32")
        work(row, start, first, n, source)

    def _sort_chunk(
        self, row: str, start: str, first: str, n: int, source: int, *, after_stores: bool = False
    ) -> Run:
        """Load `n` values from column `start` on and sort them; position `first` is the first."""
        k, layout = self.kernel, self.layout
        tree = self.tree(n)
        assert tree is not None
        values = k.tile("scores", layout.sources[source], n)
        part, kind = k.part("%scores_view", self.scores, row, start, n)
        k.wait_flag("V", "MTE2", source)
        k.load(part, kind, values, f"{n} scores")
        k.set_flag("MTE2", "V", source)
        if after_stores:
            k.wait_flag("MTE3", "V", 0)
        k.iota(first, k.tile("positions", layout.buffers[1], round_up(n, BLOCK), "i32"))
        k.wait_flag("MTE2", "V", source)
        self._sort_blocks(tree, source)
        k.set_flag("V", "MTE2", source)
        self._merge(tree)
        return tree.result

    def _sort_blocks(self, tree: Tree, source: int) -> None:
        k, layout = self.kernel, self.layout
        whole, itemsize = tree.blocks * BLOCK, self.job.dtype.itemsize
        values, positions = layout.sources[source], layout.buffers[1]
        if whole:
            k.sort32(
                k.tile("scores", values, whole),
                k.tile("positions", positions, whole, "i32"),
                k.pairs(0, whole),
            )
        if tree.tail:
            tmp = k.tile("tail", positions + 4 * (whole + BLOCK), BLOCK)
            k.sort32(
                k.tile("scores", values + whole * itemsize, tree.tail),
                k.tile("positions", positions + 4 * whole, tree.tail, "i32", room=BLOCK),
                k.pairs(whole * PAIR_BYTES, BLOCK),
                tmp,
            )

    def _merge(self, tree: Tree) -> None:
        k = self.kernel
        for buffer, block, pairs in tree.rounds:
            source, target = Run(buffer, 0, pairs), Run(1 - buffer, 0, pairs)
            k.merge_blocks(self._run(source), block, self._run(target))
        for buffer, start, pairs in tree.copies:
            k.copy(
                self._run(Run(buffer, start, pairs), "i32"), self._run(Run(1 - buffer, start, pairs), "i32")
            )
        for merge in tree.merges:
            target = merge.target
            tmp = self.layout.buffers[1 - target.buffer] + target.start * PAIR_BYTES
            k.merge_lists([self._run(run) for run in merge.sources], tmp, self._run(target))

    def _run(self, run: Run, element: str | None = None) -> Tile:
        address = self.layout.buffers[run.buffer] + run.start * PAIR_BYTES
        if element is not None:
            return self.kernel.tile("words", address, 2 * run.pairs, element)
        return self.kernel.pairs(address, run.pairs)

    def _give(self, row: str, pairs: int, room: int) -> None:
        """Pull the best k pairs apart into `room` and store them."""
        k, job = self.kernel, self.job
        values = k.tile("best_values", room, job.k)
        indices = k.tile("best_indices", room + round_up(values.bytes, BLOCK_BYTES), job.k, "i32")
        k.pull_apart(pairs, job.k, values, indices)
        k.hand_over("V", "MTE3")
        for tile, view, element in ((values, "%values_view", k.element), (indices, "%indices_view", "i32")):
            kind = f"!pto.tensor_view<?x?x{element}>"
            part, part_kind = k.part(view, kind, row, k.index(0), job.k)
            k.store(tile, part, part_kind, f"{job.k} {view.removeprefix('%').removesuffix('_view')}")
        k.set_flag("MTE3", "V", 0)
