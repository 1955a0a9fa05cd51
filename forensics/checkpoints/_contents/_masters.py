"""Float32 copies of half-precision parameters, which wrappers keep beside the optimizer's state."""

from collections.abc import Mapping, Sequence
from typing import Any

from forensics.checkpoints._base import Key, Parameter, StoredTensor
from forensics.checkpoints._contents._parts import ParamGroup

KEYS = ("fp32_from_fp16_params", "fp32_from_float16_groups", "fp32_groups", "fp32_params")
"""Keys of the copies, which are lists of tensors, group by group (apex, Megatron)."""
_SHAPED = ("exp_avg", "momentum_buffer", "exp_avg_sq")


def masters_beside(
    around: Mapping[Any, Any],
    groups: Sequence[ParamGroup],
    slots: Mapping[Key, Mapping[str, Any]],
) -> dict[Key, StoredTensor]:
    """Parameter -> its copy; {} unless every copy finds its parameter.

    A group may hold parameters in float32 too, which have no copy: they are passed over by shape.
    """
    found: dict[Key, StoredTensor] = {}
    for key in KEYS:
        copies = around.get(key)
        if not isinstance(copies, (list, tuple)) or len(copies) != len(groups):
            continue
        for group, held in zip(groups, copies, strict=True):
            tensors = [_tensor(one) for one in held] if isinstance(held, (list, tuple)) else [None]
            pairs = _pairs(group.params, tensors, slots)
            if pairs is None:
                return {}
            found.update(pairs)
    return found


def _pairs(
    keys: Sequence[Key],
    tensors: Sequence[StoredTensor | None],
    slots: Mapping[Key, Mapping[str, Any]],
) -> dict[Key, StoredTensor] | None:
    left = iter(keys)
    pairs: dict[Key, StoredTensor] = {}
    for tensor in tensors:
        key = next((k for k in left if tensor and _fits(slots.get(k, {}), tensor)), None)
        if key is None or tensor is None:
            return None
        pairs[key] = tensor
    return pairs


def _fits(held: Mapping[str, Any], tensor: StoredTensor) -> bool:
    shaped = (held[slot] for slot in _SHAPED if isinstance(held.get(slot), StoredTensor))
    first = next(shaped, None)
    return first is None or first.shape == tensor.shape


def _tensor(value: Any) -> StoredTensor | None:
    value = value.tensor if isinstance(value, Parameter) else value
    return value if isinstance(value, StoredTensor) else None
