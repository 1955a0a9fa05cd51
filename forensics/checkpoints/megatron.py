"""Megatron-LM's own checkpoints (``mp_rank_*/model_optim_rng.pt``), joined over their ranks."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from forensics.checkpoints import _megatron
from forensics.checkpoints._base import Opened, Opener, Role, StoredTensor, TrainingState
from forensics.checkpoints._contents import assemble, role_in_optimizer, sort_out
from forensics.checkpoints._reading import read_small
from forensics.checkpoints._torch_file import read_root
from forensics.errors import UnreadableFile
from forensics.found import Note
from forensics.natural_order import natural_key

_LATEST = "latest_checkpointed_iteration.txt"


def sniff(path: Path) -> bool:
    """A folder of one save, or the one above it in which a file names the last."""
    return path.is_dir() and bool(
        _megatron.rank_files(path) or ((path / _LATEST).is_file() and _saves(path))
    )


def open_folder(path: Path) -> Opened:
    """Open the files of all ranks.

    Raises:
        UnreadableFile: None of them could be read.
    """
    folder, notes = (path, []) if _megatron.rank_files(path) else _chosen(path)
    ranks: list[_megatron.RankTensors] = []
    state = TrainingState()
    for files in _megatron.rank_files(folder):
        tensors, own = _read(files, notes)
        ranks.append(_megatron.RankTensors(files.tensor, files.pipeline, files.expert, tensors))
        state = state if state.global_step is not None or state.param_groups else own
    joined = tuple(_megatron.join_model_ranks(ranks))
    if not joined:
        raise UnreadableFile(str(notes[0]) if notes else f"{path}: holds no weights")
    notes += _lacking(folder)
    return Opened(str(path), "megatron", joined, state, tuple(notes))


def _read(
    files: "_megatron.RankFiles", notes: list[Note]
) -> tuple[tuple[StoredTensor, ...], TrainingState]:
    tensors: list[StoredTensor] = []
    state = TrainingState()
    for path in filter(None, (files.model, files.optimizer)):
        try:
            root, remarks = read_root(path)
        except UnreadableFile as error:
            notes.append(Note(str(error).removeprefix(f"{path}: "), str(path)))
            continue
        if path == files.optimizer and not _has_optimizer(root):
            tensors.extend(_flat_state(root))
            continue
        whole = assemble([sort_out(root)])
        tensors.extend(whole.tensors)
        state = state if state.global_step is not None else whole.state
        notes.extend(Note(text, str(path)) for text in (*remarks, *whole.remarks))
    return tuple(tensors), state


def _has_optimizer(root: object) -> bool:
    return bool(sort_out(root).optimizers)


def _flat_state(root: object) -> Iterator[StoredTensor]:
    """The distributed optimizer's vectors, one for each buffer; the slot is the last name."""
    parts = sort_out(root)
    held = [
        replace(t, name=".".join(filter(None, (model.label, name))))
        for model in parts.models
        for name, t in model.tensors.items()
    ]
    for tensor in (*held, *parts.others):
        slot = tensor.name.rpartition(".")[2]
        role = Role.MASTER if slot == "param" else role_in_optimizer(slot, ())
        yield replace(tensor, name=f"distributed_optimizer.{tensor.name}", role=role)


def _lacking(folder: Path) -> list[Note]:
    ranks = _megatron.rank_files(folder)
    empty = [rank for rank in ranks if rank.model is None]
    tensor = max(rank.tensor for rank in ranks) + 1
    pipeline = max(rank.pipeline for rank in ranks) + 1
    there = {(rank.tensor, rank.pipeline) for rank in ranks}
    absent = tensor * pipeline - len(there) + len(empty)
    return [Note(f"lacks the files of {absent} ranks", str(folder))] if absent else []


def _saves(path: Path) -> list[Path]:
    folders = (one for one in path.iterdir() if one.is_dir() and not one.is_symlink())
    return sorted(filter(_megatron.rank_files, folders), key=lambda one: natural_key(one.name))


def _chosen(path: Path) -> tuple[Path, list[Note]]:
    saves = _saves(path)
    try:
        text = read_small(path / _LATEST, 1000).decode("utf-8", "replace").strip()
    except UnreadableFile:
        text = ""
    name = f"iter_{int(text):07d}" if text.isdecimal() and len(text) < 16 else text
    if path / name in saves:
        return path / name, []
    said = f"points to {name[:80]}, which is not there; {saves[-1].name} is read instead"
    return saves[-1], [Note(said, str(path / _LATEST))]


OPENER = Opener("megatron", 9, sniff, open_folder)
