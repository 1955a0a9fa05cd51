"""``*_model_states.pt``: the weights in half precision, and the shapes that cut the vectors."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from forensics.checkpoints._base import Role, StoredTensor, TrainingState
from forensics.checkpoints._contents import OptimizerState, sort_out
from forensics.checkpoints._views import is_possible
from forensics.checkpoints._zero._flat import Shapes, cut_each, flats_of


@dataclass(frozen=True, eq=False)
class ModelStates:
    """What the ranks of one model-parallel rank wrote about the model."""

    tensors: Mapping[str, StoredTensor] = field(default_factory=dict)
    shapes: tuple[Shapes, ...] = ()
    """Of the parameters that are trained, group by group, in the order of the vectors."""
    shared: Mapping[str, str] = field(default_factory=dict)
    """Tied parameter -> the one whose values it has."""
    optimizers: tuple[OptimizerState, ...] = ()
    state: TrainingState = field(default_factory=TrainingState)


def read_model_states(roots: Mapping[int, Any]) -> ModelStates:
    """Read the saved objects of the data-parallel ranks; one suffices but for frozen parameters."""
    if not roots:
        return ModelStates()
    root = roots[min(roots)]
    parts = sort_out(root)
    main = next((model for model in parts.models if not model.label), None)
    buffers = {str(name) for name in _list(root.get("buffer_names"))}
    tensors = {} if main is None else _kept(main.tensors, buffers)
    tensors.update(_frozen(roots))
    shapes = tuple(_shapes(group) for group in _list(root.get("param_shapes")))
    shared = root.get("shared_params")
    pairs = shared.items() if isinstance(shared, dict) else ()
    tied = {str(alias): str(name) for alias, name in pairs}
    return ModelStates(tensors, shapes, tied, parts.optimizers, parts.state)


def _kept(tensors: Mapping[str, StoredTensor], buffers: set[str]) -> dict[str, StoredTensor]:
    """Without the empty stand-ins that stage 3 leaves for parameters; buffers as they are named."""
    kept = {name: tensor for name, tensor in tensors.items() if tensor.size}
    if not buffers:
        return kept
    roles = {True: Role.BUFFER, False: Role.PARAM}
    return {name: replace(tensor, role=roles[name in buffers]) for name, tensor in kept.items()}


def _frozen(roots: Mapping[int, Any]) -> Iterator[tuple[str, StoredTensor]]:
    """Parameters that are not trained, which stage 3 splits over the ranks' files too."""
    first = roots[min(roots)]
    shapes = _shapes(first.get("frozen_param_shapes"))
    for name, shape in shapes.items():
        held = {rank: _fragment(root, name) for rank, root in roots.items()}
        if any(fragment is None for fragment in held.values()):
            continue
        by_rank = [[flat] for flat in flats_of(held)]
        for _, tensor in cut_each(by_rank, {name: shape}):
            yield name, replace(tensor, role=Role.PARAM)


def _fragment(root: Any, name: str) -> StoredTensor | None:
    fragments = root.get("frozen_param_fragments")
    fragment = fragments.get(name) if isinstance(fragments, dict) else None
    fragment = getattr(fragment, "tensor", fragment)
    return fragment if isinstance(fragment, StoredTensor) else None


def _shapes(group: Any) -> Shapes:
    listed = group.items() if isinstance(group, dict) else ()
    return {str(n): tuple(s) for n, s in listed if isinstance(s, tuple) and is_possible(s)}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, dict) else []
