"""Reads one line: what it counts by and what it measures, whoever printed it.

``read_line`` decides by structure alone whether a line logs something: it has to name a quantity
that is measured, or to count and say little else. Sentences that merely contain numbers are not
log lines, and a setting is not a quantity.
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from forensics.readers._text.bars import Bar, find_bar, hide_drawings
from forensics.readers._text.counters import Counter, Role, find_counters
from forensics.readers._text.masks import Masked, hide_label, mask
from forensics.readers._text.pairs import AVERAGE, Pair, find_modes, find_pairs, in_mode, is_setting
from forensics.signals import Signal, classify

RUN_MEAN = " (run mean)"  # suffix of the tag of HF's final train_loss


class Kind(StrEnum):
    """What printed a line, as far as that matters."""

    LINE = "line"
    DICT = "dict"  # HF's dictionary, which counts by a fraction of epochs
    BAR = "bar"  # repaints
    KERAS = "keras"  # repaints a mean over the epoch
    BOX = "box"  # several lines
    FINAL = "final"  # HF's last dictionary


@dataclass(frozen=True)
class Column:
    """One number of a line."""

    tag: str
    role: Role
    scale: float = 1.0


@dataclass(frozen=True)
class Layout:
    """What lines of one make have in common."""

    kind: Kind
    columns: tuple[Column, ...]
    """In the order in which their digits stand on the line."""

    def find(self, role: Role) -> int | None:
        """Index of the first column with that role."""
        return next((k for k, column in enumerate(self.columns) if column.role is role), None)

    @property
    def tags(self) -> list[str]:
        """The quantities, without what only counts."""
        return [column.tag for column in self.columns if column.role is Role.VALUE]

    @property
    def counts(self) -> bool:
        """Whether such a line tells a step, an epoch or the like."""
        return any(column.role is not Role.VALUE for column in self.columns)

    @property
    def measures(self) -> bool:
        """Whether such a line tells how training goes, not only how fast or how far."""
        return any(classify(tag) in MEASURED for tag in self.tags)


Span = tuple[int, int]


@dataclass(frozen=True)
class Reading:
    """One line, read."""

    layout: Layout
    spans: tuple[Span, ...]
    """Where the digits of each column stand."""
    names: tuple[Span, ...]
    """Where names stand, which is what the learned template has to keep."""
    stamp: Span | None = None
    open_parts: tuple[tuple[Span, str], ...] = ()
    learnable: bool = True
    """Whether lines that look alike mean alike."""


MEASURED = frozenset(
    {
        Signal.TRAIN_LOSS,
        Signal.TRAIN_LOSS_EPOCH,
        Signal.LOSS_COMPONENT,
        Signal.EVAL_LOSS,
        Signal.GRAD_NORM,
        Signal.GRAD_NORM_CLIPPED,
        Signal.GRAD_NORM_PARAM,
        Signal.LOSS_SCALE,
        Signal.SKIPPED_STEPS,
        Signal.NAN_ITERATIONS,
        Signal.CLIP_FRACTION,
        Signal.PARAM_NORM,
        Signal.UPDATE_RATIO,
        Signal.ACTIVATION,
        Signal.TRAIN_ACCURACY,
        Signal.EVAL_ACCURACY,
        Signal.EVAL_ERROR,
        Signal.TRAIN_ERROR,
        Signal.REWARD,
        Signal.RL,
        Signal.LR,
    }
)
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
_EVALUATING = re.compile(
    r"(?i:^[\s\x1f]*(?:test|val\w*|eval\w*)\s*:?\s*\[\s*(?P<n>\d+)\s*/\s*(?P<total>\d+))"
)
_SWITCH = re.compile(r"\w['\"]?\s?[=:]\s?(?:True|False|None|true|false|null)\b")
_BEST = re.compile(r"(?i:\bbest\b)")
_MAY_HOLD = re.compile(r"\d|[nN][aA][nN]|[iI][nN][fF]")
_EXPLAINED = 0.45  # share of a line's letters that its names must make up, where it has no loss
_LONGEST = 8192


def read_line(line: str) -> Reading | None:
    """Read a line of a log; None where it logs nothing."""
    line = line[:_LONGEST]
    if _MAY_HOLD.search(line) is None:
        return None
    masked = mask(line)
    bar = find_bar(line, masked.text)
    text = hide_drawings(bar.hidden if bar else masked.text)
    modes = find_modes(text)
    evaluating = _EVALUATING.match(text)
    if evaluating is not None:
        last = int(evaluating["n"]) >= int(evaluating["total"]) - 1
        return _read_evaluation(masked, text, modes) if last else None
    counters, text = _count(text, modes)
    pairs = list(find_pairs(text, modes))
    if bar is not None:
        return _read_bar(bar, masked, counters, pairs)
    if not _logs(line, counters, pairs):
        return None
    return _reading(_kind_of(line, pairs), masked, counters, pairs)


def as_validation(reading: Reading) -> Reading:
    """The same line under a heading that says validation."""
    columns = tuple(
        replace(column, tag=in_mode(column.tag, "val")) for column in reading.layout.columns
    )
    layout = replace(reading.layout, columns=columns)
    return replace(reading, layout=layout, learnable=False)


def _count(text: str, modes: list[tuple[int, str]]) -> tuple[list[Counter], str]:
    """The counters of a line, without those that count the batches of an evaluation."""
    counters, hidden = find_counters(hide_label(text))
    if not counters:
        counters, hidden = find_counters(text)
    if any(mode == "val" for _, mode in modes[:1]) and Role.TOTAL in {c.role for c in counters}:
        counters = [c for c in counters if c.role not in (Role.COUNT, Role.TOTAL, Role.SAMPLES)]
    return counters, hidden


def _read_bar(
    bar: Bar, masked: Masked, counters: list[Counter], pairs: list[Pair]
) -> Reading | None:
    if bar.evaluation:
        return None
    epochs = [counter for counter in counters if counter.role is Role.EPOCH]
    if bar.counts_epochs:
        own = [Counter(Role.EPOCH, "epoch", bar.n)]
    else:
        steps = [counter for counter in counters if counter.role is Role.GLOBAL]
        own = [*epochs, *(steps or [Counter(Role.COUNT, "", bar.n)])]
        if bar.total is not None:
            own.append(Counter(Role.TOTAL, "", bar.total))
    kind = Kind.KERAS if bar.keras else Kind.BAR
    kept = [pair for pair in pairs if pair.strong]
    return _reading(kind, masked, own, kept, bar.open_parts)


def _read_evaluation(masked: Masked, text: str, modes: list[tuple[int, str]]) -> Reading | None:
    """The last progress line of an evaluation: ``Test: [78/78] Loss: 1.1 (1.2)``, mean 1.2."""
    pairs = [
        replace(pair, tag=pair.tag.removesuffix(AVERAGE))
        for pair in find_pairs(text, modes)
        if pair.tag.endswith(AVERAGE)
    ]
    return replace(_reading(Kind.LINE, masked, [], pairs), learnable=False) if pairs else None


def _kind_of(line: str, pairs: list[Pair]) -> Kind:
    tags = {pair.tag for pair in pairs}
    if "{" in line and ("'epoch'" in line or '"epoch"' in line):
        return Kind.FINAL if "train_runtime" in tags else Kind.DICT
    return Kind.LINE


def _logs(line: str, counters: list[Counter], pairs: list[Pair]) -> bool:
    """Whether the line logs something."""
    measured = [
        pair for pair in pairs if classify(pair.tag) in MEASURED and not is_setting(pair.tag)
    ]
    if _SWITCH.search(line) and all(classify(pair.tag) is Signal.LR for pair in measured):
        return False
    if counters:
        if not pairs and counters[0].role is Role.EPOCH and len(line.split()) <= 4:
            return True  # 'Starting epoch: 3'
        if any(pair.strong or classify(pair.tag) is not Signal.LR for pair in measured):
            return True
        certain = any(counter.role in (Role.GLOBAL, Role.TOTAL) for counter in counters)
        known = any(classify(pair.tag) is not Signal.OTHER for pair in pairs)
        return (certain or known) and _explained(line, counters, pairs) >= _EXPLAINED
    if _BEST.search(line):
        return False
    own = [pair for pair in measured if classify(pair.tag) in _STANDS_ALONE]
    if any(pair.tag == "train_runtime" for pair in pairs):
        return True
    if not own:
        return line[:1].isspace() and len(pairs) == 1 and pairs[0].strong and "/" in pairs[0].tag
    return any(pair.strong for pair in own) or _explained(line, counters, pairs) >= _EXPLAINED


def _explained(line: str, counters: list[Counter], pairs: list[Pair]) -> float:
    """Share of the line's letters that belong to names of what it counts or measures."""
    letters = sum(c.isalpha() for c in mask(line).text)
    named = sum(
        sum(c.isalpha() for c in pair.tag) + len(pair.unit) for pair in pairs if pair.strong
    )
    named += sum(len(counter.name) or 5 for counter in counters if counter.role is not Role.TOTAL)
    return min(1.0, named / letters) if letters else 1.0


def _reading(
    kind: Kind,
    masked: Masked,
    counters: list[Counter],
    pairs: list[Pair],
    open_parts: tuple[tuple[Span, str], ...] = (),
) -> Reading:
    numbers: list[tuple[Span, Column]] = []
    taken: set[Role] = set()
    for counter in counters:
        if counter.role not in taken:
            taken.add(counter.role)
            numbers.append((counter.span, Column(counter.name, counter.role)))
    for pair in pairs:
        suffix = RUN_MEAN if kind is Kind.FINAL and "loss" in pair.tag else ""
        numbers.append((pair.span, Column(pair.tag + suffix, Role.VALUE, pair.scale)))
    numbers.sort(key=lambda number: number[0])
    layout = Layout(kind, tuple(column for _, column in numbers))
    names = tuple(pair.name for pair in pairs)
    spans = tuple(span for span, _ in numbers)
    return Reading(layout, spans, names, masked.stamp, open_parts)
