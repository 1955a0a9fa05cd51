"""Stand-ins for the functions with which a pickle rebuilds tensors."""

from dataclasses import dataclass
from typing import Any

from forensics.checkpoints._base import DType, Parameter, StoredTensor
from forensics.checkpoints._dtypes import of_torch
from forensics.checkpoints._views import Storage, are_lengths, is_possible, tensor_of, unread
from forensics.inert_pickle import Constructor, Global, Inert


@dataclass(frozen=True)
class PickledStorage:
    """A storage, with the element type that its class implies."""

    storage: Storage
    dtype: DType
    itemsize: int


def _tensor(storage: Any, start: Any, shape: Any, stride: Any, *_: Any) -> StoredTensor:
    """``_rebuild_tensor``, ``_rebuild_tensor_v2``, ``_rebuild_qtensor``."""
    if not isinstance(storage, PickledStorage):
        raise TypeError("no storage")
    return _view(storage.storage, storage.dtype, storage.itemsize, start, shape, stride)


def _typed_tensor(
    storage: Any, start: Any, shape: Any, stride: Any, _grad: Any, _hooks: Any, dtype: Any, *_: Any
) -> StoredTensor:
    """``_rebuild_tensor_v3``: the storage is untyped."""
    if not isinstance(storage, PickledStorage):
        raise TypeError("no storage")
    kind, itemsize = of_torch(dtype.name if isinstance(dtype, Global) else "")
    return _view(storage.storage, kind, itemsize, start, shape, stride)


def _view(
    storage: Storage, dtype: DType, itemsize: int, start: Any, shape: Any, stride: Any
) -> StoredTensor:
    if not (are_lengths(shape) and are_lengths(stride) and are_lengths([start])):
        return unread(dtype, (), "impossible shape")
    return tensor_of(storage, dtype, itemsize, shape, stride, start)


def _parameter(data: Any = None, *_: Any) -> Any:
    return Parameter(data) if isinstance(data, StoredTensor) else data


def _from_type(_function: Any, _type: Any, args: Any, state: Any = None) -> Any:
    """``_rebuild_from_type_v2``: a subclass, whose tensor is in its state or its arguments."""
    parts = state if isinstance(state, tuple) else (state,)  # of its dict, and of its slots
    held = {name: value for part in parts if isinstance(part, dict) for name, value in part.items()}
    local = held.get("_local_tensor")
    if isinstance(local, StoredTensor):
        return local  # this rank's part of a distributed tensor
    if isinstance(args, tuple) and args and isinstance(args[0], PickledStorage):
        short = len(args) < 7 or not isinstance(args[6], Global)
        return _tensor(*args) if short else _typed_tensor(*args)
    return Inert("tensor subclass", (), held)


def _sparse(_layout: Any, data: Any) -> Any:
    """``_rebuild_sparse_tensor``: the values stand for the whole."""
    values = [part for part in data if isinstance(part, StoredTensor)]
    return values[-1]


def _shape(lengths: Any = ()) -> tuple[Any, ...]:
    return tuple(lengths)


def _meta(dtype: Any, shape: Any, *_: Any) -> StoredTensor:
    """``_rebuild_meta_tensor_no_storage``: was never given values."""
    kind, _size = of_torch(dtype.name if isinstance(dtype, Global) else "")
    lengths = tuple(shape) if isinstance(shape, (tuple, list)) else ()
    why = "was saved from the meta device, without values"
    return unread(kind, lengths if is_possible(lengths) else (), why)


TENSOR_CONSTRUCTORS: dict[str, Constructor] = {
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor_v3": _typed_tensor,
    "torch._utils._rebuild_qtensor": _tensor,
    "torch._utils._rebuild_sparse_tensor": _sparse,
    "torch._utils._rebuild_sparse_csr_tensor": _sparse,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter,
    "torch._utils._rebuild_meta_tensor_no_storage": _meta,
    "torch._tensor._rebuild_from_type_v2": _from_type,
    "torch.nn.parameter.Parameter": _parameter,
    "torch.nn.parameter.Buffer": _parameter,
    "torch.Size": _shape,
}
