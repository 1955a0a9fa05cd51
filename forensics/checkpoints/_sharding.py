"""One model in several files, with an index that says which tensor is where, or by number alone."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from forensics.checkpoints._base import DType, Role, StoredTensor
from forensics.checkpoints._contents import Model, Parts
from forensics.checkpoints._piece import Piece
from forensics.checkpoints._reading import head, read_small
from forensics.checkpoints._single import read_or_note
from forensics.errors import UnreadableFile
from forensics.found import Note

_MAX_INDEX = 32 << 20
_NUMBERED = r"(?P<base>.+?)[-_.]?(?P<number>\d{5})-of-(?P<count>\d{5})(?P<suffix>\..+)?"
MAX_SHARDS = 10_000


def is_index(path: Path) -> bool:
    """True for a JSON file that maps tensors to files."""
    start = head(path, 1 << 16)
    return start.lstrip()[:1] == b"{" and b'"weight_map"' in start


def read_index(path: Path) -> dict[str, str]:
    """Tensor -> file, relative to the index.

    Raises:
        UnreadableFile: It is cut off or is something else.
    """
    try:
        content = json.loads(read_small(path, _MAX_INDEX))
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(f"{path}: the index is cut off or damaged") from error
    listed = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(listed, dict):
        raise UnreadableFile(f"{path}: the index lists no tensors")
    return {str(name): str(file) for name, file in listed.items()}


def read_indexed(path: Path) -> Piece:
    """Read all shards of an index; tensors of a shard that is not there are listed as missing.

    Raises:
        UnreadableFile: The index cannot be read, or none of its shards.
    """
    listed = read_index(path)
    names = sorted(set(listed.values()))[:MAX_SHARDS]
    outside = [name for name in names if not _is_inside(name)]
    lost = [n for n in names if n not in outside and not (path.parent / n).is_file()]
    found = [n for n in names if n not in outside and n not in lost]
    if not found:
        raise UnreadableFile(f"{path}: none of the {len(names):,} shards it lists is there")
    piece = joined([read_or_note(path.parent / name) for name in found])
    notes = list(piece.notes)
    if outside:
        notes.append(_note(path, f"{outside[0][:80]} leads outside of the checkpoint; not read"))
    if lost:
        notes.append(_note(path, f"{len(lost):,} of its {len(names):,} shards are missing "
                                 f"({', '.join(lost[:3])})"))  # fmt: skip
    return replace(piece, parts=_with_missing(piece.parts, listed), notes=tuple(notes))


def series_of(path: Path, among: Iterable[Path]) -> list[Path]:
    """The shards that ``path`` is one of, by their numbers; [] where it bears none."""
    own = _numbers(path)
    if own is None:
        return []
    key = (own["base"], own["count"], own["suffix"])
    found = ((_numbers(one), one) for one in among)
    return [one for m, one in found if m and (m["base"], m["count"], m["suffix"]) == key]


def _numbers(path: Path) -> re.Match[str] | None:
    return re.fullmatch(_NUMBERED, path.name) if "-of-" in path.name else None


def read_series(paths: Sequence[Path]) -> Piece:
    """Read numbered shards that have no index."""
    piece = joined([read_or_note(path) for path in paths])
    numbered = _numbers(paths[0])
    count = int(numbered["count"]) if numbered else len(paths)
    if len(paths) >= count:
        return piece
    note = _note(paths[0], f"{count - len(paths):,} of its {count:,} shards are missing")
    return replace(piece, notes=(*piece.notes, note))


def joined(pieces: Sequence[Piece]) -> Piece:
    """Shards of one model as one piece."""
    tensors: dict[str, StoredTensor] = {}
    for piece in pieces:
        for model in piece.parts.models:
            tensors.update({k: v for k, v in model.tensors.items() if k not in tensors})
    ordered = all(model.ordered for piece in pieces for model in piece.parts.models)
    first = next((piece for piece in pieces if piece.parts.models), Piece("", Parts()))
    parts = replace(first.parts, models=(Model("", tensors, ordered),))
    return Piece(first.kind, parts, tuple(note for piece in pieces for note in piece.notes))


def _with_missing(parts: Parts, listed: Mapping[str, str]) -> Parts:
    (model,) = parts.models
    absent = {
        name: StoredTensor(
            name, Role.PARAM, DType.OTHER, (0,), missing=f"{file[:80]} is missing or damaged"
        )
        for name, file in listed.items()
        if name not in model.tensors
    }
    return replace(parts, models=(replace(model, tensors={**model.tensors, **absent}),))


def _is_inside(name: str) -> bool:
    parts = PurePosixPath(name)
    return bool(name) and not parts.is_absolute() and ".." not in parts.parts


def _note(path: Path, text: str) -> Note:
    return Note(text, str(path))
