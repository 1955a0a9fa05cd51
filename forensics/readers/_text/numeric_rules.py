"""Lines that prove a number that is none."""

from forensics.readers._text.rule import Rule, rule
from forensics.run import TextKind

_ENDING = r"(?:abort|stopp?ing|stopped|exiting|exit\b|terminat|ending training|giving up)\w*"
_BAD = r"(?:\bnans?\b|\binf\b|\binfinite\b|non-?_?finite|\bnot finite\b)"
_QUANTITY = r"(?:loss|grad\w*|norm)\b"
_UNIT_OF_WORK = r"(?:step|batch|update|iter\w*|optimizer|sample|example|loss|grad\w*)"

NUMERIC_RULES: tuple[Rule, ...] = (
    rule(
        TextKind.LOSS_SCALE_MINIMUM,
        ("loss scale", "grad_scale is too small", "loss_scale"),
        r"loss scale (?:is )?already at minimum",
        r"Minimum loss scale reached",
        r"grad_scale is too small",
        r"loss.scale .{0,30}(?:at|reached|below) (?:its |the )?minimum",
    ),
    rule(
        TextKind.NON_FINITE_ABORT,
        ("nan", "inf", "finite", "invalid loss"),
        r"Loss became infinite or NaN at iteration",
        r"found NaN in local",
        r"Unexpected result (?:nan|inf)",
        r"is not finite\b.{0,40}at step",
        r"(?:nan|inf\w*) loss encountered",
        r"Invalid loss, terminating",
        r"NaN persisted",
        r"loss returned in .{0,30} is nan or inf",
        r"is not finite\. Previous best",
        r"returned nan values in its \d+th output",
        r"nonfinite_guard:\s*abort",
        rf"{_QUANTITY}[^|]{{0,40}}{_BAD}[^|]{{0,60}}\b{_ENDING}",
        rf"\b{_ENDING}[^|]{{0,60}}{_BAD}[^|]{{0,40}}{_QUANTITY}",
        rf"{_BAD} (?:training )?{_QUANTITY}[^|]{{0,40}}\b{_ENDING}",
        rf"^[\w.]*(?:Error|Exception): [^|]{{0,60}}{_QUANTITY}[^|]{{0,40}}{_BAD}",
        rf"^[\w.]*(?:Error|Exception): [^|]{{0,60}}{_BAD}[^|]{{0,40}}{_QUANTITY}",
    ),
    rule(
        TextKind.NON_FINITE_GUARD,
        ("nan", "inf", "finite"),
        r"nonfinite_guard:\s*skip",
        r"Loss NaN/Inf detected",
        r"\brecovering from .*\b(?:nan|inf)\b",
        rf"\bskipp(?:ing|ed)\b(?!\s*[:=]) [^|]{{0,20}}\b{_UNIT_OF_WORK}\b[^|]{{0,60}}{_BAD}",
        rf"{_BAD}[^|]{{0,60}}\bskipp(?:ing|ed)\b(?!\s*[:=])[^|]{{0,20}}\b{_UNIT_OF_WORK}\b",
        rf"{_BAD}[^|]{{0,40}}\b{_UNIT_OF_WORK}\b[^|]{{0,20}}\bskipped\b(?!\s*[:=])",
    ),
)
