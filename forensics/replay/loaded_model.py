"""A stored state put into the model that the replay file builds."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from forensics.replay.plan import Settings, Start
from forensics.replay.stored_state import State, StoredState
from forensics.replay_facts import LoadCheck

_WRAPPERS = ("module.", "_orig_mod.", "model.", "_forward_module.", "net.", "transformer.", "base.")
MOST_NAMES = 40
"""Names that a check lists of each kind."""


def load_weights(model: nn.Module, stored: State, start: Start) -> LoadCheck:
    """Copy the weights whose names and shapes fit, and say which do not."""
    own = model.state_dict(keep_vars=True)
    found = _renamed(stored, own)
    wrong = {n for n in own.keys() & found.keys() if own[n].shape != found[n].shape}
    fitting = {n: found[n] for n in own.keys() & found.keys() - wrong}
    _take_dtype(model, fitting)
    model.load_state_dict(fitting, strict=False)
    return LoadCheck(
        checkpoint=start.path,
        step=start.step,
        parameters=sum(p.numel() for p in model.parameters()),
        missing=_missing(model, own, found),
        unexpected=tuple(n for n in found if n not in own)[:MOST_NAMES],
        mismatched=tuple(
            f"{n}: {_shape(found[n])} in the checkpoint, {_shape(own[n])} in the model"
            for n in own
            if n in wrong
        )[:MOST_NAMES],
    )


def _shape(tensor: torch.Tensor) -> str:
    return "(" + ", ".join(map(str, tensor.shape)) + ")"


def _missing(model: nn.Module, own: Mapping[str, Any], found: State) -> tuple[str, ...]:
    """Names the checkpoint lacks, but for weights tied to one that it holds."""
    held = {id(own[name]) for name in own.keys() & found.keys()}
    lacking = [name for name in own if name not in found and id(own[name]) not in held]
    return tuple(lacking)[:MOST_NAMES]


def _renamed(stored: State, own: Mapping[str, Any]) -> State:
    """The stored names without or with the wrapper's prefix that fits the model best."""
    candidates = [stored]
    for prefix in _WRAPPERS:
        if any(name.startswith(prefix) for name in stored):
            candidates.append({n.removeprefix(prefix): t for n, t in stored.items()})
        candidates.append({prefix + n: t for n, t in stored.items()})
    return max(candidates, key=lambda names: len(names.keys() & own.keys()))


def _take_dtype(model: nn.Module, found: State) -> None:
    """A model saved wholly in 16 bits trained in 16 bits: keep it in its own type."""
    kinds = {t.dtype for t in found.values() if t.is_floating_point()}
    if len(kinds) == 1 and (kind := kinds.pop()).itemsize == 2:
        model.to(kind)


def restore_optimizer(optimizer: torch.optim.Optimizer, state: StoredState) -> str:
    """Load the optimizer's state; returns why it does not fit, or ''."""
    if state.optimizer is None:
        return ""
    try:
        saved = {k: v for k, v in state.optimizer.items() if k in ("state", "param_groups")}
        problem = _shapes_differ(optimizer, saved)
        if problem:
            return problem
        optimizer.load_state_dict(saved)
    except (ValueError, KeyError, RuntimeError, TypeError) as error:
        return " ".join(str(error).split())
    return ""


def _shapes_differ(optimizer: torch.optim.Optimizer, saved: Mapping[str, Any]) -> str:
    """Torch loads moments of any shape without a word, and fails in the next step."""
    own = [p for group in optimizer.param_groups for p in group["params"]]
    order = [i for group in saved["param_groups"] for i in group["params"]]
    if len(own) != len(order):
        return f"it holds {len(order)} parameters, the optimizer {len(own)}"
    for parameter, index in zip(own, order, strict=True):
        moment = (saved["state"].get(index) or {}).get("exp_avg")
        if isinstance(moment, torch.Tensor) and moment.shape != parameter.shape:
            return f"moment {index} is {_shape(moment)}, its parameter {_shape(parameter)}"
    return ""


def usual_optimizer(
    model: nn.Module, settings: Settings, saved: Mapping[str, Any] | None
) -> torch.optim.Optimizer:
    """The optimizer that the checkpoint or the configuration speaks of, for want of the user's."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    groups: Sequence[Mapping[str, Any]] = saved["param_groups"] if saved else ()
    split = _as_saved(parameters, groups)
    name = (settings.optimizer or "").lower()
    moments = saved is None or any("exp_avg" in s for s in saved["state"].values())
    if (groups and "betas" not in groups[0] and not moments) or (not groups and "sgd" in name):
        return torch.optim.SGD(
            split,
            lr=settings.lr or 1e-3,
            momentum=settings.momentum or 0.0,
            weight_decay=settings.weight_decay or 0.0,
        )
    coupled = name == "adam" or (groups and groups[0].get("decoupled_weight_decay") is False)
    kind = torch.optim.Adam if coupled else torch.optim.AdamW
    return kind(
        split,
        lr=settings.lr or 1e-3,
        betas=settings.betas or (0.9, 0.999),
        eps=settings.eps or 1e-8,
        weight_decay=settings.weight_decay or 0.0,
    )


def _as_saved(
    parameters: list[nn.Parameter], groups: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The parameters in as many groups, of the same sizes, as the checkpoint has."""
    sizes = [len(group["params"]) for group in groups]
    if sum(sizes) != len(parameters):
        return [{"params": parameters}]
    if len(sizes) == 2:
        # The custom of most trainers: what decays first, then biases and gains.
        wide = [p for p in parameters if p.dim() > 1]
        flat = [p for p in parameters if p.dim() <= 1]
        if [len(wide), len(flat)] == sizes:
            return [{"params": wide}, {"params": flat}]
    split, begin = [], 0
    for size in sizes:
        split.append({"params": parameters[begin : begin + size]})
        begin += size
    return split
