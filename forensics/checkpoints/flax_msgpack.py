"""flax's own files: a msgpack document of nested maps, ``checkpoint_400`` or ``*.msgpack``."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forensics.checkpoints._base import StoredTensor
from forensics.checkpoints._contents import sort_out
from forensics.checkpoints._msgpack import Document, leaves
from forensics.checkpoints._piece import Piece, file_opener, notes_on
from forensics.checkpoints._reading import address, head, open_regular, size_of
from forensics.checkpoints._signs import is_flax
from forensics.errors import UnreadableFile

_HEAD = 1 << 16
_SLOTS = {"mu": "exp_avg", "nu": "exp_avg_sq", "trace": "momentum_buffer"}
"""What optax calls its moments, and torch."""
_WRAPPER = re.compile(r"^(?:params\.)+")


def sniff(path: Path) -> bool:
    """A msgpack map with an array of flax's in it."""
    return is_flax(head(path, _HEAD))


def read(path: Path) -> Piece:
    """Read the headers of all arrays.

    Raises:
        UnreadableFile: There is no array in it.
    """
    with open_regular(path) as file:
        document = Document(file, address(path), size_of(file))
        root = document.read()
    if not any(isinstance(held, StoredTensor) for _, held in leaves(root)):
        raise UnreadableFile(f"{path}: holds no array")
    remark = "is cut off or damaged; the arrays before that place are read"
    notes = notes_on(path, () if document.whole else (remark,))
    return Piece("flax msgpack", sort_out(_with_optimizers(root, 0)), notes)


def _with_optimizers(tree: Any, depth: int) -> Any:
    """The tree with optax's moments in the shape of an optimizer's state dict."""
    if not isinstance(tree, dict):
        return tree
    slots = {own: tree[name] for name, own in _SLOTS.items() if isinstance(tree.get(name), dict)}
    if slots and depth:
        return {"state": _by_parameter(slots, tree.get("count")), "param_groups": []}
    return {key: _with_optimizers(held, depth + 1) for key, held in tree.items()}


def _by_parameter(slots: Mapping[str, Any], count: Any) -> dict[str, dict[str, Any]]:
    state: dict[str, dict[str, Any]] = {}
    for slot, tree in slots.items():
        for path, held in leaves(tree):
            if isinstance(held, StoredTensor):
                state.setdefault(_WRAPPER.sub("", ".".join(path)), {})[slot] = held
    for held in state.values():
        if isinstance(count, StoredTensor):
            held["step"] = count
    return state


OPENER = file_opener("flax msgpack", 25, sniff, read)
