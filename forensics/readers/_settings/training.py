"""Fields about how a step is computed: framework, precision, betas, clipping, data order."""

from datetime import datetime

from forensics.readers._settings import names, values
from forensics.readers._settings.flat import FlatSettings

_OWN_KEYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("axolotl", ("base_model", "micro_batch_size", "sequence_len")),
    ("llamafactory", ("finetuning_type",)),
    ("transformers", ("per_device_train_batch_size",)),
    ("transformers", ("logging_nan_inf_filter",)),
    ("megatron", ("lr_decay_style",)),
    ("megatron", ("tensor_model_parallel_size", "micro_batch_size")),
    ("deepspeed", ("zero_optimization.stage",)),
    ("deepspeed", ("train_micro_batch_size_per_gpu",)),
    ("detectron2", ("solver.base_lr",)),
    ("mmengine", ("optim_wrapper.type",)),
    ("mmengine", ("default_hooks",)),
    ("ultralytics", ("close_mosaic",)),
    ("timm", ("lr_base_size",)),
    ("timm", ("checkpoint_hist",)),
    ("fairseq", ("update_freq",)),
    ("lightning", ("accumulate_grad_batches",)),
    ("lightning", ("gradient_clip_val",)),
    ("keras", ("keras_version",)),
    ("keras", ("optimizer.config.learning_rate",)),
    ("torchtitan", ("training.local_batch_size",)),
    ("torchtitan", ("mixed_precision_param",)),
    ("nanogpt", ("decay_lr", "block_size")),
    ("nanogpt", ("init_from", "block_size")),
    ("algoperf", ("tuning_ruleset",)),
)
"""Framework and keys that, together, nobody else writes; first match wins."""


def framework(settings: FlatSettings) -> str | None:
    """The framework whose own keys were written, else the one that is named."""
    own = next((name for name, keys in _OWN_KEYS if settings.has(*keys)), None)
    return own or settings.first(values.text, "framework")


def precision(settings: FlatSettings) -> str | None:
    """What the forward pass computes in: by switches, by names, or by switches that are off."""
    switches = {kind: settings.switch(*keys) for kind, keys in _SWITCHES.items()}
    on = next((kind for kind, state in switches.items() if state), None)
    wrapped = "AmpOptimWrapper" in settings.values("optim_wrapper.type")
    amp = wrapped or settings.switch(*_AMP)
    of_amp = _AMP_DTYPES if amp is not False else ()
    # A level is often left at its default where mixed precision is off.
    of_apex = _APEX_LEVELS if amp is not False and switches["fp16"] is not False else ()
    named = settings.first(names.precision, *of_amp, *of_apex, *_PRECISION_NAMES)
    if on or (named and not (amp and named == "fp32")):
        return on or named
    if amp:
        return "fp16"  # what autocast takes on a GPU where no dtype is named
    if settings.switch("tf32"):
        return "tf32"
    return "fp32" if False in switches.values() else None


_SWITCHES = {
    "fp8": ("fp8", "fp8.enabled", "use_fp8"),
    "bf16": ("bf16", "bf16.enabled", "bfloat16.enabled", "use_bf16", "bf16_training"),
    "fp16": ("fp16", "fp16.enabled", "use_fp16", "float16"),
}
_AMP = ("amp", "use_amp", "amp.enabled", "native_amp", "amp_training", "enable_amp")
_APEX_LEVELS = ("opt_level", "amp_opt_level", "apex_opt_level")
_AMP_DTYPES = ("amp_dtype", "autocast_dtype", "autocast_precision")
_PRECISION_NAMES = (
    *("mixed_precision", "precision", "mixed_precision_param", "compute_dtype", "train_dtype"),
    *("training_dtype", "dtype_policy", "dtype_policy.config.name", "dtype.config.name"),
    *("optim_wrapper.dtype", "mixed_precision_dtype", "training.dtype", "dtype"),
)


