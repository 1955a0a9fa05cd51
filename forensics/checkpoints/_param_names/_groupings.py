"""How trainers sort parameters into groups: with and without weight decay, backbone and head."""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Shape = tuple[int, ...]
_NORM_OR_BIAS = re.compile(r"bias|layernorm|rmsnorm|(?:^|\.)norm(?:$|\.)|_norm", re.IGNORECASE)
"""Left without decay by transformers (``Trainer.get_decay_parameter_names``)."""
_NORM_MODULE = re.compile(
    r"(?:^|[._])(?:ln|norm|layer_?norm|rms_?norm|bn)(?:_?\w+)?\.weight$|norm\d*\.weight$",
    re.IGNORECASE,
)
_MOST_PERMUTED = 4


@dataclass(frozen=True)
class Candidate:
    """A parameter of the model."""

    name: str
    shape: Shape


def _transformers(one: Candidate) -> bool:
    norm = len(one.shape) == 1 and _NORM_MODULE.search(one.name) is not None
    return norm or _NORM_OR_BIAS.search(one.name) is not None


_WITHOUT_DECAY: tuple[Callable[[Candidate], bool], ...] = (
    _transformers,
    lambda one: len(one.shape) < 2,  # nanoGPT, torchtune
    lambda one: len(one.shape) < 2 or one.name.endswith("bias"),  # timm
    lambda one: len(one.shape) < 2 or "embed" in one.name or "token" in one.name,  # timm's ViT
    lambda one: one.name.endswith("bias"),
    lambda one: "embed" in one.name or "head" in one.name or len(one.shape) < 2,  # Muon with Adam
    lambda one: "lora_B" in one.name,  # LoRA+
)


def groupings(
    candidates: Sequence[Candidate], lengths: Sequence[int]
) -> Iterator[list[list[Candidate]]]:
    """Ways in which the candidates may have been sorted into groups of these lengths.

    Each keeps the candidates' order within a group. Lengths are met where they can be; of one
    group, all candidates are given, some of which may have been frozen.
    """
    everything = list(candidates)
    if len(lengths) == 1:
        yield [everything]
        return
    if len(lengths) == 2:
        for test in _WITHOUT_DECAY:
            without = [one for one in everything if test(one)]
            others = [one for one in everything if not test(one)]
            yield [others, without]
            yield [without, others]
    if sum(lengths) == len(everything):
        yield from _blocks(everything, lengths)


def _blocks(candidates: list[Candidate], lengths: Sequence[int]) -> Iterator[list[list[Candidate]]]:
    """Consecutive blocks: the groups in their own order, or in another where they are few."""
    places = range(len(lengths))
    orders = itertools.permutations(places) if len(lengths) <= _MOST_PERMUTED else [tuple(places)]
    for order in orders:
        groups: list[list[Candidate]] = [[] for _ in lengths]
        start = 0
        for place in order:
            groups[place] = candidates[start : start + lengths[place]]
            start += lengths[place]
        yield groups
