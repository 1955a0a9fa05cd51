"""Finds what a line counts by: step, iteration, epoch, ``n/total`` in brackets.

``Epoch [3/10], Step [100/600]`` counts twice, and only the rest of the file tells whether the
second number starts again with each epoch; ``axis`` decides that, this module only finds them.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from forensics.readers._text.masks import HIDDEN


class Role(StrEnum):
    """What a number on a line is."""

    GLOBAL = "global"  # a step that never starts again
    COUNT = "count"  # a step, perhaps within an epoch
    TOTAL = "total"  # what COUNT counts up to
    EPOCH = "epoch"
    SAMPLES = "samples"  # samples within an epoch
    PART = "part"  # a batch of an evaluation: how much of it is done
    VALUE = "value"


@dataclass(frozen=True)
class Counter:
    """One number that counts."""

    role: Role
    name: str
    span: tuple[int, int]
    """Where its digits stand."""


_WHOLE = r"\d+(?:,\d{3})*(?!\d)"
_N = rf"{_WHOLE}(?:\.\d+)?(?:[eE]\+?\d+)?"
_Q = r"['\"]?"
_END = r"(?![\w%]|\.\d)"
_SKIP = (
    r"(?:(?<=\d/)|(?<![\w/]))(?<!total )(?<!max )(?<!num )(?<!per )(?<!every )"
    r"(?<!best )(?<!last )(?<!warmup )"
)
_SIZED = rf"(?:\s*(?:/|of)\s*(?P<total>{_WHOLE}|\?))?"
_EPOCH = re.compile(
    rf"(?i:{_SKIP}(?:epoch|ep)(?:\s?\((?:train|val|valid|test)\))?{_Q}\s*[:=#]?\s*{_Q}[\[(]?\s*)"
    rf"(?P<n>{_N})(?:\s*(?:/|of)\s*\d+)?{_END}[\])]?"
)
_BATCHES = re.compile(
    rf"(?i:(?<![\w/])(?P<epoch>\d+)epoch:\w+:\d+-(?P<n>\d+)batch(?:es)?{_END})"
    r"|(?i:^[\s\x1f]*(?P<whole>\d+)epoch (?=results?:))"
)
"""ESPnet's ``2epoch:train:21-40batch:`` and ``2epoch results:``."""
_STEP_NAMES = (
    r"(?P<name>global[_ ]?step/max_steps|(?:trainer/)?global[_ -]?(?:step|iter(?:ation)?|batch_idx)"
    r"|planned_step|(?:train_|valid_)?num_updates|updates?|training[_ ]step|train[_ ]step|steps?"
    r"|iterations?|iters?|itr|minibatch|mini-batch|batch(?:_idx)?|it)"
)
_STEP = re.compile(
    rf"(?i:{_SKIP}{_STEP_NAMES}(?:\s?\((?:train|val|valid|test)\))?{_Q}\s*[:=#]?\s*{_Q}[\[(]?\s*)"
    rf"(?P<n>{_N}){_SIZED}{_END}[\])]?"
)
_SHORT_STEP = re.compile(rf"^\s*(?P<name>s)[:=]\s?(?P<n>\d+){_END}")
_AFTER_EPOCH = re.compile(
    rf"[\s,|:{HIDDEN}-]*+[\[(]?\s*+(?P<n>{_WHOLE})\s*/\s*(?P<total>{_WHOLE})"
    r"(?P<percent>\s*\(\s*\d+(?:\.\d+)?%\))?(?:\s*batches)?\s*[\])]?(?![\w.])"
)
_DESC = re.compile(r"^\s*(?P<epoch>\d+)\|(?P<n>\d+)\|")  # torchtune's bar: 1|12|Loss: 1.23
_TRAIN_EPOCH = re.compile(r"^[\s\x1f]*Train(?:ing)?:\s*(?P<n>\d+)\s*(?=\[)")
_LEADING = re.compile(
    rf"^[\s{HIDDEN}]*+[\[(]?\s*+(?P<n>{_WHOLE})\s*/\s*(?P<total>{_WHOLE}|Unknown|\?)\s*[\])]?(?![\w.])"
)
_LEADING_BRACKETS = re.compile(
    rf"^[\s{HIDDEN}]*+[\[(]\s*+(?P<epoch>\d+)\s*+/\s*\d+[\])]\s*"
    r"[\[(]\s*(?P<n>\d+)\s*(?:/\s*(?P<total>\d+)\s*)?[\])]"
)
_LEADING_PAIR = re.compile(rf"^[\s{HIDDEN}]*+\[\s*+(?P<epoch>\d+),\s*(?P<n>\d+)\]")
_LEADING_NUMBER = re.compile(rf"^[\s{HIDDEN}]*+(?:\[(?P<a>\d+)\](?=\s)|(?P<b>\d+):(?=\s))")
_TRAILING_SAMPLES = re.compile(r"\[\s*(?P<n>\d+)\s*/\s*(?P<total>\d+)\]\s*$")
_MODE_BRACKET = re.compile(
    r"(?i:iter\((?:train|val|test)\)\s*)\[\s*(?P<n>\d+)\s*/\s*(?P<total>\d+)\s*\]"
)
_GLOBAL_NAMES = ("global", "update", "planned")


