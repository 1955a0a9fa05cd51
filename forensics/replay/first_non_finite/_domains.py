"""Where functions of single numbers leave the finite numbers, in words."""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from forensics.replay.first_non_finite._numbers import numbers
from forensics.replay.first_non_finite._operators import Call

Rule = Callable[[Call], str]
_Where = Callable[[Tensor], Tensor]


def _argument(*faults: tuple[str, _Where], position: int = 0) -> Rule:
    """A rule over one argument: the first fault that some of its numbers show, with their count."""

    def rule(call: Call) -> str:
        tensor = call.tensor(position)
        values = numbers(tensor) if tensor is not None else _number(call, position)
        if values is None:
            return ""
        for words, where in faults:
            count = int(where(values).sum())
            if count:
                return f"{words}: {count} of {values.numel()} values"
        return ""

    return rule


def _number(call: Call, position: int) -> Tensor | None:
    found = call.arguments[position] if position < len(call.arguments) else None
    return torch.tensor(float(found)) if isinstance(found, int | float) else None


def _exponential(call: Call) -> str:
    argument, output = call.tensor(0), call.outputs[0]
    values = numbers(argument) if argument is not None else None
    if values is None or not values.numel() or not output.is_floating_point():
        return ""
    limit = math.log(torch.finfo(output.dtype).max)
    highest = values[torch.isfinite(values)].abs().max().item()
    if highest < 0.5 * limit:  # base 2 and the like have limits of their own
        return ""
    dtype = str(output.dtype).removeprefix("torch.")
    return f"an exponential of {highest:.4g}; beyond {limit:.1f} it overflows {dtype}"


def _division(call: Call) -> str:
    found = _argument(("division by 0", lambda x: x == 0), position=1)(call)
    numerator = call.tensor(0)
    values = numbers(numerator) if numerator is not None else None
    if found and values is not None and bool((values == 0).all()):
        return found.replace("division by 0", "division of 0 by 0")
    return found


def _power(call: Call) -> str:
    base, exponent = (numbers(t) if t is not None else None for t in map(call.tensor, (0, 1)))
    base = _number(call, 0) if base is None else base
    exponent = _number(call, 1) if exponent is None else exponent
    if base is None or exponent is None:
        return ""
    negative = (base < 0) & (exponent != exponent.floor())
    faults = {
        "a negative number to a power that is no integer": negative,
        "0 to a negative power": (base == 0) & (exponent < 0),
    }
    counts = {words: int(flags.sum()) for words, flags in faults.items()}
    return next((f"{w}: {n} of {negative.numel()} values" for w, n in counts.items() if n), "")


_LOG = _argument(("log of 0", lambda x: x == 0), ("log of a negative number", lambda x: x < 0))
_INVERSE = _argument(("division by 0", lambda x: x == 0))
_SINE = _argument(("inverse sine or cosine of a number beyond 1", lambda x: x.abs() > 1))
_LOGIT = _argument(
    ("logit of exactly 0 or 1", lambda x: (x == 0) | (x == 1)),
    ("logit of a number outside 0 to 1", lambda x: (x < 0) | (x > 1)),
)
_INVERSE_ERROR = _argument(
    ("inverse error function of exactly 1 or -1", lambda x: x.abs() == 1),
    ("inverse error function of a number beyond 1", lambda x: x.abs() > 1),
)
_GAMMA = _argument(
    ("gamma function at 0 or a negative integer", lambda x: (x <= 0) & (x == x.floor()))
)

DOMAINS: Mapping[str, Rule] = {
    **dict.fromkeys(("log", "log2", "log10"), _LOG),
    "log1p": _argument(
        ("log1p of -1", lambda x: x == -1), ("log1p of a number below -1", lambda x: x < -1)
    ),
    "sqrt": _argument(("square root of a negative number", lambda x: x < 0)),
    "rsqrt": _argument(
        ("inverse square root of 0", lambda x: x == 0),
        ("inverse square root of a negative number", lambda x: x < 0),
    ),
    "reciprocal": _INVERSE,
    **dict.fromkeys(("div", "remainder", "fmod", "floor_divide", "true_divide"), _division),
    "pow": _power,
    **dict.fromkeys(("exp", "expm1", "exp2", "sinh", "cosh"), _exponential),
    **dict.fromkeys(("acos", "asin"), _SINE),
    "acosh": _argument(("acosh of a number below 1", lambda x: x < 1)),
    "atanh": _argument(
        ("atanh of exactly 1 or -1", lambda x: x.abs() == 1),
        ("atanh of a number beyond 1", lambda x: x.abs() > 1),
    ),
    **dict.fromkeys(("logit", "special_logit"), _LOGIT),
    **dict.fromkeys(("erfinv", "special_erfinv"), _INVERSE_ERROR),
    **dict.fromkeys(("lgamma", "digamma", "mvlgamma"), _GAMMA),
}
"""Name of an operator -> what about its argument leaves its domain; '' where nothing does."""
