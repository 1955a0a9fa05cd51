"""Settings of one file, flattened and indexed by the ways in which a key may be asked for."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

from forensics.readers._settings.values import flag

T = TypeVar("T")
MAX_KEYS = 20_000
MAX_DEPTH = 24
MAX_STAGES = 64
"""A longer list of mappings is data, not stages of a schedule."""

ELSEWHERE = frozenset(
    {
        *("eval", "evaluation", "evaluator", "val", "valid", "validation", "test", "infer"),
        *("inference", "generation", "generation_config", "teacher", "ref", "ref_model", "critic"),
        *("reward_model", "rollout", "val_dataloader", "test_dataloader", "val_cfg", "test_cfg"),
        *("vision_config", "audio_config", "visual", "ema", "search_space", "sweep"),
        *("quantization_config", "bnb_config", "log_history"),
    }
)
"""A key below one of these is not a setting of the training itself."""


def flatten(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Join nested keys with '.', lists of mappings by position; other lists stay values.

    Bounded in depth and number, for an alias in YAML can make a small file infinite.
    """
    flat: dict[str, Any] = {}
    for key, value in islice(_leaves(settings, "", MAX_DEPTH), MAX_KEYS):
        flat.setdefault(key, value)
    return flat


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    parts = _parts(value)
    if parts is None or depth == 0:
        if path:
            yield path, value if parts is None else str(type(value).__name__)
        return
    for key, inner in parts:
        below = f"{path}.{key}" if path and key else path or key
        yield from _leaves(inner, below, depth - 1)


def _parts(value: Any) -> list[tuple[str, Any]] | None:
    """What is to be flattened further, or None for a value."""
    if isinstance(value, Mapping) and value:
        if "value" in value and set(value) <= {"desc", "value"}:
            return [("", value["value"])]  # how W&B's config.yaml writes each setting
        return [(str(key), inner) for key, inner in value.items()]
    if not isinstance(value, (list, tuple)) or not 0 < len(value) <= MAX_STAGES:
        return None
    if all(isinstance(one, Mapping) for one in value):
        return [(str(place), inner) for place, inner in enumerate(value)]
    return None


def canonical(key: str) -> tuple[str, ...]:
    """A key as it is compared: lower case, ``-`` and ``/`` as separators of words and parts."""
    return tuple(
        key.strip().lower().replace("-", "_").replace(" ", "_").replace("/", ".").split(".")
    )


@dataclass(frozen=True)
class FlatSettings:
    """One file's settings."""

    source: str
    flat: Mapping[str, Any]

    @cached_property
    def _by_last(self) -> dict[str, list[tuple[tuple[str, ...], Any]]]:
        index: dict[str, list[tuple[tuple[str, ...], Any]]] = {}
        for key, value in self.flat.items():
            parts = canonical(key)
            index.setdefault(parts[-1], []).append((parts, value))
        for found in index.values():
            found.sort(key=lambda item: len(item[0]))
        return index

    def values(self, name: str) -> Iterator[Any]:
        """Values of the keys that end in ``name`` (dotted), the least nested first."""
        wanted = tuple(name.split("."))
        for parts, value in self._by_last.get(wanted[-1], ()):
            above = parts[: len(parts) - len(wanted)]
            if parts[len(above) :] == wanted and not ELSEWHERE.intersection(above):
                yield value

    def first(self, parser: Callable[[Any], T | None], *names: str) -> T | None:
        """The first value under ``names`` that the parser understands."""
        parsed = (parser(raw) for name in names for raw in self.values(name))
        return next((value for value in parsed if value is not None), None)

    def switch(self, *names: str) -> bool | None:
        """True where any of the keys is switched on, False where all are off, None without any."""
        states = [flag(raw) for name in names for raw in self.values(name)]
        known = [state for state in states if state is not None]
        return any(known) if known else None

    def has(self, *names: str) -> bool:
        """True where all of the keys were written, whatever their values."""
        return all(any(True for _ in self.values(name)) for name in names)
