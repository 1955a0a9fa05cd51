"""Which files a DeepSpeed checkpoint has, by rank of data and of model parallelism."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_OPTIMIZER = re.compile(
    r"(?:bf16_|fp16_)?zero_pp_rank_(?P<dp>\d+)_mp_rank_(?P<mp>\d+)_?optim_states\.pt"
)
_MODEL = re.compile(r"(?:zero_pp_rank_(?P<dp>\d+)_)?mp_rank_(?P<mp>\d+)_model_states\.pt")
_LAYER = re.compile(r"layer_(?P<layer>\d+)-model_(?P<mp>\d+)-model_states\.pt")
_EXPERT = re.compile(
    r"(?:layer_(?P<layer>\d+)_)?expert_(?P<expert>\d+)_mp_rank_(?P<mp>\d+)_model_states\.pt"
)
_EXPERT_OPTIMIZER = re.compile(r"expp_rank_(?P<dp>\d+)_mp_rank_(?P<mp>\d+)_optim_states\.pt")
_ALL = (_OPTIMIZER, _MODEL, _LAYER, _EXPERT, _EXPERT_OPTIMIZER)
Ranks = dict[int, dict[int, Path]]
"""Model-parallel rank -> data-parallel rank -> file."""


@dataclass(frozen=True)
class Layout:
    """The files of one tag folder."""

    folder: Path
    models: Ranks = field(default_factory=dict)
    optimizers: Ranks = field(default_factory=dict)
    layers: Mapping[tuple[int, int], Path] = field(default_factory=dict)
    """(model-parallel rank, layer) -> file of a pipeline's layer."""
    experts: tuple[Path, ...] = ()
    """Files of experts, weights and optimizers alike."""


def is_tag_folder(path: Path) -> bool:
    """True for a folder that DeepSpeed wrote for one save."""
    return path.is_dir() and any(_matches(one.name) for one in path.iterdir())


def _matches(name: str) -> bool:
    return any(pattern.fullmatch(name) for pattern in _ALL)


def layout_of(folder: Path) -> Layout:
    """Sort the files of a tag folder."""
    models: Ranks = {}
    optimizers: Ranks = {}
    layers: dict[tuple[int, int], Path] = {}
    experts: list[Path] = []
    for path in sorted(folder.iterdir()):
        if found := _OPTIMIZER.fullmatch(path.name):
            optimizers.setdefault(int(found["mp"]), {})[int(found["dp"])] = path
        elif found := _MODEL.fullmatch(path.name):
            models.setdefault(int(found["mp"]), {})[int(found["dp"] or 0)] = path
        elif found := _LAYER.fullmatch(path.name):
            layers[int(found["mp"]), int(found["layer"])] = path
        elif _EXPERT.fullmatch(path.name) or _EXPERT_OPTIMIZER.fullmatch(path.name):
            experts.append(path)
    return Layout(folder, models, optimizers, layers, tuple(experts))
