"""DeepSpeed: ZeRO stages 1 to 3, pipelines, experts, and the universal layout.

The folder given may be that of one save (``global_step100``) or the one above it, in which
``latest`` names the save. Hugging Face's Trainer puts the latter into its own checkpoints.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from forensics.checkpoints import _zero
from forensics.checkpoints._base import Opened, Opener
from forensics.checkpoints._contents import Parts, opened
from forensics.checkpoints._piece import Piece
from forensics.checkpoints._reading import read_small
from forensics.errors import UnreadableFile
from forensics.found import Note
from forensics.natural_order import natural_key

_MAX_TAG = 1000


def sniff(path: Path) -> bool:
    """A folder of one save, or one that holds such."""
    return path.is_dir() and (_is_save(path) or bool(_saves_in(path)))


def open_folder(path: Path) -> Opened:
    """Open the save, and what else lies beside it.

    Raises:
        UnreadableFile: None of its files could be read.
    """
    from forensics.checkpoints._save_folder import state_beside
    from forensics.checkpoints._single import files_of, is_part_of_a_save, read_or_note

    folder, notes = (path, []) if _is_save(path) else _chosen(path)
    pieces = list(_pieces(folder))
    if folder != path:
        pieces += [read_or_note(one) for one in files_of(path) if is_part_of_a_save(one)]
    notes += [note for piece in pieces for note in piece.notes]
    kinds = [piece.kind for piece in pieces if piece.kind]
    if not kinds:
        raise UnreadableFile(str(notes[0]) if notes else f"{path}: holds no weights")
    kind = next((k for k in kinds if k.startswith("deepspeed zero")), kinds[0])
    parts = [Parts(state=state_beside(path)), *(piece.parts for piece in pieces)]
    return opened(path, kind, parts, notes)


def _pieces(folder: Path) -> Iterator[Piece]:
    yield from _zero.read_tag(_zero.layout_of(folder))
    if _zero.is_universal(folder):
        yield _zero.read_universal(folder)


def _is_save(path: Path) -> bool:
    return _zero.is_tag_folder(path) or _zero.is_universal(path)


def _saves_in(path: Path) -> list[Path]:
    folders = (one for one in path.iterdir() if one.is_dir() and not one.is_symlink())
    return sorted(filter(_is_save, folders), key=lambda one: natural_key(one.name))


def _chosen(path: Path) -> tuple[Path, list[Note]]:
    """The save that ``latest`` names; where that is not there, the last that is."""
    saves = _saves_in(path)
    latest = path / "latest"
    try:
        tag = read_small(latest, _MAX_TAG).decode("utf-8", "replace").strip()
    except UnreadableFile:
        return saves[-1], []
    safe = tag and ".." not in PurePosixPath(tag).parts and not PurePosixPath(tag).is_absolute()
    if safe and path / tag in saves:
        return path / tag, []
    text = f"points to {tag[:80]}, which is not there; {saves[-1].name} is read instead"
    return saves[-1], [Note(text, str(latest))]


OPENER = Opener("deepspeed", 8, sniff, open_folder)
