"""Joins what the ranks of tensor parallelism wrote: shards of one tensor, or copies of it.

Which of the two a tensor is, is not written anywhere; the layers of Megatron split their matrices
and the biases of the first of each two, and copy all else. Of a matrix that is split by columns
the elements come rank by rank, which no count or norm depends on.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from forensics.checkpoints._base import StoredTensor

_COPIED = re.compile(
    r"norm|(?:^|\.)ln_|(?:dense|dense_4h_to_h|linear_proj|linear_fc2|o_proj|down_proj)\.bias$|"
    r"position_embeddings|running_|num_batches|inv_freq|router|_extra_state|tokentype",
    re.IGNORECASE,
)
_BY_COLUMNS = re.compile(
    r"(?:attention\.dense|self_attention\.dense|attn\.dense|dense_4h_to_h|linear_proj|linear_fc2|"
    r"o_proj|down_proj|out_proj|c_proj)\.weight$"
)


def join_ranks(
    by_rank: Sequence[Mapping[str, StoredTensor]],
) -> Iterator[tuple[str, StoredTensor]]:
    """(name, tensor) over all ranks: shards become one tensor, copies keep their rank."""
    if len(by_rank) == 1:
        yield from by_rank[0].items()
        return
    names = dict.fromkeys(name for tensors in by_rank for name in tensors)
    for name in names:
        held = {rank: tensors[name] for rank, tensors in enumerate(by_rank) if name in tensors}
        parts = list(held.values())
        if len(parts) == 1:
            yield name, parts[0]
        elif _COPIED.search(name) or not parts[0].shape:
            for rank, tensor in held.items():
                yield name, replace(tensor, rank=rank)
        else:
            yield name, _joined(name, parts, len(by_rank) - len(parts))


def _joined(name: str, parts: Sequence[StoredTensor], absent: int) -> StoredTensor:
    first = parts[0]
    axis = 1 if _BY_COLUMNS.search(name) and len(first.shape) > 1 else 0
    shape = list(first.shape)
    shape[axis] = sum(part.shape[axis] for part in parts if len(part.shape) > axis)
    missing = next((part.missing for part in parts if part.missing), "")
    return replace(
        first,
        shape=tuple(shape),
        extents=tuple(extent for part in parts for extent in part.extents),
        missing=missing or (f"{absent} ranks did not write their part" if absent else ""),
    )
