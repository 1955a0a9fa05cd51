"""Settings on plain lines at the top of a log: ``key: value``, ``a=1 b=2``, nested YAML."""

import re
from dataclasses import dataclass, field
from typing import Any

from forensics.readers._text.literals import read_value

_PAIR = re.compile(
    r"^(?P<indent>\s*)(?:[-*•]\s+|Overriding:\s*)?(?P<key>[A-Za-z_][\w./ -]{0,60}?)"
    r"\s*[:=](?:\s+|(?=[\w'\"\[+-]))(?P<value>\S.{0,200})$"
)
_OPENING = re.compile(r"^(?P<indent>\s*)(?P<key>[A-Za-z_][\w.-]{0,60}):\s*$")
_TOKEN = re.compile(r"(?<![\w:=])(?P<key>[A-Za-z_][\w.-]*)[:=](?P<value>[^\s:=,;]+)(?=[\s,;]|$)")
_ONE_VALUE = re.compile(r"^(?:\S+|\[.*\]|\(.*\)|'[^']*'|\"[^\"]*\")$")
_COMMENT = re.compile(r"\s+#\s.*$")
_PROGRESS = re.compile(r"^\d+/\d+$")
_TRANSFORMERS = re.compile(r"^\s*(?P<key>[A-Z][\w ]+?(?: \(w\. .*\))?) = (?P<value>[\d,]+)\s*$")
_TRANSFORMERS_KEYS = {
    "num epochs": "num_train_epochs",
    "instantaneous batch size per device": "per_device_train_batch_size",
    "total train batch size (w. parallel, distributed & accumulation)": "total_train_batch_size",
    "gradient accumulation steps": "gradient_accumulation_steps",
    "total optimization steps": "max_steps",
    "num update steps per epoch": "num_update_steps_per_epoch",
}
_MOST_WORDS = 4  # a longer key is a sentence
_COVERED = 0.6  # share of a line that its pairs must make up


@dataclass(eq=False)
class PlainSettings:
    """Reads lines one after the other, since an indented key belongs to the one above."""

    _parents: list[tuple[int, str]] = field(default_factory=list)
    """Indent and key of the open sections."""

    def read(self, line: str) -> dict[str, Any]:
        """The settings on a line; empty where it has none."""
        known = _TRANSFORMERS.match(line)
        if known is not None and known["key"].lower() in _TRANSFORMERS_KEYS:
            return {_TRANSFORMERS_KEYS[known["key"].lower()]: read_value(known["value"])}
        opening = _OPENING.match(line)
        if opening is not None:
            self._close(len(opening["indent"]))
            self._parents.append((len(opening["indent"]), opening["key"]))
            return {}
        return _read_tokens(line) or self._read_pair(line)

    def _read_pair(self, line: str) -> dict[str, Any]:
        match = _PAIR.match(line)
        if match is None or len(match["key"].split()) > _MOST_WORDS:
            return {}
        value = _COMMENT.sub("", match["value"]).strip()
        if not _ONE_VALUE.match(value) or _PROGRESS.match(value):
            return {}
        self._close(len(match["indent"]))
        key = ".".join([*(key for _, key in self._parents), match["key"].strip()])
        return {key: read_value(value)}

    def _close(self, indent: int) -> None:
        """Leave the sections that a line with this indent is not part of."""
        while self._parents and self._parents[-1][0] >= indent:
            self._parents.pop()


def _read_tokens(line: str) -> dict[str, Any]:
    """``world_size:8 grad_accum_steps:1``, perhaps with a word and a colon before it all."""
    if "(" in line:
        return {}
    tokens = list(_TOKEN.finditer(line))
    text = line.strip()
    if len(tokens) < 2 or sum(len(token[0]) for token in tokens) <= _COVERED * len(text):
        return {}
    head, colon, _ = text.partition(": ")
    prefix = f"{head}." if colon and head.isidentifier() else ""
    return {prefix + token["key"]: read_value(token["value"]) for token in tokens}
