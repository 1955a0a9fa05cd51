"""Fields about when something happens: schedule, warm-up, length, intervals."""

from typing import Any

from forensics.readers._settings import names, values
from forensics.readers._settings.flat import FlatSettings


def lr_peak(settings: FlatSettings) -> float | None:
    """Highest learning rate; a step size of 1 and more is that of a schedule, in epochs."""
    given = settings.first(values.not_negative, *_RATES)
    return given if given is not None else settings.first(values.share, "eta", "eta0", "step_size")


_RATES = (
    *("learning_rate", "lr", "base_lr", "lr0", "max_lr", "peak_lr", "init_lr", "initial_lr"),
    *("max_learning_rate", "peak_learning_rate", "base_learning_rate", "lr_max"),
    *("initial_learning_rate", "lr_peak", "learning_rate_peak", "lrate", "optimizer_lr"),
    *("learningrate", "lr_init", "start_lr", "lr_start", "learn_rate"),
)


def total_steps(settings: FlatSettings) -> int | None:
    """Planned optimizer steps; a bare ``steps`` counts where it stands alone, as one number."""
    given = settings.first(values.count, *_TOTALS)
    if given is not None:
        return given
    bare = next((raw for key, raw in settings.flat.items() if key.lower() == "steps"), None)
    return None if isinstance(bare, list | tuple) else values.count(bare)


_TOTALS = (
    *("max_steps", "max_iters", "max_iter", "train_iters", "total_steps", "max_update"),
    *("max_updates", "num_train_steps", "total_iters", "max_train_steps", "training_steps"),
    *("num_training_steps", "train_steps", "max_global_steps", "training.steps"),
    *("total_num_steps", "num_iterations", "n_iters", "total_iterations", "max_step"),
    *("total_training_steps", "total_timesteps", "step_hint", "max_iterations", "num_iters"),
    *("total_updates", "training_iterations", "train_iterations", "max_train_iters", "niters"),
)


def schedule(settings: FlatSettings) -> str | None:
    """Name of the learning-rate schedule."""
    named = settings.first(names.schedule, *_SCHEDULE_NAMES)
    if named:
        return named
    if settings.switch("cos_lr", "decay_lr"):
        return "cosine"  # what ultralytics and nanoGPT mean by their switch
    if settings.switch("cos_lr") is False:
        return "linear"
    if settings.switch("decay_lr") is False:
        return "constant"
    kinds = [names.schedule(stage.get("type")) for stage in _stages(settings)]
    return next((kind for kind in reversed(kinds) if kind), None)


_SCHEDULE_NAMES = (
    *("lr_scheduler_type", "lr_decay_style", "lr_scheduler", "scheduler", "sched"),
    *("lr_scheduler_name", "lr_schedule", "scheduler.type", "lr_scheduler.type"),
    *("scheduler.name", "lr_scheduler.name", "sched.name", "scheduler._target_"),
    *("lr_scheduler._target_", "lr_scheduler._name", "scheduler_type", "schedule"),
    *("scheduler_name", "learning_rate.class_name", "lr_config.policy", "lr_policy"),
    *("lr_scheduler.decay_type", "decay_type", "lr_scheduler.class_path", "schedule_type"),
)


def _stages(settings: FlatSettings) -> list[dict[str, Any]]:
    """The ``param_scheduler`` of mmengine: one mapping per stage, in order."""
    stages: dict[str, dict[str, Any]] = {}
    for key, value in settings.flat.items():
        above, _, last = key.rpartition(".")
        if "param_scheduler" in above.split("."):
            stages.setdefault(above, {})[last] = value
    return list(stages.values())


