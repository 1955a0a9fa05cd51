"""What a checkpoint says besides its tensors: settings of the optimizer, counters, scales."""

from collections.abc import Mapping, Sequence
from typing import Any

from forensics.checkpoint_facts import StateFacts
from forensics.checkpoints import TrainingState
from forensics.scan._moments_adam import AdamSettings

Betas = tuple[float, float]


def state_facts(state: TrainingState) -> StateFacts:
    """The numbers of a training state that can be compared with others."""
    counters = [step for step in state.optimizer_steps.values() if step == step]
    groups = state.param_groups
    last_lr = state.scheduler.get("_last_lr")
    return StateFacts(
        global_step=state.global_step,
        epoch=state.epoch,
        optimizer_steps=(min(counters), max(counters)) if counters else None,
        scheduler_step=_whole(state.scheduler.get("last_epoch")),
        lr=_each(groups, "lr"),
        initial_lr=_each(groups, "initial_lr"),
        scheduler_lr=_numbers(last_lr if isinstance(last_lr, (list, tuple)) else ()),
        betas=tuple(dict.fromkeys(filter(None, map(_betas, groups)))),
        eps=tuple(dict.fromkeys(_each(groups, "eps"))),
        weight_decay=tuple(dict.fromkeys(_each(groups, "weight_decay"))),
        scale=_number(state.scaler.get("scale", state.scaler.get("cur_scale"))),
    )


def adam_settings(facts: StateFacts, step: float | None, usual: Betas | None) -> AdamSettings:
    """The settings under which the moments were made.

    Which group a parameter belongs to is not kept; where groups differ, those that allow most
    stand for all.

    Args:
        facts: Of the checkpoint.
        step: The parameter's own counter.
        usual: Betas of the configuration, where the checkpoint has none.
    """
    known = facts.betas or ((usual,) if usual is not None else ())
    eps = max(facts.eps, default=1e-8)
    if not known:
        return AdamSettings(eps=eps, step=step, bounded=False)
    loosest = max(known, key=lambda betas: AdamSettings(*betas).bound)
    return AdamSettings(*loosest, eps=eps, step=step)


def is_adam_like(state: TrainingState) -> bool:
    """False for optimizers whose second moment is not that of the gradient itself.

    Adan has three betas and takes differences into v; AdaBelief and others name theirs otherwise.
    """
    betas = [group.get("betas") for group in state.param_groups]
    return all(b is None or (isinstance(b, (list, tuple)) and len(b) == 2) for b in betas)


def _betas(group: Mapping[str, Any]) -> Betas | None:
    held = group.get("betas")
    pair = _numbers(held) if isinstance(held, (list, tuple)) else ()
    return (pair[0], pair[1]) if len(pair) == 2 else None


def _each(groups: Sequence[Mapping[str, Any]], key: str) -> tuple[float, ...]:
    return _numbers([group.get(key) for group in groups])


def _numbers(values: Sequence[Any]) -> tuple[float, ...]:
    return tuple(number for value in values if (number := _number(value)) is not None)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value)


def _whole(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and abs(number) < 1e15 else None
