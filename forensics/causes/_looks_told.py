"""Looks at what the configuration names: the loss function, the schedule, the release."""

import re

from forensics.case import Case
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.causes._looks_model import setting

_KEYS = (
    "loss", "loss_fn", "loss_type", "loss_name", "loss_function", "criterion", "objective",
)  # fmt: skip
_SINGULAR = (
    (r"triplet|semi-?hard|hard[-_ ]?mining|n[-_ ]?pair|lifted", "a mean over mined pairs, of which "
     "a small batch may hold none"),
    (r"gradient[-_ ]?penalty|w?gan[-_ ]?gp\b", "the norm of a gradient, which has no derivative "
     "at 0"),
    (r"arc[-_ ]?face|angular|sphere[-_ ]?face|geodesic", "an arc cosine, which has no finite "
     "derivative at 1"),
    (r"stoi|si[-_]?snr|si[-_]?sdr|rmse|root[-_ ]mean", "a root or a logarithm of an energy, which "
     "has no finite derivative at 0"),
)  # fmt: skip
"""Losses whose formula has a point without a finite value or derivative, and what it is."""


_RELEASE = re.compile(r"(\d+)\.(\d+)")
_MISCOUNTED = ((4, 46), (4, 48))
"""transformers from 4.46.0 to 4.48 (pull requests 34191, 35207, 35438 and 35651)."""


def singular_loss(case: Case) -> Seen:
    """The loss is of a kind that has no finite value or derivative at inputs that do occur."""
    raw = case.config.raw.items()
    named = [str(v) for k, v in raw if k.rpartition(".")[2].lower() in _KEYS]
    named += [case.config.model or ""]
    for name in named:
        for pattern, part in _SINGULAR:
            if re.search(pattern, name, re.IGNORECASE):
                return setting(True, f"The loss, {name}, holds {part}.")
    return NOT_APPLICABLE


def release_miscounts(case: Case) -> Seen:
    """The release of transformers is one whose Trainer scaled the accumulated loss wrongly."""
    if (case.config.grad_accum or 1) < 2:
        return NOT_APPLICABLE
    keys = ("transformers_version", "transformers")
    found = (v for k, v in case.config.raw.items() if k.rpartition(".")[2].lower() in keys)
    named = next((m for value in found if (m := _RELEASE.match(str(value)))), None)
    if named is None:
        return NOT_APPLICABLE
    first, last = _MISCOUNTED
    return Seen(
        first <= (int(named[1]), int(named[2])) <= last,
        f"The run used transformers {named[0]}; from 4.46 to 4.48 its Trainer scaled the loss by "
        "the accumulation for some models.",
        source="configuration",
    )


def decay_unseen(case: Case) -> Seen:
    """The schedule falls by factors, and no rate was logged: it may fall at the wrong steps.

    Schedulers that are meant to count epochs are easily stepped once a batch, and a rate that is
    divided by ten after every batch is gone after ten.
    """
    schedule = case.config.schedule
    if schedule is None or case.lr is not None:
        return NOT_APPLICABLE
    falls = schedule in ("step", "multistep", "exponential")
    verb = "falls" if falls else "does not fall"
    return setting(
        falls, f"The rate {verb} by factors (schedule: {schedule}), and it was not logged when."
    )
