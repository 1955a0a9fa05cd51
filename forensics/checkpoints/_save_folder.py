"""A folder that is one save: weights, optimizer, scheduler and scaler in files of their own."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from forensics.checkpoints import torch_dcp
from forensics.checkpoints._base import Opened, StoredTensor, TrainingState
from forensics.checkpoints._contents import Parts, assemble
from forensics.checkpoints._names import is_step_folder, stem
from forensics.checkpoints._piece import Piece
from forensics.checkpoints._reading import read_small
from forensics.checkpoints._sharding import is_index, read_indexed, read_series, series_of
from forensics.checkpoints._signs import step_inside
from forensics.checkpoints._single import files_of, is_part_of_a_save, read_or_note
from forensics.errors import UnreadableFile
from forensics.found import Note
from forensics.natural_order import natural_key

_MAX_DEPTH = 3
_MAX_FOLDERS = 2000
_RANK = re.compile(r"(?:^|[-_.])rank[-_]?(\d{1,6})(?![\d])", re.IGNORECASE)
_MAIN = re.compile(
    r"(?:model|pytorch_model|adapter_model|diffusion_pytorch_model|consolidated|weights|"
    r"checkpoint|ckpt|state|mp_rank_\d+_model_states)(?:[-_.].*)?"
)
"""Names of the file that holds the trained model, where others lie beside it."""
STATE_FILES = ("trainer_state.json", "training_state.json", "train_state.json", "metadata.json")
_MAX_JSON = 64 << 20


@dataclass(frozen=True, eq=False)
class Member:
    """One file, or one set of shards, of the folder."""

    label: str
    """Name of the file or of the folder it lies in."""
    rank: int | None
    piece: Piece
    is_main: bool = False


def read_folder(path: Path, label: str = "", depth: int = 0) -> Iterator[Member]:
    """Everything in the folder that belongs to a save; links to folders are not followed."""
    yield from read_files(files_of(path), label)
    if depth == _MAX_DEPTH:
        return
    folders = (one for one in path.iterdir() if one.is_dir() and not one.is_symlink())
    for folder in sorted(folders, key=lambda one: natural_key(one.name))[:_MAX_FOLDERS]:
        if is_step_folder(folder.name):
            continue  # a save by itself
        if torch_dcp.sniff(folder):
            yield Member(folder.name, rank_of(folder.name), _read_shards(folder))
        else:
            yield from read_folder(folder, folder.name, depth + 1)


def read_files(files: Sequence[Path], label: str = "") -> Iterator[Member]:
    """The files of a save; shards of one model are one member."""
    taken: set[Path] = set()
    for index in (one for one in files if one.name.endswith(".json") and is_index(one)):
        taken |= {one for one in files if one.name.startswith(index.name.partition(".")[0] + "-")}
        yield _member(index, label, _or_note(index))
    for one in files:
        series = [f for f in series_of(one, files) if f not in taken]
        if one in taken or not is_part_of_a_save(one):
            continue
        taken.update(series)
        yield _member(one, label, read_series(series) if series else read_or_note(one))


def _member(path: Path, label: str, piece: Piece) -> Member:
    rank = rank_of(path.name)
    rank = rank_of(label) if rank is None else rank
    bare = stem(path.name)
    if label and rank_of(label) is None:  # one of several parts, each in its own folder
        return Member(label, rank, piece)
    return Member(bare, rank, piece, _MAIN.fullmatch(bare) is not None)


def _or_note(index: Path) -> Piece:
    try:
        return read_indexed(index)
    except UnreadableFile as error:
        return Piece("", Parts(), (Note(str(error).removeprefix(f"{index}: "), str(index)),))


def _read_shards(folder: Path) -> Piece:
    try:
        return torch_dcp.read(folder)
    except UnreadableFile as error:
        return Piece("", Parts(), (Note(str(error).removeprefix(f"{folder}: "), str(folder)),))


def rank_of(name: str) -> int | None:
    """The rank that a file or folder is named after."""
    found = _RANK.search(name)
    return int(found[1]) if found else None


def opened_files(path: Path, beside: Sequence[Path]) -> Opened:
    """A checkpoint that is a file, with others that belong to the same save.

    Raises:
        UnreadableFile: The checkpoint itself could not be read.
    """
    first, *others = read_files([path, *beside])
    if not first.piece.kind:  # an optimizer without its weights is no checkpoint
        raise UnreadableFile("; ".join(str(note) for note in first.piece.notes[:1]))
    return opened_folder(path, first.piece.kind, [replace(first, is_main=True), *others])


def opened_folder(path: Path, kind: str, members: Sequence[Member]) -> Opened:
    """The checkpoint, put together from its members; copies of several ranks stay apart.

    Raises:
        UnreadableFile: Nothing in it could be read.
    """
    notes = [note for member in members for note in member.piece.notes]
    if not any(member.piece.kind for member in members):
        raise UnreadableFile(str(notes[0]) if notes else f"{path}: holds no weights")
    ranks = sorted({member.rank for member in members if member.rank is not None})
    state = state_beside(path)
    tensors: list[StoredTensor] = []
    for rank in (None, *ranks):
        own = [member for member in members if member.rank == rank]
        whole = assemble([Parts(state=state), *_relabelled(own)])
        state = whole.state
        tensors.extend(replace(t, rank=rank) if rank is not None else t for t in whole.tensors)
        notes.extend(Note(remark, str(path)) for remark in whole.remarks)
    return Opened(str(path), kind, tuple(tensors), state, tuple(notes))


def _relabelled(members: Sequence[Member]) -> Iterator[Parts]:
    """Parts whose models are told apart by the name of their file, where there are several."""
    holders = [m for m in members if any(not model.label for model in m.piece.parts.models)]
    main = next((m for m in holders if m.is_main), holders[0] if len(holders) == 1 else None)
    for member in sorted(members, key=lambda m: m is not main):
        parts = member.piece.parts
        if member in holders and member is not main:
            models = (
                replace(model, label=".".join(filter(None, (member.label, model.label))))
                for model in parts.models
            )
            parts = replace(parts, models=tuple(models))
        yield parts


def state_beside(path: Path) -> TrainingState:
    """Step and epoch, from the small JSON files that trainers keep beside the weights."""
    for name in STATE_FILES:
        file = path / name
        if not file.is_file():
            continue
        try:
            content = json.loads(read_small(file, _MAX_JSON))
        except (UnreadableFile, ValueError, RecursionError):
            content = None
        if isinstance(content, dict) and isinstance(content.get("global_step"), int):
            epoch = content.get("epoch")
            number = float(epoch) if isinstance(epoch, (int, float)) else None
            return TrainingState(global_step=content["global_step"], epoch=number)
        step = step_inside(file)
        if step is not None:
            return TrainingState(global_step=step)
    return TrainingState()
