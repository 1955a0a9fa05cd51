"""Which run a file belongs to, as far as its path tells: rules on the names of folders.

A run's *home* is the folder that remains when the folders which only divide one run into parts
are taken off the end of a path: ``exp1/lightning/checkpoints`` and ``exp1/logs`` both lead home to
``exp1``. Some parts are *bound* to their home whatever they hold (``checkpoint-500/``,
``rank_1/``, the attempts of torchelastic); others (``logs/``) may just as well hold several runs.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePosixPath

from forensics.checkpoints import is_step_folder

VALIDATION = frozenset({"val", "valid", "validation", "eval", "evaluation", "test", "dev"})
TRAINING = frozenset({"train", "training", "train_inner"})
_CONTAINERS = frozenset(
    {
        *("logs", "log", "logging", "tb", "tensorboard", "tensorboard_logs", "tensorboard_log"),
        *("tb_logs", "tf_logs", "tblogs", "events", "summaries", "summary", "metrics", "plots"),
        *("checkpoints", "checkpoint", "ckpts", "ckpt", "weights", "snapshots", "configs"),
        *("config", "conf", "hparams", "params", "lightning_logs", "runs", "wandb", "dvclive"),
        *("csv_logs", "csv", "stdout", "scalars", "history", "artifacts", "csv_monitor", "batches"),
    }
)
"""Folders that sort the files of a run, or hold several runs."""
_BOUND = frozenset({"vis_data", ".hydra"})
_RANK_FOLDER = re.compile(r"(?:local_?|global_?)?(?:rank|worker|proc|gpu)[-_]?(\d+)", re.IGNORECASE)
_RANK_NAME = re.compile(r"(?:^|[^a-z])(?:global_?|local_?)?rank[-_.]?(\d+)", re.IGNORECASE)
_ATTEMPT = re.compile(r"attempt[-_]?\d+")
_TIMESTAMP = re.compile(r"\d{8}[-_]\d{6}")
_TRAINER_START = re.compile(r"[A-Z][a-z]{2}\d{2}_\d{2}-\d{2}-\d{2}_.+")
_WANDB_RUN = re.compile(r"(?:offline-)?run-\d{8}_\d{6}-\w+")
_FLOAT_TIME = re.compile(r"\d{9,10}\.\d+")


@dataclass(frozen=True)
class Place:
    """Where a file lies, seen from its run."""

    home: str
    """Folder of the run, '' for the root."""
    bound: bool = False
    """True where the file certainly belongs to the run whose home this is."""
    rank: int | None = None
    """Process that wrote it, where each wrote its own."""
    split: str = ""
    """'val' or 'train' where a folder or the file's name says it."""
    part: str = ""
    """Name of the folder that says it: ``train`` and ``train_inner`` log different things."""
    closing: bool = False
    """True in the folders of ``add_hparams``, which hold final values instead of curves."""


def place_of(path: str, trainer_homes: Collection[str] = (), *, splits: bool = True) -> Place:
    """Take the parts off the end of a path.

    Args:
        path: A file, relative to the root.
        trainer_homes: Folders known to be the output of a Hugging Face Trainer, in which each
            folder ``runs/<date>_<host>`` is an attempt.
        splits: Whether folders and files named after validation divide a run; False takes them
            for runs that happen to be called so.
    """
    parts = list(PurePosixPath(path).parts[:-1])
    name = PurePosixPath(path).name
    bound = closing = False
    rank = _rank_in(name)
    split, part = split_of_name(name) if splits else "", ""
    below = name
    while parts:
        last = parts[-1]
        rank_here = _RANK_FOLDER.fullmatch(last)
        if splits and last.lower() in VALIDATION | TRAINING:
            split = split or ("val" if last.lower() in VALIDATION else "train")
            part = part or last
            bound = bound or "tfevents" in name
        elif rank_here or (last.isdecimal() and _ATTEMPT.fullmatch(parts[-2] if parts[1:] else "")):
            rank = int(rank_here[1] if rank_here else last) if rank is None else rank
            bound = True
        elif _FLOAT_TIME.fullmatch(last):
            bound = closing = True
        elif _is_bound(parts, below, trainer_homes):
            bound = True
        elif last.lower() not in _CONTAINERS:
            break
        below = last
        parts.pop()
    return Place("/".join(parts), bound, rank, split, part, closing)


def _is_bound(parts: list[str], below: str, trainer_homes: Collection[str]) -> bool:
    """True where the last folder is a part or an attempt of the run above it.

    ``below`` is what lies in it: a dated folder is an attempt only where mmengine made it.
    """
    last = parts[-1]
    if is_step_folder(last) or _ATTEMPT.fullmatch(last) or last in _BOUND:
        return True
    if last == "files":
        return len(parts) > 1 and _WANDB_RUN.fullmatch(parts[-2]) is not None
    if _TIMESTAMP.fullmatch(last):
        return below == "vis_data" or below.startswith(last)
    if _TRAINER_START.fullmatch(last) and len(parts) > 1 and parts[-2] == "runs":
        return "/".join(parts[:-2]) in trainer_homes
    return False


def _rank_in(name: str) -> int | None:
    found = _RANK_NAME.search(name)
    return int(found[1]) if found else None


_SUFFIX = re.compile(r"\.(?:[a-z]*log|jsonl?|[ct]sv|txt|out|err|gz|ya?ml|rank\d+)$")


def bare_name(path: str) -> str:
    """The name of a log without what says its format: the ``0.1`` of ``lr0.1.jsonl`` stays."""
    name = PurePosixPath(path).name
    while (shorter := _SUFFIX.sub("", name)) not in ("", name):
        name = shorter
    return name


def without_rank(stem: str) -> str:
    """A file name without the number of the process that wrote it."""
    return _RANK_NAME.sub("", stem)


def words(text: str) -> frozenset[str]:
    """The words of a name, in lower case, numbers apart."""
    return frozenset(re.findall(r"[a-z]+|\d+", text.lower()))


def split_of_name(name: str) -> str:
    """'val' or 'train' where the words of a file name say one of them and not the other."""
    said = words(PurePosixPath(name).stem)
    validation, training = bool(said & VALIDATION), bool(said & TRAINING)
    return "" if validation == training else "val" if validation else "train"


_RESUMED = frozenset(
    {"resume", "resumed", "restart", "restarted", "cont", "continued", "part", "retry"}
)


def series_name(folder: str) -> str:
    """A folder's path without numbers and words of resuming: equal for restarts of one run."""
    above, _, last = folder.rpartition("/")
    if _WANDB_RUN.fullmatch(last):
        return f"{above}/run"
    if _TRAINER_START.fullmatch(last):
        last = last[len("Jan01_00-00-00_") :]
    kept = [w for w in re.findall(r"[a-z]+", last.lower()) if w not in _RESUMED]
    return f"{above}/{'-'.join(kept)}"


def is_above(folder: str, path: str) -> bool:
    """True where ``folder`` is ``path`` or holds it."""
    return not folder or path == folder or path.startswith(f"{folder}/")
