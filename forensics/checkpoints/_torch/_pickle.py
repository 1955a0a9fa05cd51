"""Reads the pickle of a torch file: tensors become `StoredTensor`, all else stays inert."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar

from forensics import inert_pickle
from forensics.checkpoints._base import DType
from forensics.checkpoints._dtypes import of_torch
from forensics.checkpoints._reading import Source, in_memory, read_at
from forensics.checkpoints._torch._numpy_values import NUMPY_CONSTRUCTORS
from forensics.checkpoints._torch._tensors import TENSOR_CONSTRUCTORS, PickledStorage
from forensics.checkpoints._views import Storage
from forensics.errors import UnreadableFile
from forensics.inert_pickle import Global, Inert

T = TypeVar("T")


MAX_PICKLE = 64 << 20
"""Bytes; a hundred thousand tensors take 20 MB."""


@dataclass(frozen=True)
class StorageId:
    """How a pickle names the bytes of a storage."""

    key: str
    dtype: DType
    itemsize: int
    numel: int

    @property
    def nbytes(self) -> int:
        """Size of the storage."""
        return self.itemsize * self.numel


Locate = Callable[[StorageId], Storage]
"""Finds the bytes of a storage; says in `Storage.missing` why they are not there."""


def read_object(stream: BinaryIO, locate: Locate) -> Any:
    """Read the object of a torch file.

    Raises:
        UnreadableFile: See `inert_pickle.load`.
    """
    known: dict[str, Storage] = {}

    def storage_of(pid: Any) -> Any:
        named = _storage_id(pid)
        if named is None:
            return _class_of_module(pid)
        if named.key not in known:
            known[named.key] = locate(named)
        return PickledStorage(known[named.key], named.dtype, named.itemsize)

    constructors = {**NUMPY_CONSTRUCTORS, **TENSOR_CONSTRUCTORS}
    return inert_pickle.load(stream, constructors=constructors, persistent=storage_of)


def storages_named_in(stream: BinaryIO) -> dict[str, StorageId]:
    """The storages that the pickle names, by key.

    Raises:
        UnreadableFile: See `inert_pickle.load`.
    """
    found: dict[str, StorageId] = {}

    def note(pid: Any) -> Any:
        named = _storage_id(pid)
        if named is not None:
            found.setdefault(named.key, named)
        return None

    inert_pickle.load(stream, persistent=note)
    return found


def named_and_length(stream: BinaryIO) -> tuple[dict[str, StorageId], int]:
    """The storages that a pickle names, and its own length; for `with_enough`."""
    return storages_named_in(stream), stream.tell()


def with_enough(file: Source, offset: int, end: int, use: Callable[[BinaryIO], T]) -> T:
    """Give ``use`` the bytes from ``offset`` on: few at first, more where it finds them cut short.

    Raises:
        UnreadableFile: As ``use`` raises it on all there is.
    """
    for limit in (1 << 20, 16 << 20, MAX_PICKLE):
        nbytes = min(limit, end - offset)
        try:
            return use(in_memory(read_at(file, offset, nbytes)))
        except UnreadableFile:
            if nbytes < limit or limit == MAX_PICKLE:
                raise
    raise AssertionError("the loop returns or raises")


def _class_of_module(pid: Any) -> Any:
    """Read ``('module', class, file, source)``, under which old files keep a module's code."""
    if isinstance(pid, tuple) and len(pid) > 1 and pid[0] == "module":
        return pid[1]
    return Inert("persistent", (pid,))


def _storage_id(pid: Any) -> StorageId | None:
    """Read ``('storage', type, key, device, numel)``; an older one has a view behind it."""
    if not isinstance(pid, tuple) or len(pid) < 5 or pid[0] != "storage":
        return None
    kind, key, numel = pid[1], pid[2], pid[4]
    if not isinstance(numel, int) or not 0 <= numel < 1 << 60 or not isinstance(key, (str, int)):
        return None
    dtype, itemsize = of_torch(kind.name if isinstance(kind, Global) else str(kind))
    return StorageId(str(key), dtype, itemsize, numel)
