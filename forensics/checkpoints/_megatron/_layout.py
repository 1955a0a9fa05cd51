"""The files of each rank: ``mp_rank_<tensor>[_<pipeline>[_<expert>]]/model_optim_rng.pt``."""

import re
from dataclasses import dataclass
from pathlib import Path

_RANK = re.compile(r"mp_rank_(\d{2,})(?:_(\d{3}))?(?:_(\d{3}))?")
_MODEL = ("model_optim_rng.pt", "model_rng.pt")
_OPTIMIZER = ("distrib_optim.pt", "optim.pt")


@dataclass(frozen=True)
class RankFiles:
    """What one rank of model parallelism wrote."""

    tensor: int
    pipeline: int
    expert: int
    model: Path | None
    optimizer: Path | None


def rank_files(folder: Path) -> list[RankFiles]:
    """The ranks of one save, in order; [] where the folder is none."""
    found = []
    for one in folder.iterdir():
        numbers = _RANK.fullmatch(one.name)
        if numbers is None or not one.is_dir() or one.is_symlink():
            continue
        model = next((one / name for name in _MODEL if (one / name).is_file()), None)
        optimizer = next((one / name for name in _OPTIMIZER if (one / name).is_file()), None)
        tensor, pipeline, expert = (int(number or 0) for number in numbers.groups())
        found.append(RankFiles(tensor, pipeline, expert, model, optimizer))
    return sorted(found, key=lambda rank: (rank.tensor, rank.pipeline, rank.expert))
