"""Reads settings written as Python, without running any of it."""

import ast
import warnings
from typing import Any

_LONGEST = 2000
_WORDS = {"true": True, "false": False, "none": None, "null": None}
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def read_value(text: str) -> Any:
    """A literal as its value, anything else as the text it is."""
    text = text.strip().rstrip(",").strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if len(text) <= _LONGEST:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of Python about what is no literal
                value = ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return _number(text)
        return list(value) if isinstance(value, tuple | set | frozenset) else value
    return text[:_LONGEST]


def _number(text: str) -> Any:
    """A number with thousands separators, or the text."""
    plain = text.replace(",", "")
    if plain != text and plain.replace(".", "", 1).isdigit():
        return float(plain) if "." in plain else int(plain)
    return text


def split_arguments(body: str) -> list[str]:
    """Split ``a=1, b=[2, 3], c=f(4, 5)`` at the commas between arguments."""
    parts: list[str] = []
    closers: list[str] = []
    quote = ""
    start = 0
    for position, char in enumerate(body):
        if quote:
            quote = "" if char == quote and body[position - 1] != "\\" else quote
        elif char in "'\"":
            quote = char
        elif char in _PAIRS:
            closers.append(_PAIRS[char])
        elif closers and char == closers[-1]:
            closers.pop()
        elif char == "," and not closers:
            parts.append(body[start:position])
            start = position + 1
    parts.append(body[start:])
    return parts


def read_arguments(body: str) -> dict[str, Any]:
    """The keyword arguments of a call as printed, ``lr=0.1, name='x'``; the rest is left out."""
    settings: dict[str, Any] = {}
    for part in split_arguments(body):
        key, equals, value = part.partition("=")
        if equals and key.strip().isidentifier():
            settings[key.strip()] = read_value(value)
    return settings


def depth_of(text: str) -> int:
    """How many brackets ``text`` leaves open, quoted ones not counted."""
    depth, quote = 0, ""
    for position, char in enumerate(text):
        if quote:
            quote = "" if char == quote and text[position - 1] != "\\" else quote
        elif char in "'\"" and not (position and text[position - 1].isalnum()):
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
    return depth
