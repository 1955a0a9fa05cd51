"""Compares the copies that several ranks keep of what should be the same parameters."""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from forensics.checkpoint_facts import ReplicaFacts
from forensics.checkpoints import Opened, Role, StoredTensor
from forensics.scan._moments_values import as_bits, is_readable, side_by_side

_RANK = re.compile(r"(?<![a-z])rank[-_]?(\d+)", re.IGNORECASE)
_NORM = re.compile(r"norm|(?:^|[._/])ln(?:_?\w)?(?:[._/]|$)", re.IGNORECASE)
_SHARD = re.compile(r"flat_param|_shard(?![a-z])")
"""Names under which every rank keeps a part of its own."""
MOST_COPIES = 8

Copies = Mapping[str, Mapping[str, StoredTensor]]
"""Rank -> name -> parameter."""


def without_rank(path: str) -> str:
    """A path with the number of its rank left out: equal for the copies of one save."""
    return _RANK.sub("rank", path)


def rank_of(path: str) -> str:
    """The rank that a path names, or ''."""
    found = _RANK.search(path)
    return found[1] if found else ""


def inside(opened: Opened) -> Copies:
    """The copies within one checkpoint."""
    copies: dict[str, dict[str, StoredTensor]] = {}
    for tensor in opened.tensors:
        if tensor.rank is not None and tensor.role is Role.PARAM:
            copies.setdefault(str(tensor.rank), {})[tensor.name] = tensor
    return copies


def beside(checkpoints: Mapping[str, Opened]) -> Copies:
    """The copies that lie in checkpoints of their own, by the rank in the path."""
    return {
        rank_of(path): {t.name: t for t in opened.tensors if t.role is Role.PARAM}
        for path, opened in checkpoints.items()
    }


def compare(checkpoint: str, step: int | None, copies: Copies, most: int) -> ReplicaFacts | None:
    """Hold every copy against the first; None where there is nothing to compare.

    Raises:
        UnreadableFile: The values of a tensor cannot be read.
    """
    ranks = sorted(copies, key=lambda rank: (len(rank), rank))[:MOST_COPIES]
    shared = list(_shared([copies[rank] for rank in ranks])) if len(ranks) > 1 else []
    if not shared:
        return None
    shares = {tensors[0].name: _differing(tensors, most) for tensors in shared}
    differing = {name: share for name, share in shares.items() if share}
    norms = [name for name in shares if _NORM.search(name)]
    return ReplicaFacts(
        checkpoint=checkpoint,
        step=step,
        ranks=tuple(ranks),
        compared=len(shares),
        differing=differing,
        norms_compared=len(norms),
        norms_differing=sum(name in differing for name in norms),
    )


def _shared(copies: Sequence[Mapping[str, StoredTensor]]) -> Iterator[tuple[StoredTensor, ...]]:
    for name in copies[0]:
        tensors = tuple(copy[name] for copy in copies if name in copy)
        alike = len({(t.dtype, t.shape) for t in tensors}) == 1
        whole = len(tensors) == len(copies) and all(map(is_readable, tensors))
        if alike and whole and not _SHARD.search(name):
            yield tensors


def _differing(tensors: Sequence[StoredTensor], most: int) -> float:
    read = 0
    counts = np.zeros(len(tensors))
    for _, (first, *others) in side_by_side(tensors, most):
        bits = as_bits(first, tensors[0].dtype)
        read += len(bits)
        for place, other in enumerate(others, start=1):
            counts[place] += np.count_nonzero(bits != as_bits(other, tensors[0].dtype))
    return float(counts.max() / read) if read else 0.0
