"""Puts the ranks of model parallelism together under the names of the whole model.

Every pipeline stage counts its layers from 0; with interleaved stages (``model0``, ``model1`` …)
every chunk does, and chunk 0 of all stages comes before chunk 1 of the first.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from forensics.checkpoints._base import Role, StoredTensor
from forensics.checkpoints._tensor_parallel import join_ranks

_LAYER = re.compile(r"((?:^|\.)layers\.)(\d{1,6})(?=\.)")
_CHUNK = re.compile(r"model(\d{1,3})\.")


@dataclass(frozen=True)
class RankTensors:
    """Named tensors of one rank."""

    tensor: int
    pipeline: int
    expert: int
    tensors: tuple[StoredTensor, ...]


def join_model_ranks(ranks: Sequence[RankTensors]) -> Iterator[StoredTensor]:
    """The tensors of the whole model, stage by stage."""
    first = _first_layers(ranks)
    stages = sorted({(rank.pipeline, rank.expert) for rank in ranks})
    for stage in stages:
        own = [rank for rank in ranks if (rank.pipeline, rank.expert) == stage]
        named = [_by_role(_renamed(rank, first)) for rank in own]
        for role in dict.fromkeys(role for held in named for role in held):
            for name, tensor in join_ranks([held.get(role, {}) for held in named]):
                yield replace(tensor, name=name)


def _by_role(tensors: Iterable[StoredTensor]) -> dict[Role, dict[str, StoredTensor]]:
    held: dict[Role, dict[str, StoredTensor]] = {}
    for tensor in tensors:
        held.setdefault(tensor.role, {})[tensor.name] = tensor
    return held


def _renamed(rank: RankTensors, first: Mapping[tuple[int, int], int]) -> Iterator[StoredTensor]:
    for tensor in rank.tensors:
        chunk, name = _chunk_and_name(tensor.name)
        if rank.expert and "expert" not in name:
            continue  # a copy of what the first expert rank wrote
        name = _moved(name, first.get((chunk, rank.pipeline), 0))
        yield replace(tensor, name=f"expert_rank_{rank.expert}.{name}" if rank.expert else name)


def _moved(name: str, layers: int) -> str:
    """The name with its layer's number raised."""
    return _LAYER.sub(lambda found: f"{found[1]}{int(found[2]) + layers}", name, count=1)


def _chunk_and_name(name: str) -> tuple[int, str]:
    found = _CHUNK.match(name)
    return (int(found[1]), name[found.end() :]) if found else (0, name)


def _first_layers(ranks: Sequence[RankTensors]) -> dict[tuple[int, int], int]:
    """(chunk, pipeline rank) -> number of its first layer in the whole model."""
    counts: dict[tuple[int, int], int] = {}
    for rank in ranks:
        for tensor in rank.tensors:
            chunk, name = _chunk_and_name(tensor.name)
            layer = _LAYER.search(name)
            key = chunk, rank.pipeline
            counts[key] = max(counts.get(key, 0), int(layer[2]) + 1 if layer else 0)
    first: dict[tuple[int, int], int] = {}
    total = 0
    for key in sorted(counts):
        first[key] = total
        total += counts[key]
    return first
