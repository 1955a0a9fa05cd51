"""Scans one checkpoint: plans it, has its tasks counted on an executor, adds up."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forensics.checkpoints import Opened, StoredTensor
from forensics.found import Note
from forensics.remote import is_remote
from forensics.scan.counting import Counted, count_task, pass_of, worth_compiling
from forensics.scan.planning import Plan, Task, plan
from forensics.scan.tally import Tally
from forensics.scan.trouble import notes_on, stamps_of
from forensics.tensor_stats import TensorStats

if TYPE_CHECKING:
    from concurrent.futures import Executor

Progress = Callable[[int], None]
"""Called with the number of bytes scanned since the last call."""
_INLINE = 1 << 25
"""Bytes up to which starting threads takes longer than it saves."""
_REMOTE_WORKERS = 16
"""A remote store answers slowly, but many at a time."""


def no_progress(_: int) -> None:
    """A `Progress` that shows nothing."""


@dataclass(frozen=True)
class CheckpointScan:
    """Every tensor of a checkpoint, counted."""

    tensors: tuple[TensorStats, ...]
    """In the order in which the checkpoint lists them."""
    notes: tuple[Note, ...] = ()
    """What could not be read, one line a file."""


def scan_checkpoint(
    opened: Opened,
    executor: "Executor | None" = None,
    progress: Progress = no_progress,
    *,
    name: str | None = None,
    step: int | None = None,
    compiled: bool | None = None,
) -> CheckpointScan:
    """Count what every tensor of a checkpoint holds; each byte is read once.

    Args:
        opened: The checkpoint, its header read.
        executor: Who does the work (`concurrent.futures.Executor`, or that of a Dask client);
            by default as many threads as there are processors.
        progress: Called with the number of bytes done since the last call.
        name: What the results call it; by default its path.
        step: Its step in the results; by default what it says itself.
        compiled: Use the compiled loops; by default where there is enough to read.
    """
    remote = any(is_remote(extent.path) for t in opened.tensors for extent in t.extents)
    workers = _REMOTE_WORKERS if remote else processors()
    planned = plan(opened.tensors, workers)
    if compiled is None:
        compiled = worth_compiling(planned.nbytes)
    stamps = stamps_of(planned.tasks)
    if executor is None and (remote or planned.nbytes > _INLINE):
        with _threads(workers) as executor:
            _load_first(planned, compiled)
            results = _counted_on(executor, planned.tasks, compiled, progress)
    elif executor is not None:
        results = _counted_on(executor, planned.tasks, compiled, progress)
    else:
        results = _counted_here(planned.tasks, compiled, progress)
    sources = _added_up(planned, results)
    step = opened.state.global_step if step is None else step
    stats = tuple(_stats(opened.tensors, planned, sources, name or opened.path, step))
    return CheckpointScan(stats, notes_on(sources, stamps))


def processors() -> int:
    """Number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _threads(workers: int) -> Iterator["Executor"]:
    from concurrent.futures import ThreadPoolExecutor

    executor = ThreadPoolExecutor(workers)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def _load_first(planned: Plan, compiled: bool) -> None:
    """Load what several threads would otherwise wait for one another to load."""
    for dtype in planned.dtypes:
        pass_of(dtype, compiled)


def _counted_here(
    tasks: Sequence[Task], compiled: bool, progress: Progress
) -> list[tuple[Counted, ...]]:
    results = []
    for task in tasks:
        results.append(count_task(task, compiled))
        progress(_nbytes(task))
    return results


def _counted_on(
    executor: "Executor", tasks: Sequence[Task], compiled: bool, progress: Progress
) -> list[tuple[Counted, ...]]:
    from concurrent.futures import as_completed

    results: list[tuple[Counted, ...]] = [()] * len(tasks)
    futures = {executor.submit(count_task, task, compiled): i for i, task in enumerate(tasks)}
    for future in as_completed(futures):
        place = futures[future]
        error = future.exception()
        task = tasks[place]
        results[place] = future.result() if error is None else _lost(task, error)
        progress(_nbytes(task))
    return results


def _lost(task: Task, error: BaseException) -> tuple[Counted, ...]:
    """What there is of a task whose worker died."""
    problem = f"was not read: its worker failed ({type(error).__name__}: {str(error)[:200]})"
    return tuple(Counted(Tally(), problem, part.tensor.extents[0].path) for part in task)


def _nbytes(task: Task) -> int:
    return sum(part.nbytes for part in task)


def _added_up(planned: Plan, results: Sequence[tuple[Counted, ...]]) -> list[Counted]:
    """By source: its parts in order, with the first problem of any."""
    whole = [Counted(Tally())] * planned.sources
    for task, counted in zip(planned.tasks, results, strict=True):
        for part, new in zip(task, counted, strict=True):
            old, tally = whole[part.source], new.tally
            if new.problem:  # what comes next keeps its place
                elements = part.nbytes // part.tensor.dtype.size
                tally = replace(tally, count=max(elements, tally.count))
            blamed = old if old.problem else new
            whole[part.source] = Counted(old.tally + tally, blamed.problem, blamed.path)
    return whole


def _stats(
    tensors: Sequence[StoredTensor],
    planned: Plan,
    sources: Sequence[Counted],
    name: str,
    step: int | None,
) -> Iterator[TensorStats]:
    for place, tensor in enumerate(tensors):
        source = planned.source_of[place]
        counted = Counted(Tally()) if source is None else sources[source]
        tally = counted.tally
        yield TensorStats(
            checkpoint=name,
            step=step,
            name=tensor.name,
            role=str(tensor.role),
            dtype=str(tensor.dtype),
            shape=tensor.shape,
            size=tensor.size,
            nan=tally.nan,
            pos_inf=tally.pos_inf,
            neg_inf=tally.neg_inf,
            zero=tally.zero,
            abs_max=tally.largest,
            rms=tally.rms,
            first_bad=tally.first_bad,
            mean=tally.mean,
            nbytes=sum(extent.nbytes for extent in tensor.extents),
            shared=planned.shared[place],
            missing=tensor.missing or planned.why_not[place] or counted.problem,
            rank=tensor.rank,
        )