def warmup_steps(settings: FlatSettings) -> int | None:
    """Length of the warm-up in steps; None where a ratio takes its place."""
    given = settings.first(values.whole, *_WARMUP_STEPS)
    if given == 0 and warmup_ratio(settings):
        return None
    if given is not None:
        return given
    ends = (
        values.count(stage.get("end"))
        for stage in _stages(settings)
        if names.schedule(stage.get("type")) == "linear" and not stage.get("by_epoch", True)
    )
    found = next(ends, None)
    return _bare_warmup(settings) if found is None else found


def _bare_warmup(settings: FlatSettings) -> int | None:
    """What a bare ``warmup`` tells: 0 is none in any unit; up to the epochs it may count those."""
    given = settings.first(values.whole, "warmup", "warm_up", "n_warmup", "num_warmup", "lr_warmup")
    if given is None:
        in_epochs = ("warmup_epochs", "lr_warmup_epochs", "num_warmup_epochs", "warmup_epoch")
        lengths = [values.number(raw) for name in in_epochs for raw in settings.values(name)]
        return 0 if lengths and not any(lengths) and warmup_ratio(settings) is None else None
    if given == 0:
        return None if warmup_ratio(settings) else 0
    return given if given > (epochs(settings) or 0) else None


_WARMUP_STEPS = (
    *("warmup_steps", "lr_warmup_iters", "warmup_iters", "num_warmup_steps", "warmup_num_steps"),
    *("warmup_updates", "lr_warmup_steps", "warmup_iterations", "warmup_step", "n_warmup_steps"),
    *("num_warmup_iters", "warmup_period", "warmup_its", "lr_warmup_its", "warmup_batches"),
)


def warmup_ratio(settings: FlatSettings) -> float | None:
    """Warm-up as a share of all steps; transformers 5 writes it as ``warmup_steps`` below 1."""
    if settings.has("lr_config.warmup_ratio"):
        return None  # mmcv: the factor on the first learning rates, no length
    ratios = ("warmup_ratio", "lr_warmup_fraction", "warmup_fraction", "warmup_steps_fraction")
    more = ("warmup_proportion", "warmup_frac", "warmup_percent", "pct_start", "warmup")
    found = settings.first(values.share, "warmup_steps", *ratios, *more)
    if found is None and not settings.has("solver.warmup_factor"):
        found = settings.first(values.share, "warmup_factor")  # of AlgoPerf, not of detectron2
    return found


def epochs(settings: FlatSettings) -> float | None:
    """Planned epochs; a positive ``max_steps`` overrides them in transformers."""
    steps = settings.first(values.count, "max_steps")
    if steps is not None and settings.has("num_train_epochs"):
        return None
    keys = ("num_train_epochs", "epochs", "max_epochs", "num_epochs", "max_epoch", "nb_epochs")
    more = ("n_epochs", "total_epochs", "train_epochs", "nepochs", "n_epoch", "num_epoch", "nepoch")
    return settings.first(values.positive, *keys, *more)


def save_interval(settings: FlatSettings) -> int | None:
    """Steps between checkpoints; None where none, or one an epoch, is saved."""
    if not _by_steps(settings, "save_strategy"):
        return None
    keys = ("save_steps", "save_interval", "checkpoint_interval", "save_every", "save_freq")
    more = ("save_interval_updates", "checkpoint_period", "every_n_train_steps", "ckpt_interval")
    return settings.first(values.count, *keys, *more, "checkpointing_steps", "checkpoint.interval")


def eval_interval(settings: FlatSettings) -> int | None:
    """Steps between validations; None where none, or one an epoch, is made."""
    if not _by_steps(settings, "eval_strategy", "evaluation_strategy"):
        return None
    keys = ("eval_steps", "eval_interval", "eval_every", "val_check_interval", "eval_period")
    more = ("val_interval", "validate_interval_updates", "eval_freq", "val_loss_every")
    return settings.first(values.count, *keys, *more, "val_every")


def _by_steps(settings: FlatSettings, *strategies: str) -> bool:
    other = ("no", "epoch", "best")
    return not any(raw in other for name in strategies for raw in settings.values(name))
