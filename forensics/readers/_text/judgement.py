"""Whether a line with numbers logs something, or merely says something.

A line that counts logs what it measures. A line that does not count has to name a quantity that
stands for itself, and nothing may speak against it: a best value is no new one, a list of
switches is a list of settings, and whole numbers under a name are settings, too.
"""

import re
from collections.abc import Sequence

from forensics.readers._text.counters import Counter, Role
from forensics.readers._text.layout import MEASURED
from forensics.readers._text.masks import mask
from forensics.readers._text.pairs import Pair, is_setting
from forensics.signals import Signal, classify

_STANDS_ALONE = frozenset(
    {
        Signal.TRAIN_LOSS,
        Signal.TRAIN_LOSS_EPOCH,
        Signal.EVAL_LOSS,
        Signal.EVAL_ACCURACY,
        Signal.EVAL_ERROR,
        Signal.TRAIN_ACCURACY,
        Signal.TRAIN_ERROR,
    }
)
_SWITCH = re.compile(r"\w['\"]?\s?[=:]\s?(?:True|False|None|true|false|null)\b")
_BEST = re.compile(r"(?i:\bbest\b)")
_PATH_TAG = re.compile(r"^[A-Za-z][\w-]*(?:/[\w ().-]+)+$")  # throughput/device/TPS
_EXPLAINED = 0.45  # share of a line's letters that its names must make up, where it has no loss
_CURRENT = re.compile(r"(?i:current\b)")
_MODE_WORD = re.compile(r"(?i:^[\s\x1f:*]*(?:(?:train|test|val|eval)\w*[ \t]*:)?)")
_WORDS_WITH_EPOCH = 4  # 'Starting epoch: 3'


def logs(line: str, counters: Sequence[Counter], pairs: Sequence[Pair]) -> bool:
    """Whether the line logs something."""
    measured = [p for p in pairs if classify(p.tag) in MEASURED and not is_setting(p.tag)]
    if _SWITCH.search(line) and all(classify(pair.tag) is Signal.LR for pair in measured):
        return False
    if counters:
        return _logs_at_a_step(line, counters, pairs, measured)
    return any(pair.tag == "train_runtime" for pair in pairs) or (
        not _BEST.search(line) and _logs_alone(line, pairs, measured)
    )


def _logs_at_a_step(
    line: str, counters: Sequence[Counter], pairs: Sequence[Pair], measured: Sequence[Pair]
) -> bool:
    if not pairs and counters[0].role is Role.EPOCH and len(line.split()) <= _WORDS_WITH_EPOCH:
        return True
    if any(pair.strong or classify(pair.tag) is not Signal.LR for pair in measured):
        return True
    certain = any(counter.role in (Role.GLOBAL, Role.TOTAL) for counter in counters)
    known = any(classify(pair.tag) is not Signal.OTHER for pair in pairs)
    return (certain or known) and _explained(line, counters, pairs) >= _EXPLAINED


def _logs_alone(line: str, pairs: Sequence[Pair], measured: Sequence[Pair]) -> bool:
    own = [pair for pair in measured if classify(pair.tag) in _STANDS_ALONE]
    own = [pair for pair in own if not line[slice(*pair.span)].isdigit()]
    if own:
        by_name = any(pair.strong for pair in own) or _explained(line, (), pairs) >= _EXPLAINED
        return by_name or _only_names(line, pairs)
    if any(pair.strong and _CURRENT.match(pair.tag) for pair in measured):
        return True  # 'Current learning rate: 0.01' is no setting
    path = len(pairs) == 1 and pairs[0].strong and _PATH_TAG.match(pairs[0].tag)
    return bool(path) and line[:1].isspace()


def _only_names(line: str, pairs: Sequence[Pair]) -> bool:
    """Whether a stamped line, or one about validation, is nothing but names with their numbers.

    ``2026-08-22 10:00:00: train_loss -0.5``, ``Test:  Acc@1 71.2 Acc@5 90.1``, `` * Acc@1 71.2``.
    """
    masked = mask(line)
    lead = _MODE_WORD.match(masked.text)
    start = lead.end() if lead is not None else 0
    spoken = masked.text[:start].strip(" \t\x1f:")
    named = sum(sum(map(str.isalpha, line[a:b])) for a, b in {pair.name for pair in pairs})
    letters = sum(map(str.isalpha, masked.text[start:]))
    return letters == named and (masked.stamp is not None or bool(spoken))


def _explained(line: str, counters: Sequence[Counter], pairs: Sequence[Pair]) -> float:
    """Share of the line's letters that belong to names of what it counts or measures."""
    letters = sum(map(str.isalpha, mask(line).text))
    strong = [pair for pair in pairs if pair.strong]
    named = sum(sum(map(str.isalpha, pair.tag)) + len(pair.unit) for pair in strong)
    named += sum(len(counter.name) or 5 for counter in counters if counter.role is not Role.TOTAL)
    return min(1.0, named / letters) if letters else 1.0
