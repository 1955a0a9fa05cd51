"""Folders that are one checkpoint."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from forensics.checkpoints import _signs
from forensics.checkpoints._names import (
    WEIGHTS,
    is_step_folder,
    is_unfinished,
    position,
)
from forensics.found import FoundCheckpoint
from forensics.tree import FoundFile

_MARKS = re.compile(
    r".*\.distcp|_CHECKPOINT_METADATA|_METADATA|manifest\.ocdbt|.*_model_states\.pt|"
    r"model_optim_rng\.pt|saved_model\.pb"
)
"""Files that only a folder of one save holds."""
_MAIN = re.compile(
    r"(?:model|pytorch_model|adapter_model|diffusion_pytorch_model|tf_model|flax_model)"
    r"(?:[-.]\d{5}-of-\d{5})?\.(?:safetensors|bin|h5|msgpack)"
)
"""Names under which Hugging Face saves the weights of one model."""
_BESIDE_MAIN = re.compile(
    r"optimizer\.(?:pt|bin)|scheduler\.(?:pt|bin)|rng_state.*\.pth|random_states_\d+\.pkl|"
    r"training_args\.bin|config\.json|adapter_config\.json|.*\.index\.json|trainer_state\.json"
)
_STATE_JSON = ("trainer_state.json", "training_state.json", "train_state.json", "metadata.json")
_MAX_TAILS = 64
"""Of a folder of many shards, this many are looked at for a missing end."""


def is_payload(file: FoundFile) -> bool:
    """True for weights, optimizer state and the like, as against a log kept in the same folder."""
    name = file.name.lower()
    if name.startswith("training_args"):
        return False  # settings, read as such
    return name.endswith(WEIGHTS) or _MARKS.fullmatch(file.name) is not None


def checkpoint_folders(
    files: Sequence[FoundFile], root: Path
) -> Iterator[tuple[str, list[FoundFile]]]:
    """Outermost folders that are one checkpoint each, with their files; '' is the root."""
    below: dict[str, list[FoundFile]] = {}
    for file in files:
        for parent in PurePosixPath(file.path).parents:
            below.setdefault("" if str(parent) == "." else str(parent), []).append(file)
    taken: set[str] = set()
    for folder in sorted(below, key=lambda path: (path.count("/") if path else -1, path)):
        if any(str(parent) in taken for parent in PurePosixPath(folder).parents):
            continue
        direct = [f for f in below[folder] if f.folder == folder]
        if _is_one_save(folder or root.name, folder, below, direct):
            taken.add(folder)
            yield folder, below[folder] if folder else direct
        elif _is_saved_model(direct, root, is_root=not folder):
            yield folder, direct


def _is_one_save(
    name: str, folder: str, below: dict[str, list[FoundFile]], direct: Sequence[FoundFile]
) -> bool:
    if any(_MARKS.fullmatch(f.name) for f in direct):
        return True
    inside = direct if not folder else below[folder]
    own = PurePosixPath(name).name
    if "orbax-checkpoint-tmp" in own:
        return True
    numbered = is_step_folder(own) or (own.isdecimal() and any(map(is_payload, direct)))
    return numbered and any(map(is_payload, inside)) and not _holds_saves(folder, own, below)


def _holds_saves(folder: str, name: str, below: dict[str, list[FoundFile]]) -> bool:
    """True where the folder holds several saves, or those of an epoch: it is none itself."""
    inner = [PurePosixPath(p).name for p in below if p != folder and _is_under(p, folder)]
    own = position(name)
    other = {position(n) for n in inner if is_step_folder(n)} - {own}
    return len(other) > 1 or (bool(other) and own.step is None)


def _is_under(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")


def _is_saved_model(direct: Sequence[FoundFile], root: Path, *, is_root: bool) -> bool:
    """True where the weights lie beside their configuration or state, under the usual names.

    Of the root only where an optimizer lies there too: else the file of the weights says more.
    """
    main = next((f for f in direct if _MAIN.fullmatch(f.name)), None)
    beside = [f.name for f in direct if _BESIDE_MAIN.fullmatch(f.name)]
    if main is None or not _signs.has_weights_magic(root / main.path, main.size):
        return False
    return any(n.startswith("optimizer.") for n in beside) if is_root else bool(beside)


def as_checkpoint(folder: str, files: Sequence[FoundFile], root: Path) -> FoundCheckpoint:
    """Describe a checkpoint folder by its names and by the small files in it."""
    name = PurePosixPath(folder).name or root.name
    named = position(name)
    payload = [f for f in files if is_payload(f)] or list(files)
    return FoundCheckpoint(
        path=folder or ".",
        step=named.step if named.step is not None else _step_inside(files, root, folder),
        size=sum(f.size for f in (files if folder else payload)),
        modified=max(f.modified for f in payload),
        complete=not is_unfinished(folder) and _is_whole(folder, files, root),
        epoch=named.epoch,
    )


def _step_inside(files: Sequence[FoundFile], root: Path, folder: str) -> int | None:
    for file in files:
        if file.name in _STATE_JSON:
            step = _signs.step_inside(root / file.path)
            if step is not None:
                return step
    above = [position(part).step for part in reversed(PurePosixPath(folder).parts[:-1])]
    return next((step for step in above if step is not None), None)


def _is_whole(folder: str, files: Sequence[FoundFile], root: Path) -> bool:
    paths = {f.path for f in files}
    names = {f.name for f in files}
    shards = {f.folder for f in files if f.name.endswith(".distcp")}
    if any(f"{shard}/.metadata".removeprefix("/") not in paths for shard in shards):
        return False
    if "model_and_optim" in {PurePosixPath(f.folder).name for f in files}:
        return ".metadata.json" in names  # OLMo-core writes it last
    commits = [f for f in files if f.name == "_CHECKPOINT_METADATA"]
    if any(_signs.commit_is_missing(root / f.path) for f in commits):
        return False
    if not _ranks_are_complete(names):
        return False
    for index in (f for f in files if f.name.endswith(".index.json")):
        beside = {f.name for f in files if f.folder == index.folder}
        if _signs.missing_shards(root / index.path, beside):
            return False
    tails = [f for f in files if is_payload(f)][:_MAX_TAILS]
    return not any(_signs.is_cut_short(root / f.path, f.size) for f in tails)


_ZERO_RANK = re.compile(r"(?:bf16_)?zero_pp_rank_(\d+)_mp_rank_\d+_(model|optim)_states\.pt")


def _ranks_are_complete(names: set[str]) -> bool:
    """False where a ZeRO rank is missing between others: it died while saving."""
    kinds: dict[str, set[int]] = {}
    for name in names:
        found = _ZERO_RANK.fullmatch(name)
        if found:
            kinds.setdefault(found[2], set()).add(int(found[1]))
    counts = {max(ranks) + 1 for ranks in kinds.values()}
    whole = all(ranks == set(range(max(ranks) + 1)) for ranks in kinds.values())
    return whole and len(counts) <= 1
