"""Finds the checkpoints and captured batches of a folder by names, structure and first bytes.

A folder that holds one save is one checkpoint, however many files it has; a sharded or numbered
file that lies loose among others is one too. Nothing is loaded: a headers' worth of bytes is read
to tell weights from data and a finished save from one that was cut off.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from forensics.checkpoints import _folders, _signs
from forensics.checkpoints._folders import is_payload
from forensics.checkpoints._names import (
    Named,
    companion_position,
    is_companion,
    is_unfinished,
    may_hold_weights,
    position,
)
from forensics.found import FoundCheckpoint, Note
from forensics.natural_order import natural_key
from forensics.tree import FoundFile, Tree

_BATCH = re.compile(r"(?:^|.*/)batches/step_(\d+)\.(?:safetensors|pt)")
_SHARD = re.compile(r"(?P<base>.+?)[-_.](?P<number>\d{5})-of-(?P<count>\d{5})(?P<suffix>\..+)?")

_INDEX = (".index", ".index.json")
_TENSORFLOW_DATA = re.compile(r"\.data-\d+-of-\d+$")


@dataclass(frozen=True)
class Discovery:
    """What was found; no tensor has been read."""

    checkpoints: tuple[FoundCheckpoint, ...] = ()
    """By step, those without one last."""
    batches: tuple[str, ...] = ()
    """Captured batches, by step."""
    members: Mapping[str, str] = field(default_factory=dict)
    """File of weights or state -> path of the checkpoint that it belongs to."""
    notes: tuple[Note, ...] = ()


def discover(tree: Tree) -> Discovery:
    """Find every checkpoint and captured batch of a tree."""
    batches = sorted((f.path for f in tree.files if _BATCH.fullmatch(f.path)), key=natural_key)
    rest = [f for f in tree.files if not _BATCH.fullmatch(f.path)]
    found: list[FoundCheckpoint] = []
    claimed: dict[str, str] = {}
    for folder, files in _folders.checkpoint_folders(rest, tree.root):
        found.append(_folders.as_checkpoint(folder, files, tree.root))
        claimed |= {f.path: folder or "." for f in files}
    members = {f.path: claimed[f.path] for f in rest if f.path in claimed and is_payload(f)}
    for one, parts in _loose([f for f in rest if f.path not in claimed], tree):
        found.append(one)
        members |= {part.path: one.path for part in parts}
    found.sort(key=lambda c: (c.step is None, c.step or 0, natural_key(c.path)))
    return Discovery(tuple(found), tuple(batches), members, tuple(_dangling(rest, tree)))


def _loose(
    files: Sequence[FoundFile], tree: Tree
) -> Iterator[tuple[FoundCheckpoint, list[FoundFile]]]:
    """Checkpoints that are files: sharded, TensorFlow's, and single ones with their companions."""
    groups: dict[tuple[str, str], list[FoundFile]] = {}
    for file in files:
        groups.setdefault(_group(file), []).append(file)
    companions: dict[tuple[str, Named], list[FoundFile]] = {}
    for (folder, name), parts in groups.items():
        if is_companion(name):
            place = folder, companion_position(name)
            companions.setdefault(place, []).extend(filter(is_payload, parts))
    saves = [
        ((folder, position(name)), parts)
        for (folder, name), parts in groups.items()
        if _holds_weights(folder, name, parts, tree)
    ]
    rivals = Counter(place for place, _ in saves)
    for place, parts in saves:
        beside = companions.pop(place, [])
        found = _as_checkpoint(parts, tree)
        if rivals[place] == 1:  # else nothing says whose optimizer it is
            found = _with_companions(found, parts, beside)
        yield found, [*parts, *beside]


def _group(file: FoundFile) -> tuple[str, str]:
    """(folder, name that the parts of one save share)."""
    name = _TENSORFLOW_DATA.sub("", file.name)
    for suffix in _INDEX:
        name = name.removesuffix(suffix)
    shard = _SHARD.fullmatch(name)
    return file.folder, f"{shard['base']}{shard['suffix'] or ''}" if shard else name


def _holds_weights(folder: str, name: str, parts: Sequence[FoundFile], tree: Tree) -> bool:
    if any(_TENSORFLOW_DATA.search(part.name) for part in parts):
        return True  # raw bytes, without a magic number
    if is_companion(name) or not may_hold_weights(f"{folder}/{name}"):
        return False
    payload = [p for p in parts if not p.name.endswith(_INDEX)]
    return all(_signs.has_weights_magic(tree.root / p.path, p.size) for p in payload[:1])


def _as_checkpoint(parts: Sequence[FoundFile], tree: Tree) -> FoundCheckpoint:
    index = next((p for p in parts if p.name.endswith(_INDEX)), None)
    main = index or parts[0]
    named = position(_group(main)[1])
    return FoundCheckpoint(
        path=main.path,
        step=named.step,
        size=sum(p.size for p in parts),
        modified=max(p.modified for p in parts),
        complete=not is_unfinished(main.path) and _is_whole(parts, index, tree),
        epoch=named.epoch,
        number=named.number,
    )


def _with_companions(
    found: FoundCheckpoint, parts: Sequence[FoundFile], beside: Sequence[FoundFile]
) -> FoundCheckpoint:
    if not beside:
        return found  # a shard finds the others by itself
    paths = tuple(part.path for part in (*parts, *beside) if part.path != found.path)
    return replace(
        found,
        size=found.size + sum(one.size for one in beside),
        modified=max(found.modified, *(one.modified for one in beside)),
        beside=paths,
    )


def _is_whole(parts: Sequence[FoundFile], index: FoundFile | None, tree: Tree) -> bool:
    shards = [s for s in (_SHARD.search(p.name) for p in parts) if s]
    if shards and len(shards) < int(shards[0]["count"]):
        return False
    if index is None and any(_TENSORFLOW_DATA.search(p.name) for p in parts):
        return False
    if index is not None and index.name.endswith(".json"):
        names = {p.name for p in parts}
        return not _signs.missing_shards(tree.root / index.path, names)
    return not any(_signs.is_cut_short(tree.root / p.path, p.size) for p in parts if p != index)


def _dangling(files: Sequence[FoundFile], tree: Tree) -> Iterator[Note]:
    """Notes on pointer files that name a checkpoint which is not there: it died while saving."""
    present = {f.path for f in files}
    folders = {str(parent) for path in present for parent in PurePosixPath(path).parents}
    for file in files:
        if file.name not in ("latest", "latest_checkpointed_iteration.txt") or file.size > 200:
            continue
        try:
            target = (tree.root / file.path).read_text("utf-8", "replace").strip()
        except OSError:
            continue
        name = f"iter_{int(target):07d}" if target.isdecimal() else target
        path = f"{file.folder}/{name}" if file.folder else name
        if name and name != "release" and path not in folders and path not in present:
            yield Note(f"points to {name}, which is not there", file.path)