def loss_scale(settings: FlatSettings) -> float | None:
    """Static or initial loss scale, or 0 for a dynamic one whose start is not given.

    None outside fp16: Megatron writes the default of a scale that nothing is multiplied with.
    """
    if precision(settings) not in (None, "fp16"):
        return None
    keys = ("loss_scale", "static_loss_scale", "initial_loss_scale", "fp16_init_scale")
    given = settings.first(values.positive, *keys, "init_scale")
    if given is not None:
        return given
    power = settings.first(values.positive, "initial_scale_power")  # DeepSpeed: 16 means 65536
    if power is not None and power < 64:
        return float(2.0**power)
    return 0.0 if any(raw in (0, "dynamic") for raw in settings.values("loss_scale")) else None


def betas(settings: FlatSettings) -> tuple[float, float] | None:
    """Adam's decay rates, as a pair, one by one, or as their distance from 1."""
    both = settings.first(values.pair, "adam_betas", "opt_betas", "betas", "optimizer_betas")
    one, two = _beta(settings, 1), _beta(settings, 2)
    return both or (None if one is None or two is None else (one, two))


def _beta(settings: FlatSettings, which: int) -> float | None:
    keys = ("adam_beta{}", "beta{}", "beta_{}", "b{}", "adamw_beta{}", "adam_b{}")
    value = settings.first(values.not_negative, *(key.format(which) for key in keys))
    if value is None:
        distance = settings.first(values.not_negative, f"one_minus_beta{which}")
        value = None if distance is None else 1.0 - distance
    return value if value is not None and 0 <= value <= 1 else None


def clip_threshold(settings: FlatSettings) -> float | None:
    """Threshold of the global gradient norm: 0 where it is off, None where values are clipped."""
    if settings.switch("clip_gradients.enabled") is False:
        return 0.0
    kinds = ("gradient_clip_algorithm", "clip_gradients.clip_type", "clip_mode")
    if any(str(raw).lower() == "value" for name in kinds for raw in settings.values(name)):
        return None
    given = settings.first(values.threshold, *_CLIP_NAMES)
    if given is None and not any(settings.has(key) for key in _OF_POLICIES):
        given = settings.first(values.threshold, "clip", "clipping")
    return given


_OF_POLICIES = ("gae_lambda", "ppo_epochs", "clip_range", "clip_ratio", "n_rollout_steps", "gae")
"""Beside these ``clip`` is the range of PPO's probability ratios."""


_CLIP_NAMES = (
    *("max_grad_norm", "clip_grad", "gradient_clipping", "grad_clip", "clip_norm"),
    *("gradient_clip_val", "clip_grad.max_norm", "clip_gradients.clip_value", "global_clipnorm"),
    *("clip_grad_norm", "grad_clip_norm", "gradient_clip_norm", "max_norm", "grad_norm_clip"),
    *("gradient_clip", "clip_gradient", "gradient_clip_value", "clip_max_norm", "clip_threshold"),
    *("gradient_clipping_norm", "grad_clip_value", "max_gradient_norm", "grad_norm_clipping"),
    *("grad_max_norm", "max_grad", "gradclip", "norm_clip", "clip_grads", "clip_gradient_norm"),
)


def shuffle(settings: FlatSettings) -> bool | None:
    """False where the training data keeps its order."""
    if settings.switch("disable_shuffling", "no_shuffle", "disable_shuffle"):
        return False
    if "sequential" in settings.values("train_sampling_strategy"):
        return False
    return settings.switch("shuffle", "shuffle_train", "shuffle_data", "shuffle_dataset")


def started(settings: FlatSettings) -> float | None:
    """Start of the process, seconds since the epoch."""
    return settings.first(_moment, "start_time", "startedat", "started_at")


def _moment(raw: object) -> float | None:
    seconds = values.positive(raw)
    if seconds is not None:
        seconds = seconds / 1000 if seconds > 1e11 else seconds  # MLflow writes milliseconds
        return seconds if seconds > 1e9 else None
    try:
        return datetime.fromisoformat(raw).timestamp() if isinstance(raw, str) else None
    except (ValueError, OverflowError):
        return None
