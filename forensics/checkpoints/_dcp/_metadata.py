"""``.metadata``: a pickle of which tensors there are, their chunks, and where each chunk lies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forensics.checkpoints._base import DType
from forensics.checkpoints._dtypes import of_torch
from forensics.checkpoints._reading import in_memory
from forensics.checkpoints._torch import TENSOR_CONSTRUCTORS
from forensics.checkpoints._views import is_possible
from forensics.errors import UnreadableFile
from forensics.inert_pickle import Global, Inert, load

Offsets = tuple[int, ...]


@dataclass(frozen=True)
class Place:
    """Bytes of one chunk, or of one pickled object."""

    file: str
    """Relative to the folder, as written."""
    offset: int
    nbytes: int
    transformed: bool = False
    """True where an extension compressed or encrypted them."""


@dataclass(frozen=True)
class Chunk:
    """A box of a tensor that one rank wrote."""

    offsets: Offsets
    shape: tuple[int, ...]
    place: Place | None


@dataclass(frozen=True)
class Sharded:
    """One tensor."""

    dtype: DType
    itemsize: int
    shape: tuple[int, ...]
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True)
class Metadata:
    """What the folder holds; every key is the tensor's or object's full name."""

    tensors: Mapping[str, Sharded]
    objects: Mapping[str, Place]
    paths: Mapping[str, tuple[str | int, ...]]
    """Where each was in the state dict that was saved, where the planner noted it."""


def read_metadata(data: bytes) -> Metadata:
    """Read the bytes of a ``.metadata`` file.

    Raises:
        UnreadableFile: They are cut short, or are something else.
    """
    state = _state(load(in_memory(data), constructors=TENSOR_CONSTRUCTORS))
    listed = state.get("state_dict_metadata")
    if not isinstance(listed, dict):
        raise UnreadableFile("lists no tensors")
    places = _places(state.get("storage_data"))
    tensors: dict[str, Sharded] = {}
    objects: dict[str, Place] = {}
    for name, described in listed.items():
        if "chunks" in _state(described):
            tensors[str(name)] = _sharded(str(name), _state(described), places)
        elif (str(name), None) in places:
            objects[str(name)] = places[str(name), None]
    return Metadata(tensors, objects, _paths(state.get("planner_data")))


def _state(value: Any) -> Mapping[Any, Any]:
    state = value.state if isinstance(value, Inert) else value
    return state if isinstance(state, dict) else {}


def _places(stored: Any) -> dict[tuple[str, Offsets | None], Place]:
    """(name, offsets of the chunk or None) -> place."""
    places: dict[tuple[str, Offsets | None], Place] = {}
    for index, info in stored.items() if isinstance(stored, dict) else ():
        key, where = _state(index), _state(info)
        offset, nbytes = where.get("offset"), where.get("length")
        if isinstance(offset, int) and isinstance(nbytes, int) and offset >= 0 and nbytes >= 0:
            file = str(where.get("relative_path", ""))
            place = Place(file, offset, nbytes, bool(where.get("transform_descriptors")))
            places[str(key.get("fqn")), _lengths(key.get("offset"))] = place
    return places


def _lengths(value: Any) -> tuple[int, ...] | None:
    return value if isinstance(value, tuple) and is_possible(value) else None


def _sharded(
    name: str, described: Mapping[Any, Any], places: Mapping[tuple[str, Offsets | None], Place]
) -> Sharded:
    dtype, itemsize = _element_type(described.get("properties"))
    chunks = []
    listed = described.get("chunks")
    for chunk in listed if isinstance(listed, list) else []:
        offsets = _lengths(_state(chunk).get("offsets"))
        shape = _lengths(_state(chunk).get("sizes"))
        if offsets is not None and shape is not None:
            chunks.append(Chunk(offsets, shape, places.get((name, offsets))))
    chunks.sort(key=lambda chunk: chunk.offsets)
    return Sharded(dtype, itemsize, _lengths(described.get("size")) or (), tuple(chunks))


def _element_type(properties: Any) -> tuple[DType, int]:
    state = properties.state if isinstance(properties, Inert) else None
    first = state[0] if isinstance(state, tuple) and state else _state(properties).get("dtype")
    return of_torch(first.name if isinstance(first, Global) else "")


def _paths(planner: Any) -> dict[str, tuple[str | int, ...]]:
    return {
        str(name): tuple(part for part in path if isinstance(part, (str, int)))
        for name, path in (planner.items() if isinstance(planner, dict) else ())
        if isinstance(path, tuple)
    }
