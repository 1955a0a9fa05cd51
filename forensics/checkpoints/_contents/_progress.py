"""How far training was, and with which settings, by the keys under which frameworks keep it."""

from collections.abc import Iterator, Mapping
from typing import Any

from forensics.checkpoints._base import StoredTensor, TrainingState
from forensics.checkpoints._numbers import read_number
from forensics.inert_pickle import Inert, plain

_STEPS = (
    *("global_step", "global_steps", "iteration", "iter_num", "num_updates", "step", "iter"),
    *("current_step", "train_step", "steps", "num_steps", "n_iter", "it", "update"),
)
_EPOCHS = ("epoch", "current_epoch", "epochs_trained", "epochs", "start_epoch")
_INSIDE = (
    *("train_state", "trainer_state", "training_state", "extra_state", "meta", "trainer"),
    *("train_progress", "train", "trainer_progress", "progress"),
)
"""Dicts in which the step is looked for, where the save itself does not give it."""
_SETTINGS = (
    *("args", "cfg", "config", "hyper_parameters", "hparams", "ds_config", "model_args"),
    *("train_args", "training_args", "configuration", "settings"),
)
_SCHEDULER_COUNTS = ("last_epoch", "num_steps", "last_batch_iteration", "num_updates")
"""What torch, Megatron, DeepSpeed and others call the scheduler's own counter."""
_MAX_SETTINGS = 5000


def is_scaler(value: Any) -> bool:
    """True for the state of a gradient scaler."""
    if not isinstance(value, dict):
        return False
    if "cur_scale" in value:
        return True
    if "loss_scale" in value and "unskipped" in value:
        return True  # apex
    return "scale" in value and any(
        k in value for k in ("_growth_tracker", "growth_tracker", "growth_factor")
    )


def is_scaler_object(value: Any) -> bool:
    """True for a scaler that was pickled whole, as DeepSpeed does."""
    return isinstance(value, Inert) and is_scaler(value.state)


def is_scheduler(value: Any, key: str) -> bool:
    """True for the state of a learning-rate scheduler."""
    if not isinstance(value, dict) or not value:
        return False
    counts = any(name in value for name in _SCHEDULER_COUNTS)
    if "sched" in key.lower() and not _holds_tensors(value):
        return counts or any("lr" in str(name) for name in value)
    return counts and any(name in value for name in ("_step_count", "_last_lr", "base_lrs"))


def _holds_tensors(value: Mapping[Any, Any]) -> bool:
    return any(isinstance(v, StoredTensor) and v.shape for v in value.values())


def read_progress(root: Any) -> TrainingState:
    """Step, epoch and settings of a save; the rest of the state is found elsewhere."""
    if not isinstance(root, dict):
        return TrainingState()
    return TrainingState(
        global_step=_whole(_first(root, _STEPS)),
        epoch=_number(_first(root, _EPOCHS)),
        settings=_settings(root),
    )


def _first(root: Mapping[Any, Any], names: tuple[str, ...]) -> Any:
    for place in _places(root):
        for name in names:
            if _number(place.get(name)) is not None:
                return place[name]
    return None


def _places(root: Mapping[Any, Any]) -> Iterator[Mapping[Any, Any]]:
    yield root
    for name in _INSIDE:
        inside = root.get(name)
        if isinstance(inside, dict):
            yield inside
    history = root.get("optimizer_history")  # fairseq
    if isinstance(history, list) and history and isinstance(history[-1], dict):
        yield history[-1]


def _number(value: Any) -> float | None:
    if isinstance(value, StoredTensor):
        return read_number(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) < 1e18 else None


def _whole(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number == int(number) and number >= 0 else None


def _settings(root: Mapping[Any, Any]) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for name in _SETTINGS:
        value = plain(root.get(name), 12, _MAX_SETTINGS)
        if isinstance(value, dict):
            found.update({k: v for k, v in value.items() if k not in found})
        elif isinstance(value, str) and value:
            found.setdefault(name, value)
    return found
