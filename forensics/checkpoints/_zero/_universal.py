"""DeepSpeed's universal layout: a folder for each parameter, a file for each slot."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from forensics.checkpoints._base import StoredTensor
from forensics.checkpoints._contents import OptimizerState, ParamGroup, Parts, read_optimizer
from forensics.checkpoints._piece import Piece
from forensics.checkpoints._torch_file import read_root
from forensics.errors import UnreadableFile
from forensics.found import Note
from forensics.natural_order import natural_key

_SLOTS = {"fp32": "fp32_param", "exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq", "step": "step"}
_MAX_PARAMETERS = 100_000


def is_universal(path: Path) -> bool:
    """True for a folder with ``zero/<parameter>/fp32.pt`` in it."""
    folders = _parameters(path)
    return any((folder / "fp32.pt").is_file() for folder in folders[:64])


def read_universal(path: Path) -> Piece:
    """Read the state of every parameter under ``zero``."""
    slots: dict[int | str, dict[str, Any]] = {}
    notes: list[Note] = []
    for folder in _parameters(path):
        held = dict(_slots(folder, notes))
        if held:
            slots[folder.name] = held
    groups = tuple(_groups(path / "zero" / "optimizer_state.pt"))
    optimizer = OptimizerState("optimizer", groups, slots)
    return Piece("deepspeed universal", Parts(optimizers=(optimizer,)), tuple(notes))


def _parameters(path: Path) -> list[Path]:
    zero = path / "zero"
    if not zero.is_dir():
        return []
    folders = (one for one in zero.iterdir() if one.is_dir() and not one.is_symlink())
    return sorted(folders, key=lambda one: natural_key(one.name))[:_MAX_PARAMETERS]


def _slots(folder: Path, notes: list[Note]) -> Iterator[tuple[str, Any]]:
    for stem, slot in _SLOTS.items():
        path = folder / f"{stem}.pt"
        if not path.is_file():
            continue
        try:
            root, remarks = read_root(path)
        except UnreadableFile as error:
            notes.append(Note(str(error).removeprefix(f"{path}: "), str(path)))
            continue
        notes.extend(Note(remark, str(path)) for remark in remarks)
        value = root.get("param") if isinstance(root, dict) else root
        value = getattr(value, "tensor", value)
        if isinstance(value, StoredTensor):
            yield slot, replace(value, name=folder.name)
        elif slot == "step" and isinstance(value, (int, float)):
            yield slot, value


def _groups(path: Path) -> Iterator[ParamGroup]:
    try:
        root, _ = read_root(path)
    except UnreadableFile:
        return
    groups = root.get("param_groups") if isinstance(root, dict) else None
    if isinstance(groups, list):
        yield from read_optimizer({"state": {}, "param_groups": groups}, "", {}).groups
