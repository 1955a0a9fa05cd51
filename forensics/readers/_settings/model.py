"""Fields about what is trained."""

from forensics.readers._settings import names, values
from forensics.readers._settings.flat import FlatSettings

MODEL_FIELDS = frozenset(
    {
        *("num_classes", "vocab_size", "num_layers", "hidden_size", "model", "normalization"),
        *("activation", "pretrained", "lora"),
    }
)
"""All that a file about the model alone may settle: its ``dtype`` is how it was stored."""


def is_about_the_model_alone(settings: FlatSettings) -> bool:
    """True for a model's own config.json and for an adapter's."""
    own = any(settings.has(k) for k in ("architectures", "transformers_version", "peft_type"))
    training = ("learning_rate", "lr", "per_device_train_batch_size", "batch_size")
    return own and not any(settings.has(key) for key in training)


def num_classes(settings: FlatSettings) -> int | None:
    """Number of classes of a classifier; None for a regression and for a language model."""
    if "regression" in settings.values("problem_type"):
        return None
    keys = ("num_classes", "num_labels", "nb_classes", "n_classes", "nc")
    labels = sum(".id2label." in f".{key}" for key in settings.flat)
    found = settings.first(values.count, *keys) or labels
    classifier = any("Classification" in str(raw) for raw in settings.values("architectures"))
    if not found and classifier:
        return 2  # the default of transformers, which it leaves unwritten
    return found if found > 1 else None


def model(settings: FlatSettings) -> str | None:
    """Name or class of the model."""
    return settings.first(
        values.text,
        *("model_name_or_path", "base_model", "model_name", "architectures", "arch", "model"),
        *("model.name", "model.type", "model._target_", "model.arch", "backbone", "net"),
        *("base_model_name_or_path", "architecture", "model_type", "_name_or_path"),
    )


def pretrained(settings: FlatSettings) -> bool | None:
    """True where training starts from pretrained weights."""
    if settings.switch("train_from_scratch", "from_scratch"):
        return False
    start = settings.first(values.text, "init_from")  # of nanoGPT
    if start:
        return None if start == "resume" else start != "scratch"
    given = settings.switch("pretrained", "use_pretrained", "finetune", "model.pretrained")
    if given is not None:
        return given
    named = settings.first(
        values.text,
        *("model_name_or_path", "base_model", "pretrained_model_name_or_path", "pretrained"),
        *("base_model_name_or_path", "pretrained_checkpoint", "_name_or_path", "pretrained_model"),
    )
    return True if named else None


def lora(settings: FlatSettings) -> bool | None:
    """True where only low-rank adapters are trained."""
    kind = settings.first(values.text, "finetuning_type", "adapter", "peft_type", "peft_method")
    if kind:
        return "lora" in kind.lower()
    given = settings.switch("use_lora", "lora", "use_peft", "lora.enabled", "enable_lora")
    if given is not None:
        return given
    rank = ("lora_r", "lora_rank", "lora_alpha", "lora.r", "lora.rank")
    return True if settings.first(values.positive, *rank) else None


def normalization(settings: FlatSettings) -> str | None:
    """Kind of normalisation layer."""
    keys = ("normalization", "norm_type", "norm_layer", "norm", "normalization_type")
    named = settings.first(names.normalization, *keys, "norm_cfg.type")
    if named:
        return named
    if settings.has("rms_norm_eps"):
        return "rmsnorm"
    if settings.has("layer_norm_eps") or settings.has("layer_norm_epsilon"):
        return "layernorm"
    if settings.switch("batch_norm", "use_batch_norm", "batchnorm", "use_bn"):
        return "batchnorm"
    return "layernorm" if settings.switch("use_layer_norm", "layer_norm") else None