def find_counters(text: str) -> tuple[list[Counter], str]:
    """Find every counter of a masked line.

    Returns:
        The counters in the order in which they should be asked, and the line with them hidden.
    """
    found: list[Counter] = []
    for search in (_find_epoch, _find_steps, _find_bare):
        text = search(text, found)
    return found, text


def _find_epoch(text: str, found: list[Counter]) -> str:
    desc = _DESC.match(text)
    if desc is not None:
        found.append(Counter(Role.EPOCH, "epoch", desc.span("epoch")))
        found.append(Counter(Role.GLOBAL, "step", desc.span("n")))
        return _hide(text, *desc.span())
    batches = _BATCHES.search(text)
    if batches is not None:
        whole = batches["whole"] is not None
        found.append(Counter(Role.EPOCH, "epoch", batches.span("whole" if whole else "epoch")))
        if not whole:
            found.append(Counter(Role.COUNT, "batch", batches.span("n")))
        return _hide(text, *batches.span())
    match = _EPOCH.search(text) or _TRAIN_EPOCH.search(text)
    if match is None:
        return text
    found.append(Counter(Role.EPOCH, "epoch", match.span("n")))
    end = match.end()
    following = _AFTER_EPOCH.match(text, end)
    if following is not None and "." not in match["n"]:
        before = text[max(0, match.start() - 6) : end].lower()
        samples = "train epoch" in before and following["percent"]  # the MNIST example's habit
        found.append(Counter(Role.SAMPLES if samples else Role.COUNT, "", following.span("n")))
        found.append(Counter(Role.TOTAL, "", following.span("total")))
        end = following.end()
    return _hide(text, match.start(), end)


def _find_steps(text: str, found: list[Counter]) -> str:
    taken = any(counter.role in (Role.COUNT, Role.SAMPLES) for counter in found)
    matches = list(_STEP.finditer(text)) or list(_SHORT_STEP.finditer(text))
    for match in matches:
        name = match["name"].lower()
        if name.endswith("s") and not match.groupdict().get("total") and name not in _PLURAL_STEPS:
            continue  # 'steps: 100' is a setting
        if "." in match["n"] and "e" not in match["n"].lower():
            continue  # fairseq's update is a fraction of an epoch
        certain = any(word in name for word in _GLOBAL_NAMES)
        if certain or not taken:
            found.append(Counter(Role.GLOBAL if certain else Role.COUNT, name, match.span("n")))
            taken = taken or not certain
            if not certain and (match.groupdict().get("total") or "?") != "?":
                found.append(Counter(Role.TOTAL, name, match.span("total")))
        text = _hide(text, *match.span())
    return text


_PLURAL_STEPS = (
    "num_updates",
    "train_num_updates",
    "valid_num_updates",
    "updates",
    "global_step/max_steps",
    "s",
)


def _find_bare(text: str, found: list[Counter]) -> str:
    """Counters without a name, only where nothing better was found."""
    if any(counter.role is not Role.EPOCH for counter in found):
        return text
    match = _LEADING_BRACKETS.match(text) or _LEADING_PAIR.match(text)
    if match is not None and not found:
        found.append(Counter(Role.EPOCH, "epoch", match.span("epoch")))
        found.append(Counter(Role.COUNT, "batch", match.span("n")))
        if match.groupdict().get("total"):
            found.append(Counter(Role.TOTAL, "batch", match.span("total")))
        return _hide(text, *match.span())
    match = _MODE_BRACKET.search(text) or _LEADING.match(text)
    if match is not None:
        found.append(Counter(Role.COUNT, "", match.span("n")))
        if match["total"].isdigit():
            found.append(Counter(Role.TOTAL, "", match.span("total")))
        return _hide(text, *match.span())
    match = _TRAILING_SAMPLES.search(text)
    if match is not None:
        found.append(Counter(Role.SAMPLES, "", match.span("n")))
        found.append(Counter(Role.TOTAL, "", match.span("total")))
        return _hide(text, *match.span())
    match = _LEADING_NUMBER.match(text)
    if match is not None and not found:
        found.append(Counter(Role.COUNT, "", match.span("a" if match["a"] else "b")))
        return _hide(text, *match.span())
    return text


def _hide(text: str, start: int, end: int) -> str:
    return text[:start] + HIDDEN * (end - start) + text[end:]
