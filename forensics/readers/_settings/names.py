"""Names that frameworks give to one thing, brought together: optimizers, schedules, precisions."""

import re
from typing import Any

from forensics.readers._settings.values import text


def optimizer(raw: Any) -> str | None:
    """``torch.optim.AdamW``, ``adamw_torch_fused`` and ``AdamW`` alike give ``adamw``."""
    name = _last_word(raw)
    if name is None:
        return None
    for known in _OPTIMIZERS:
        if known in name:
            return f"{known}_8bit" if re.search(r"8_?bit", name) else known
    if name in ("momentum", "nesterov"):
        return "sgd"
    return name if re.fullmatch(r"[a-z]\w{1,29}", name) else None


_OPTIMIZERS = (
    *("adamw", "adafactor", "adadelta", "adagrad", "adamax", "nadamw", "nadam", "radam", "adam"),
    *("lamb", "lars", "lion", "muon", "sophia", "shampoo", "soap", "prodigy", "rmsprop", "sgd"),
)
"""Longer names before those they contain."""


def schedule(raw: Any) -> str | None:
    """``CosineAnnealingLR`` and ``cosine`` alike give ``cosine``; unknown names give None."""
    name = raw if raw in ("no", "none") else _last_word(raw)
    if name is None:
        return None
    return next((plain for pattern, plain in _SCHEDULES if re.search(pattern, name)), None)


_SCHEDULES = (
    (r"constant_?with_?warm|warmup_?constant|^warmuplr$", "constant_with_warmup"),
    (r"warmup_?stable|wsd|trapezoid", "wsd"),
    (r"restart|sgdr", "cosine_with_restarts"),
    (r"one_?cycle", "onecycle"),
    (r"cos", "cosine"),
    (r"inv(?:erse)?_?sqrt|noam", "inverse_sqrt"),
    (r"poly", "polynomial"),
    (r"linear|warmup_?decay", "linear"),
    (r"multi_?step", "multistep"),
    (r"plateau", "plateau"),
    (r"exp", "exponential"),
    (r"step", "step"),
    (r"const|fixed|^none$|^no$", "constant"),
)
"""First match wins."""


def normalization(raw: Any) -> str | None:
    """One of batchnorm, layernorm, rmsnorm, groupnorm."""
    name = re.sub(r"[^a-z]", "", _last_word(raw) or "")
    return next((plain for pattern, plain in _NORMALIZATIONS if re.search(pattern, name)), None)


_NORMALIZATIONS = (
    (r"rms", "rmsnorm"),
    (r"batch|^(?:sync)?bn$", "batchnorm"),
    (r"group|^gn$", "groupnorm"),
    (r"layer|^ln$", "layernorm"),
)


def activation(raw: Any) -> str | None:
    """The activation function in lower case, without its module."""
    return _last_word(raw)


def precision(raw: Any) -> str | None:
    """``bf16-mixed``, ``torch.bfloat16``, ``mixed_float16``, 16, apex's ``O1`` and the like."""
    if isinstance(raw, bool) or not isinstance(raw, (str, int)):
        return None
    name = str(raw).lower().strip().rpartition(".")[2]
    return next((plain for pattern, plain in _PRECISIONS if re.search(pattern, name)), None)


_PRECISIONS = (
    (r"fp8|float8|e4m3|e5m2", "fp8"),
    (r"bf16|bfloat16", "bf16"),
    (r"(?<!\d)16(?!\d)|^half$|^o[123]$", "fp16"),
    (r"tf32|tensorfloat", "tf32"),
    (r"(?<!\d)(?:32|64)(?!\d)|^no$|^full$|^float$|^o0$", "fp32"),
)
"""First match wins."""


def _last_word(raw: Any) -> str | None:
    word = text(raw)
    if word is None or len(word) > 100:
        return None
    return word.strip("<>'\" ").rpartition(".")[2].rpartition("/")[2].lower() or None
