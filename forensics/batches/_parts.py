"""Which tensor of a batch is what, by CONTRACT's names, its type and its shape.

What is not recognised is left alone: a wrong guess would accuse sound data.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensics.batches._limits import Limits

Array = NDArray[Any]
Named = Mapping[str, Array]
"""The tensors of a batch by name; names of nested ones are joined by ``.``."""

_TOKENS = {"input_ids", "decoder_input_ids", "tokens", "token_ids", "ids", "idx", "src_tokens"}
_FEATURES = {
    *("inputs", "input", "x", "data", "features", "pixel_values", "images", "image", "img"),
    *("input_values", "input_features", "inputs_embeds", "tensor"),
}
_NUMBERS = {"ids", "idx"}
"""Of one dimension these number the samples."""
_LABELS = {"labels", "label", "targets", "target", "y"}
_MASK = "attention_mask"
_LOSS_MASKS = {"loss_mask", "label_mask", "labels_mask", "target_mask", "loss_weights"}
"""What each label counts in the loss."""
_PAIR = {"0": "inputs", "1": "labels"}
"""A batch of two tensors without names is what every tutorial makes it."""
_NARROW = 8
"""Integers of fewer columns are settings of a sample rather than a sequence."""


class Kind(StrEnum):
    """What a tensor is to the training."""

    TOKENS = "tokens"
    FEATURES = "features"  # images, sound, measurements
    LABELS = "labels"  # classes or tokens
    TARGETS = "targets"  # numbers to be met: regression, soft labels
    MASK = "mask"
    LOSS_MASK = "loss_mask"
    LOOSE = "loose"  # floating-point, of unknown purpose
    OTHER = "other"


@dataclass(frozen=True, eq=False)
class Part:
    """One tensor of a batch."""

    name: str
    kind: Kind
    values: Array
    """Shape (samples, ...)."""
    counts: NDArray[np.bool_] | None = None
    """Of tokens: which are no padding, where a mask says so; same shape."""


@dataclass(frozen=True, eq=False)
class Batch:
    """The tensors of one batch, recognised."""

    parts: tuple[Part, ...]

    def of(self, *kinds: Kind) -> tuple[Part, ...]:
        """Tensors of the given kinds."""
        return tuple(part for part in self.parts if part.kind in kinds)

    def is_per_token(self, labels: Part) -> bool:
        """True where the labels belong to tokens, be they those of the input or of an answer."""
        return labels.values.ndim == 2 and bool(self.of(Kind.TOKENS))


def recognise(named: Named, limits: Limits) -> Batch:
    """Sort the tensors of a batch; those without elements or of another type are left out."""
    kept = {name: np.asarray(array) for name, array in named.items()}
    kept = {n: a for n, a in kept.items() if a.ndim and a.size and a.dtype.kind in "fiub"}
    kinds = {name: _kind(name, array, kept, limits) for name, array in kept.items()}
    return Batch(tuple(_part(name, kinds, kept) for name in sorted(kept)))


def _word(name: str, named: Named) -> str:
    if set(named) == set(_PAIR):
        return _PAIR[name]
    return re.split(r"[./]", name)[-1].lower()


def _kind(name: str, array: Array, named: Named, limits: Limits) -> Kind:
    word, floating = _word(name, named), array.dtype.kind == "f"
    if word == _MASK:
        return Kind.MASK if array.ndim == 2 and _is_binary(array) else Kind.OTHER
    if word in _LOSS_MASKS:
        return Kind.LOSS_MASK
    if word in _LABELS:
        return Kind.TARGETS if floating else _kind_of_labels(array, named)
    if floating:
        return Kind.FEATURES if word in _FEATURES else Kind.LOOSE
    if word in _TOKENS and array.dtype.kind in "iu":
        numbered = array.ndim == 1 and word in _NUMBERS
        return Kind.OTHER if numbered or array.ndim > 3 else Kind.TOKENS
    if word in _FEATURES:
        return _kind_of_whole_inputs(name, array, named, limits)
    return Kind.OTHER


def _kind_of_labels(array: Array, named: Named) -> Kind:
    """Classes or tokens; several labels a sample (one-hot, multi-label) are left alone."""
    flags = array.ndim == 2 and array.shape[1] > 1 and _is_binary(array)
    return Kind.OTHER if flags and not _twins(array, named) else Kind.LABELS


def _kind_of_whole_inputs(name: str, array: Array, named: Named, limits: Limits) -> Kind:
    if array.dtype == np.uint8 and array.ndim >= 3:
        return Kind.FEATURES
    sequence = array.ndim == 1 or array.shape[-1] >= _NARROW
    if array.dtype.kind == "b" or not sequence or array.ndim > 3:
        return Kind.OTHER
    labels = [n for n in named if n != name and _word(n, named) in _LABELS]
    told_each = any(named[n].shape == array.shape and named[n].dtype.kind != "f" for n in labels)
    known = limits.vocabulary is not None and (array.ndim > 1 or told_each)
    return Kind.TOKENS if known or (told_each and array.ndim > 1) else Kind.OTHER


def _twins(array: Array, named: Named) -> bool:
    """True where token ids of the same shape stand beside."""
    return any(a.shape == array.shape for n, a in named.items() if _word(n, named) in _TOKENS)


def _is_binary(array: Array) -> bool:
    return array.dtype.kind == "b" or bool(np.all((array == 0) | (array == 1)))


def _part(name: str, kinds: Mapping[str, Kind], named: Named) -> Part:
    kind, values = kinds[name], named[name]
    sequences = [named[n].shape for n, k in kinds.items() if k is Kind.TOKENS]
    if kind is Kind.TOKENS or (kind is Kind.LABELS and values.shape in sequences):
        flat = values.reshape(-1, values.shape[-1])
        return Part(name, kind, flat, _counting(name, values, kinds, named))
    if kind is Kind.LABELS and values.ndim == 2 and values.shape[1] == 1:
        return Part(name, kind, values[:, 0])
    return Part(name, kind, values)


def _counting(
    name: str, values: Array, kinds: Mapping[str, Kind], named: Named
) -> NDArray[np.bool_] | None:
    """The mask beside these tokens, in the same part of a nested batch."""
    group = name.rpartition(".")[0]
    for other, kind in kinds.items():
        fits = kind is Kind.MASK and named[other].shape == values.shape
        if fits and other.rpartition(".")[0] == group:
            return np.asarray(named[other] != 0)
    return None
