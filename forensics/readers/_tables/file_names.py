"""What the name of a metric file says about its one quantity."""

import re
from pathlib import PurePosixPath

from forensics.signals import Signal, classify

_DOWNLOAD = re.compile(r"(?:.*?run-(?P<run>.+?)-)?tag-(?P<tag>.+)")
_LAST_WORD = re.compile(r"(?:[_-](?:logs?|curve|hist(?:ory)?|values|data|list)|(?<=loss)es)+$")


def quantity_of(source: str) -> str | None:
    """The tag that a file holds by its name alone, or None where the name does not say.

    Args:
        source: Path relative to the run directory, such as ``dvclive/plots/metrics/train/loss.tsv``
            (DVCLive), ``mlruns/0/<run>/metrics/loss`` (MLflow), ``run-a-tag-loss.csv``
            (downloaded from TensorBoard), ``losses.txt``.
    """
    path = PurePosixPath(source)
    stem = path.stem if path.suffix in (".csv", ".tsv", ".json", ".txt", ".log") else path.name
    if found := _DOWNLOAD.fullmatch(stem):
        return found["tag"]
    if below := _below_metrics(path):
        return "/".join((*below, stem))
    stem = bare_name(stem)
    return stem if classify(stem) is not Signal.OTHER else None


def bare_name(name: str) -> str:
    """``train_loss`` for ``train_losses``, ``train_loss_history`` and their like."""
    return _LAST_WORD.sub("", name)


def holds_one_metric(source: str) -> bool:
    """True where the place of a file in its folders says that it holds one metric."""
    path = PurePosixPath(source)
    return _below_metrics(path) is not None or _DOWNLOAD.fullmatch(path.stem) is not None


def _below_metrics(path: PurePosixPath) -> tuple[str, ...] | None:
    """The folders between a store's folder of metrics and the file."""
    folders = path.parts[:-1]
    for place in range(len(folders) - 1, -1, -1):
        if folders[place] in ("metrics", "scalars") and (
            folders[place - 1 : place] in (("plots",), ("dvclive",)) or _is_run_id(folders, place)
        ):
            return folders[place + 1 :]
    return None


def _is_run_id(folders: tuple[str, ...], place: int) -> bool:
    return place > 0 and re.fullmatch(r"[0-9a-f]{32}", folders[place - 1]) is not None
