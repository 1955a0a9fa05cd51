"""Finds names with numbers on a line: ``loss: 2.31``, ``lr=[1e-05]``, ``grad norm 1.2``.

A name is what stands before the number, back to the last thing that cannot be part of a name.
With ``:`` or ``=`` any name is taken; with nothing but a space only a name that is known, since
prose is full of words before numbers.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from forensics.readers._text.masks import HIDDEN
from forensics.readers._text.names import name_before_counter, strong_name, weak_name
from forensics.readers._text.numerals import NUMBER, UNIT, is_unit, scale_of
from forensics.signals import Signal, classify

AVERAGE = " (avg)"  # suffix of the tag of `x (y)`'s second number

_VALUE = re.compile(
    rf"(?<![\w.\-/+])(?P<number>{NUMBER})(?P<unit>{UNIT})?(?![\w+]|\.\d|-\d|\.?{HIDDEN})"
)
_STRONG = re.compile(r"['\"]?(?P<before>[ \t]*)(?:=>|->|[:=])(?P<after>[ \t]*)[\[({ \t]*['\"]?$")
_WEAK = re.compile(r"[^\s(\[,;|=:][)\]]?[ \t]+$")
_WORD_BEFORE_BRACKET = re.compile(r"([A-Za-z_]\w*)\[$")
_MODE = re.compile(
    r"(?i:(?<![\w/'\"])(?P<mode>train(?:ing)?|val(?:id(?:ation|ate)?)?|test(?:ing)?"
    r"|eval(?:uation|uate)?|dev)(?:\s(?:set|results?|metrics|phase))?"
    r"(?=\s*[:\]|)>]|\s+-\s|\s*\[|\s+step\b|\s+epoch\b)|Saving dict for)"
)
_STARRED = re.compile(r"(?i:^[\s\x1f]*\*\s+(?:acc|prec)@)")  # what the ImageNet example ends on
_LIST = re.compile(r"(?<=\w)[ \t]+\[[ \t]*$")  # Pseudo dice [0.71, 0.64]: one for each class
_SETTING_WORDS = re.compile(
    r"(?i:(?:^|[_ .])(?:weight|coeff?|coefficient|lambda|factor|alpha|beta|gamma|ratio|type|fn"
    r"|func|name|mult|multiplier|max|clip|threshold|target|freq|interval|every|steps)$)"
)
_LONGEST_GAP = 200
_MOST_NUMBERS = 512


@dataclass(frozen=True)
class Pair:
    """A named number."""

    tag: str
    span: tuple[int, int]
    """Where the number stands."""
    name: tuple[int, int]
    """Where the name stands."""
    strong: bool
    """Tied by ``:`` or ``=``."""
    scale: float = 1.0
    unit: str = ""


def find_modes(text: str) -> list[tuple[int, str]]:
    """Where a line starts to speak of validation ('val') or of training (''): ``Val: loss 0.6``."""
    if _STARRED.match(text):
        return [(-1, "val")]
    return [
        (match.start(), "" if (match["mode"] or "").lower().startswith("train") else "val")
        for match in _MODE.finditer(text)
    ]


def find_pairs(text: str, modes: list[tuple[int, str]]) -> Iterator[Pair]:
    """Yield the named numbers of a masked line; a name that comes twice is taken once."""
    seen: set[str] = set()
    done = 0
    group = ""
    last: Pair | None = None
    listed = 0
    for match in islice(_VALUE.finditer(text), _MOST_NUMBERS):
        unit = match["unit"] or ""
        if not is_unit(unit):
            continue
        start = max(done, match.start() - _LONGEST_GAP)
        gap = text[start : match.start()]
        if last is not None and gap.strip() == "(" and not unit:
            pair = replace(last, tag=last.tag + AVERAGE, span=match.span("number"))
            if classify(last.tag) not in _AVERAGED:
                continue
        elif last is not None and listed and gap.strip() == ",":
            listed += 1
            tag = f"{last.tag.rpartition('/')[0]}/{listed}"
            pair = last = replace(last, tag=tag, span=match.span("number"))
        else:
            named = _named(gap, start, match, unit)
            if named is None:
                continue
            bracket = _WORD_BEFORE_BRACKET.search(text[start : named.name[0]])
            group = bracket[1] if bracket else "" if "]" in gap else group
            listed = int(_LIST.search(gap) is not None)
            if listed:
                named = replace(named, tag=f"{named.tag}/1")
            pair = last = _within(named, _mode_at(modes, match.start()), group)
        done = match.end()
        if pair.tag not in seen:
            seen.add(pair.tag)
            yield pair


def is_setting(tag: str) -> bool:
    """Whether the name is that of a setting, though it may hold the word loss."""
    return _SETTING_WORDS.search(tag) is not None


def _mode_at(modes: list[tuple[int, str]], position: int) -> str:
    return next((mode for start, mode in reversed(modes) if start < position), "")


def _within(pair: Pair, mode: str, group: str) -> Pair:
    tag = pair.tag
    if group and group not in (tag, "loss", "metrics", "losses"):
        tag = f"{group}/{tag}"
    return replace(pair, tag=in_mode(tag, mode))


def in_mode(tag: str, mode: str) -> str:
    """The tag of a quantity in a part of the log that is about ``mode`` ('' for training)."""
    return f"{mode} {tag}" if mode and classify(tag) in _TRAINING else tag


_AVERAGED = {
    Signal.TRAIN_LOSS,
    Signal.LOSS_COMPONENT,
    Signal.EVAL_LOSS,
    Signal.TRAIN_ACCURACY,
    Signal.EVAL_ACCURACY,
    Signal.GRAD_NORM,
}
_TRAINING = {
    Signal.TRAIN_LOSS,
    Signal.TRAIN_LOSS_EPOCH,
    Signal.TRAIN_ACCURACY,
    Signal.TRAIN_ERROR,
    Signal.LOSS_COMPONENT,
}


def _named(gap: str, offset: int, match: re.Match[str], unit: str) -> Pair | None:
    strong = _STRONG.search(gap)
    if strong is not None:
        body = gap[: strong.start()]
        name = strong_name(body, tight=not strong["before"] and not strong["after"])
    else:
        of_list = _LIST.search(gap)
        body = gap if of_list is None else gap[: of_list.start()]
        name = weak_name(body) if of_list is not None or _WEAK.search(gap) else ""
        if of_list is not None and classify(name) is not Signal.EVAL_ACCURACY:
            name = ""
    name = name or name_before_counter(body)
    if not name:
        return None
    scale = _scale(name, unit)
    if scale is None:
        return None
    start = offset + body.rfind(name)
    return Pair(
        name, match.span("number"), (start, start + len(name)), strong is not None, scale, unit
    )


def _scale(name: str, unit: str) -> float | None:
    """1, or the factor of ``1.05M``; None where the letter's meaning is unknown."""
    factor = scale_of(unit)
    if factor is None:
        return 1.0
    signal = classify(name)
    if signal in (Signal.TOKENS, Signal.SAMPLES, Signal.SPEED):
        return factor
    return 1.0 if signal is Signal.MEMORY else None
