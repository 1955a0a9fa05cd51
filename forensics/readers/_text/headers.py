"""Reads the settings that a run prints before it trains, and where an attempt begins.

Argument dumps (``Namespace(…)``, ``TrainingArguments(…)``, Megatron's dotted lines, DeepSpeed's
JSON), the command line, and plain ``key: value`` lines at the top. A dump that comes again after
steps were logged opens another attempt in the same file.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from forensics.readers._text.commands import read_command
from forensics.readers._text.literals import depth_of, read_arguments, read_value
from forensics.readers._text.plain_settings import PlainSettings

_CALL = re.compile(
    r"^.{0,120}?(?<!\w)(?P<name>\w*(?:Namespace|Arguments|Args|Config|Params))\((?=.*=|\s*$)"
)
_DOTTED = re.compile(r"^\s*(?P<key>[A-Za-z_]\w*) \.{3,} ?(?P<value>.*)$")
_JSON_START = re.compile(
    r"^\s*(?:json\s*=\s*|(?:Model )?[Cc]onfig(?:uration)?\s?\w*\s*[:=]?\s*)?\{\s*$"
)
_DICT_LINE = re.compile(r"^\s*(?:\w+\s*[:=]\s*)?(?P<body>\{\s*['\"]\w+['\"]\s*:.*\})\s*$")
_TITLE = re.compile(r"^[^\w-]*-{3,} ?(?:end of )?arguments ?-{3,}")
_LONGEST_BLOCK = 200_000
_LONGEST_HEAD = 400
_MOST_SETTINGS = 5000


@dataclass(frozen=True)
class Header:
    """Settings found at one place of the file."""

    at: int
    line: int
    text: str
    settings: Mapping[str, Any]
    opens: bool
    """Whether a thing like this stands at the beginning of an attempt."""


@dataclass(eq=False)
class Headers:
    """Collects settings while the file streams by."""

    found: list[Header] = field(default_factory=list)
    _block: list[str] = field(default_factory=list)
    _start: tuple[int, int] = (0, 0)
    _depth: int = 0
    _size: int = 0
    _kind: str = ""
    _head: str = ""
    _plain: PlainSettings = field(default_factory=PlainSettings)
    _count: int = 0

    @property
    def in_block(self) -> bool:
        """Whether a dump of several lines has begun that has not ended."""
        return bool(self._kind)

    def feed(self, line: str, number: int, at: int) -> bool:
        """Look at a line that may be part of a dump; returns whether it was."""
        if self._kind:
            return self._go_on(line)
        if self._count > _MOST_SETTINGS:
            return False
        return self._dotted(line, number, at) or self._begin(line, number, at)

    def feed_dict(self, line: str, number: int, at: int) -> bool:
        """Look at a line that logs nothing; returns whether it is a dictionary of settings."""
        match = _DICT_LINE.match(line)
        value = read_value(match["body"]) if match else None
        if not isinstance(value, dict) or not any(_is_rate(str(key)) for key in value):
            return False
        self._add(Header(at, number, line.strip()[:_LONGEST_HEAD], _named(value), opens=True))
        return True

    def feed_plain(self, line: str, number: int, at: int) -> bool:
        """Look at a line before the first step; returns whether it is ``key: value``."""
        if self._count > _MOST_SETTINGS or len(line) > 1000:
            return False
        settings = self._plain.read(line)
        if settings:
            self._add(Header(at, number, line.strip(), settings, opens=False))
        return bool(settings)

    def close(self) -> None:
        """End a dump that the end of the file cut short."""
        if self._kind:
            self._end()

    def _add(self, header: Header) -> None:
        self._count += 1 + len(header.settings)
        self.found.append(header)

    def _dotted(self, line: str, number: int, at: int) -> bool:
        if _TITLE.match(line):
            self._add(Header(at, number, line.strip(), {}, opens="end of" not in line))
            return True
        match = _DOTTED.match(line)
        if match is not None:
            value = read_value(match["value"])
            self._add(Header(at, number, line.strip(), {match["key"]: value}, opens=False))
        return match is not None

    def _begin(self, line: str, number: int, at: int) -> bool:
        self._start = (at, number)
        self._head = line.strip()[:_LONGEST_HEAD]
        call = _CALL.match(line)
        if call is not None:
            self._open("call", line[call.end() - 1 :])
            return True
        if _JSON_START.match(line):
            self._open("json", "{")
            return True
        if read_command(line.rstrip("\\ ")) is not None:
            self._open("command", line)
            return True
        return False

    def _open(self, kind: str, text: str) -> None:
        self._kind, self._block, self._size, self._depth = kind, [], 0, 0
        self._go_on(text)

    def _go_on(self, text: str) -> bool:
        self._block.append(text)
        self._size += len(text)
        if self._kind == "command":
            done = not text.rstrip().endswith("\\")
        else:
            self._depth += depth_of(text)
            done = self._depth <= 0
        if done or self._size > _LONGEST_BLOCK:
            self._end()
        return True

    def _end(self) -> None:
        kind, body = self._kind, "\n".join(self._block)
        at, number = self._start
        self._kind, self._block = "", []
        settings: dict[str, Any] = {}
        if kind == "call":
            settings = read_arguments(body[1:].rstrip().removesuffix(")"))
        elif kind == "command":
            settings = read_command(re.sub(r"\\\s*\n", " ", body)) or {}
        else:
            settings = _read_json(body)
        opens = kind == "command" or any(_is_rate(key) for key in settings)
        self._add(Header(at, number, self._head, settings, opens))


def _is_rate(key: str) -> bool:
    """A setting that every training has: what holds it is the argument dump of a training."""
    return key.lower() in ("lr", "learning_rate", "optimizer", "base_lr", "batch_size", "epochs")


def _named(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): item for key, item in value.items()}


def _read_json(body: str) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = read_value(body)
    return _named(value) if isinstance(value, dict) else {}
