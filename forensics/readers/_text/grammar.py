"""Reads one line: what it counts by and what it measures, whoever printed it.

The line is read by its structure: progress bars and noise are set aside, then counters are
found, then named numbers; `judgement` tells whether it logs anything at all.
"""

import re
from dataclasses import replace

from forensics.readers._text.bars import Bar, find_bar, hide_drawings
from forensics.readers._text.counters import Counter, Role, find_counters
from forensics.readers._text.judgement import logs
from forensics.readers._text.layout import Column, Kind, Layout, Reading, Span
from forensics.readers._text.masks import Masked, hide_label, mask
from forensics.readers._text.pairs import AVERAGE, Pair, find_modes, find_pairs, in_mode
from forensics.readers._text.unnamed import find_unnamed

LONGEST_READ = 8192  # of a longer line only so much is read
UNNAMED = "loss"  # tag of a number without a name, where it turns out to be the loss
RUN_MEAN = " (run mean)"  # suffix of the tag of HF's final train_loss


_EVALUATING = re.compile(
    r"(?i:^[\s\x1f]*(?:test|val\w*|eval\w*)\s*:?\s*(?P<ema>\(?ema\)?)?\s*:?\s*"
    r"\[\s*(?P<n>\d+)\s*/\s*\d+)"
)
_MAY_HOLD = re.compile(r"\d|[nN][aA][nN]|[iI][nN][fF]")


def read_line(line: str) -> Reading | None:
    """Read a line of a log; None where it logs nothing."""
    line = line[:LONGEST_READ]
    if _MAY_HOLD.search(line) is None:
        return None
    masked = mask(line)
    bar = find_bar(line, masked.text)
    text = hide_drawings(bar.hidden if bar else masked.text)
    modes = find_modes(text)
    evaluating = _EVALUATING.match(text)
    if evaluating is not None:
        return None if evaluating["ema"] else _read_evaluation(masked, text, modes, evaluating)
    counters, text = _count(text, modes)
    pairs = list(find_pairs(text, modes))
    if bar is not None:
        return _read_bar(bar, masked, counters, pairs)
    unnamed = find_unnamed(text) if counters and not pairs else None
    if unnamed is not None:
        own = Pair(UNNAMED, unnamed, (unnamed[0], unnamed[0]), strong=False)
        return _reading(Kind.UNNAMED, masked, counters, [own])
    if not logs(line, counters, pairs):
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


def _read_evaluation(
    masked: Masked, text: str, modes: list[tuple[int, str]], progress: re.Match[str]
) -> Reading | None:
    """A progress line of an evaluation: ``Test: [70/78] Loss: 1.1 (1.2)``, mean so far 1.2.

    The weights it averages beside those that are trained (EMA) have an evaluation of their own.
    """
    pairs = [
        replace(pair, tag=pair.tag.removesuffix(AVERAGE))
        for pair in find_pairs(text, modes)
        if pair.tag.endswith(AVERAGE)
    ]
    done = [Counter(Role.PART, "", progress.span("n"))]
    reading = _reading(Kind.EVALUATION, masked, done, pairs)
    return replace(reading, learnable=False) if pairs else None


def _kind_of(line: str, pairs: list[Pair]) -> Kind:
    tags = {pair.tag for pair in pairs}
    if "{" in line and ("'epoch'" in line or '"epoch"' in line):
        return Kind.FINAL if "train_runtime" in tags else Kind.DICT
    return Kind.LINE


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
