"""Optimizer state in 8 bits: codes, a table of values, and one scale for each block of codes.

bitsandbytes keeps ``state1`` (codes), ``qmap1`` (256 values) and ``absmax1`` (one a block); the
state is ``qmap1[code] * absmax1[block]``. The three become one tensor, which a decoder spells out.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from forensics.checkpoints._base import DType, StoredTensor

_BLOCKS = (256, 2048, 4096, 1024, 512, 128, 64)
"""Codes under one scale; bitsandbytes has used 2048 and, since 0.44, 256."""


def combined(slots: Mapping[str, Any]) -> dict[str, Any]:
    """The slots, with codes, scales and table made one tensor."""
    whole = dict(slots)
    for number in ("1", "2"):
        codes, scales, table = (
            slots.get(f"{name}{number}") for name in ("state", "absmax", "qmap")
        )
        if not isinstance(codes, StoredTensor) or codes.dtype is not DType.U8:
            continue
        if isinstance(scales, StoredTensor) and isinstance(table, StoredTensor):
            whole[f"state{number}"] = _spelled(codes, scales, table)
        else:
            why = "8-bit codes without their table and scales"
            whole[f"state{number}"] = replace(codes, dtype=DType.OTHER, missing=why)
    return whole


def _spelled(codes: StoredTensor, scales: StoredTensor, table: StoredTensor) -> StoredTensor:
    parts = (codes, scales, table)
    block = next((b for b in _BLOCKS if -(-codes.size // b) == scales.size), None)
    missing = next((part.missing for part in parts if part.missing), "")
    plain = all(len(part.extents) == 1 and not part.decoder for part in parts)
    f32 = scales.dtype is table.dtype is DType.F32 and table.size == 256
    if not (block and plain and f32) or missing:
        return replace(codes, dtype=DType.OTHER, missing=missing or "8-bit codes of unknown blocks")
    extents = tuple(extent for part in parts for extent in part.extents)
    return replace(codes, dtype=DType.F32, extents=extents, decoder=f"blockwise8:{block}")
