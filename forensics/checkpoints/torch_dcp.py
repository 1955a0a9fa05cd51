"""torch's distributed checkpoints (FSDP, torchtitan, OLMo-core, Lightning's and Megatron's own).

A folder of ``__<rank>_<n>.distcp`` shards, and ``.metadata``, which is written last: where it is
missing, the save was not finished, and the tensors are found without their names.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensics.checkpoints import _dcp
from forensics.checkpoints._base import Opened, Opener, Role
from forensics.checkpoints._contents import Parts, opened, sort_out
from forensics.checkpoints._dcp import METADATA
from forensics.checkpoints._piece import Piece
from forensics.checkpoints._reading import head, read_small
from forensics.errors import UnreadableFile
from forensics.found import Note
from forensics.natural_order import natural_key

if TYPE_CHECKING:
    from forensics.checkpoints._dcp import Metadata

_PICKLE = b"\x80"
_MAX_METADATA = 256 << 20
_MAX_OBJECTS = 50_000
_MAX_SHARDS = 10_000


def sniff(path: Path) -> bool:
    """A folder with ``.metadata`` or shards."""
    if not path.is_dir():
        return False
    return head(path / METADATA, 1) == _PICKLE or bool(_shards(path))


def open_folder(path: Path) -> Opened:
    """Read the metadata and find every chunk.

    Raises:
        UnreadableFile: Neither metadata nor shards can be read.
    """
    from forensics.checkpoints._single import companions  # it knows all formats

    piece = read(path)
    beside = list(companions(path))
    notes = [note for one in (piece, *beside) for note in one.notes]
    return opened(path, piece.kind, [piece.parts, *(one.parts for one in beside)], notes)


def read(path: Path) -> Piece:
    """Read the folder's shards alone.

    Raises:
        UnreadableFile: Neither metadata nor shards can be read.
    """
    for name in (METADATA, f"{METADATA}.tmp"):
        try:
            metadata = _dcp.read_metadata(read_small(path / name, _MAX_METADATA))
        except UnreadableFile:
            continue
        finished = () if name == METADATA else (_note(path, "was not finished"),)
        return _with_names(path, metadata, finished)
    return _without_names(path)


def _with_names(path: Path, metadata: "Metadata", notes: tuple[Note, ...]) -> Piece:
    with _dcp.Shards.of(path) as shards:
        values: dict[str, Any] = {n: shards.tensor(n, t) for n, t in metadata.tensors.items()}
        broken = [name for name, tensor in values.items() if tensor.missing]
        for name, place in list(metadata.objects.items())[:_MAX_OBJECTS]:
            try:
                values[name] = shards.object(place)
            except UnreadableFile:
                broken.append(name)
        damage = {"are missing": sorted(shards.lost), "are cut off": sorted(shards.short)}
    remarks = [
        _note(path, f"{len(names):,} shards {what} ({names[0][:80]})")
        for what, names in damage.items()
        if names
    ]
    if broken:
        remarks.append(_note(path, f"{len(broken):,} entries cannot be read ({broken[0][:80]})"))
    return Piece(
        "torch distributed", sort_out(_dcp.nested(values, metadata.paths)), (*notes, *remarks)
    )


def _without_names(path: Path) -> Piece:
    tensors = _dcp.salvage_folder(_shards(path))
    if not tensors:
        raise UnreadableFile(f"{path}: has no {METADATA}, and no shard that can be read")
    state = "is damaged" if (path / METADATA).is_file() else "is missing: it was not finished"
    text = f"its {METADATA} {state}; its tensors are there without their names"
    others = tuple(replace(t, name=n, role=Role.OTHER) for n, t in tensors.items())
    return Piece("torch distributed", Parts(others=others), (_note(path, text),))


def _shards(path: Path) -> list[Path]:
    found = (one for one in path.iterdir() if one.name.endswith(".distcp") and one.is_file())
    return sorted(found, key=lambda one: natural_key(one.name))[:_MAX_SHARDS]


def _note(path: Path, text: str) -> Note:
    return Note(text, str(path))


OPENER = Opener("torch distributed", 10, sniff, open_folder)
