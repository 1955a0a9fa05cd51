"""What one worker does: reads its task and counts. Everything here can be sent to a cluster."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import numpy as np

from forensics import checkpoints
from forensics.checkpoints import DType, StoredTensor
from forensics.errors import UnreadableFile
from forensics.scan import numpy_pass
from forensics.scan.element_types import Bytes
from forensics.scan.planning import Task
from forensics.scan.reading import EndedEarlyError, Files
from forensics.scan.tally import Tally

COMPILED_FROM = 1 << 31
"""Bytes from which loading numba (half a second) pays for itself."""
_COMPILED_FROM_ONCE_LOADED = 1 << 25


@dataclass(frozen=True)
class Counted:
    """A part of a tensor, counted as far as it could be read."""

    tally: Tally
    problem: str = ""
    """Why not all of it could be read, or ''."""
    path: str = ""
    """The file with the problem."""


def worth_compiling(nbytes: int) -> bool:
    """True where reading this much takes longer than loading the compiled loops saves."""
    loaded = f"{__package__}.kernels_numba" in sys.modules
    return nbytes >= (_COMPILED_FROM_ONCE_LOADED if loaded else COMPILED_FROM)


def count_task(task: Task, compiled: bool) -> tuple[Counted, ...]:
    """Count the parts of a task, in order."""
    with Files() as files:
        return tuple(_count(part.tensor, files, compiled) for part in task)


def _count(tensor: StoredTensor, files: Files, compiled: bool) -> Counted:
    problems: list[tuple[str, str]] = []
    chunks = _as_far_as_it_goes(_chunks(tensor, files), tensor, problems)
    tally = pass_of(tensor.dtype, compiled)(chunks, tensor.dtype)
    return Counted(tally, *problems[0]) if problems else Counted(tally)


def _chunks(tensor: StoredTensor, files: Files) -> Iterator[Bytes]:
    if not tensor.decoder:
        yield from files.chunks(tensor.extents, tensor.dtype.size)
        return
    for piece in checkpoints.decoded_chunks(tensor):
        whole = len(piece) - len(piece) % tensor.dtype.size
        yield np.frombuffer(piece, np.uint8, whole)


def _as_far_as_it_goes(
    chunks: Iterator[Bytes], tensor: StoredTensor, problems: list[tuple[str, str]]
) -> Iterator[Bytes]:
    """The chunks up to the first error, which is added to ``problems``."""
    try:
        yield from chunks
    except EndedEarlyError as error:
        problems.append(("shrank while it was read", str(error)))
    except OSError as error:
        path = str(error.filename or tensor.extents[0].path)
        problems.append((f"could not be read ({error.strerror or error})", path))
    except UnreadableFile as error:
        path = tensor.extents[0].path
        problems.append((str(error).removeprefix(f"{path}: "), path))


Pass = Callable[[Iterable[Bytes], DType], Tally]


@cache
def pass_of(dtype: DType, compiled: bool) -> Pass:
    """The function that counts elements of a type."""
    if compiled:
        with suppress(Exception):  # whatever keeps numba from working here, numpy can do it too
            from forensics.scan import compiled_pass

            compiled_pass.warm_up(dtype)
            return compiled_pass.count
    return numpy_pass.count
