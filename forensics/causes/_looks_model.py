"""Looks at the configured model: normalisation, attention, activation, starting point."""

import re

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Seen

# Regular expressions; short names must begin a word, or resnet50 would be a t5.
BATCHNORM = (
    "resnet", "resnext", "regnet", "mobilenet", "efficientnet", "densenet", "inception", "yolo",
    "shufflenet", "deeplab", "vgg16_bn", "vgg19_bn",
)  # fmt: skip
DETECTORS = ("rcnn", "retinanet", "detr", "unet")
ATTENTION = (
    "gpt", "llama", "bert", "qwen", "gemma", "mistral", "bloom", "falcon", "whisper", "olmo",
    "deepseek", "transformer", "conformer", "attention", "deit", "swin",
    r"(?<![a-z])(?:m?t5|vit|opt|phi)",
)  # fmt: skip
RECURRENT = ("lstm", "deepspeech", r"(?<![a-z])(?:gru|rnn)")


def named_after(case: Case, *families: str) -> bool:
    """True where the model's name holds one of the families."""
    model = (case.config.model or "").lower()
    return any(re.search(family, model) for family in families)


def setting(holds: bool | None, text: str) -> Seen:
    """What the configuration says."""
    return Seen(holds, text, source="configuration")


def parameter_count(case: Case) -> float | None:
    """Rough number of parameters of a transformer: 12 x layers x width^2, and its embedding."""
    layers, width = case.config.num_layers, case.config.hidden_size
    if not layers or not width:
        return None
    return 12.0 * layers * width**2 + (case.config.vocab_size or 0) * float(width)


def batchnorm_used(case: Case) -> Seen:
    """The model normalises over the batch."""
    kind = case.config.normalization
    if kind is not None:
        verb = "normalises" if kind == "batchnorm" else "does not normalise"
        return setting(kind == "batchnorm", f"The model {verb} over the batch ({kind}).")
    if named_after(case, *BATCHNORM):
        return setting(True, f"{case.config.model} normalises over the batch.")
    if named_after(case, *ATTENTION):
        return setting(False, f"{case.config.model} does not normalise over the batch.")
    return setting(None, "Needs the kind of normalisation the model uses.")


def attention_used(case: Case) -> Seen:
    """The model has attention."""
    if named_after(case, *ATTENTION):
        return setting(True, f"{case.config.model} has attention.")
    if named_after(case, *BATCHNORM, *RECURRENT):
        return setting(False, f"{case.config.model} has no attention.")
    return setting(None, "Needs the kind of model.")


def recurrent(case: Case) -> Seen:
    """The model is recurrent: its gradients multiply over the length of a sequence."""
    if not case.config.model:
        return NOT_APPLICABLE
    holds = named_after(case, *RECURRENT)
    verb = "is" if holds else "is not"
    return setting(holds, f"{case.config.model} {verb} recurrent.")


def rectified(case: Case) -> Seen:
    """The activation is exactly zero on one side, so that a unit can fall silent for good."""
    kind = (case.config.activation or "").lower()
    if not kind:
        return setting(None, "Needs the activation function.")
    relu = kind.replace("_", "") in ("relu", "relu6", "squaredrelu", "relu2")
    verb = "can" if relu else "cannot"
    return setting(relu, f"A unit with the activation {kind} {verb} fall silent for good.")


def saturating(case: Case) -> Seen:
    """The activation flattens on both sides, so that gradients shrink with depth."""
    kind = (case.config.activation or "").lower()
    if not kind:
        return NOT_APPLICABLE
    flat = kind in ("sigmoid", "tanh", "logistic", "softsign")
    verb = "flattens" if flat else "does not flatten"
    return setting(flat, f"The activation {kind} {verb} on both sides.")


def normalisation_off(case: Case) -> Seen:
    """The model is configured without normalisation layers."""
    kind = case.config.normalization
    if kind is None:
        return NOT_APPLICABLE
    return setting(kind == "none", f"The normalisation of the model is {kind}.")


def residual_off(case: Case) -> Seen:
    """The model is configured without residual connections."""
    on = facts.flag(
        case, "residual", "residuals", "use_residual", "use_residuals", "residual_connection"
    )
    off = facts.flag(case, "no_residual", "no_residuals", "disable_residual")
    if on is None and off is None:
        names = (case.run.name, case.run.path.name, *(s.run for s in case.run.series[:64]))
        named = next((n for n in names if re.search(r"no[-_ ]?resid", n, re.IGNORECASE)), None)
        said = f"The run is named {named}, as one without residual connections."
        return NOT_APPLICABLE if named is None else setting(True, said)
    without = bool(off) if on is None else not on
    verb = "has no" if without else "has"
    return setting(without, f"The model {verb} residual connections.")


def pretrained(case: Case) -> Seen:
    """Training starts from pretrained weights."""
    given = case.config.pretrained
    if given is None:
        return setting(None, "Needs to know whether training starts from pretrained weights.")
    start = "pretrained weights" if given else "new weights"
    return setting(given, f"Training starts from {start}.")


def qk_normalised(case: Case) -> Seen:
    """Queries and keys are normalised, or their logits capped."""
    on = facts.flag(
        case, "qk_norm", "use_qk_norm", "qk_layernorm", "qk_clip", "attn_logit_softcapping"
    )  # fmt: skip
    if on is None:
        return setting(None, "Needs to know whether queries and keys are normalised.")
    verb = "are" if on else "are not"
    return setting(on, f"Queries and keys {verb} normalised or capped.")


def logits_restrained(case: Case) -> Seen:
    """A z-loss or a cap keeps the output logits near zero."""
    on = facts.flag(
        case, "z_loss", "z_loss_weight", "z_loss_coeff", "use_z_loss", "final_logit_softcapping",
        "logit_softcap", "lm_z_loss",
    )  # fmt: skip
    if on is None:
        return setting(None, "Needs to know whether a z-loss is used.")
    verb = "restrains" if on else "does not restrain"
    return setting(on, f"The configuration {verb} the output logits.")


def large_vocabulary(case: Case, least: int = 1000) -> Seen:
    """The output layer has so many logits that their common level is hardly held."""
    size = case.config.vocab_size or case.config.num_classes
    if size is None:
        return setting(None, "Needs the size of the output layer.")
    return setting(size >= least, f"The output layer has {size:,} logits.")


def reads_tokens(case: Case) -> Seen:
    """The inputs are tokens, which have no scale of their own."""
    if not case.config.vocab_size:
        return NOT_APPLICABLE
    return setting(True, f"The inputs are tokens from a vocabulary of {case.config.vocab_size:,}.")
