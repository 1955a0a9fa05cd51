"""Looks at what grew over the checkpoints before the onset, against the rest and the run's age.

Every training makes its weights grow. Steps without a direction add up to the square root of their
number, so only what grew by more than that, and by more than its kind, is held against a run.
"""

import re
from collections.abc import Callable
from math import sqrt

from forensics.case import Case
from forensics.causes import _checkpoints as saved
from forensics.causes._base import Seen
from forensics.checkpoint_facts import CheckpointFacts, WeightFacts
from forensics.phrasing import number, times

EARLIER = "Needs the weights of two checkpoints from before the onset."
_QUERY_KEY = re.compile(
    r"(?:^|[._/])(?:q|k|w[qk]|[qk]_?proj|query|key|qkv|[qk]kv_proj|query_key_value|c_attn|"
    r"in_proj|[qk]_norm|qkv_proj|to_[qk]|to_qkv)(?:_weight)?(?:[._/]|$)",
    re.IGNORECASE,
)
_HEAD = re.compile(r"(?:^|[._/])(?:lm_head|embed_out|output|head|to_logits)[._/]weight$", re.I)
_LAST_NORM = re.compile(r"(?:^|[._/])(?:norm|ln_f|norm_f|final_layer_?norm|final_norm)[._/]weight$")
_NORM = re.compile(
    r"(?:^|[._/])(?:\w*norm\w*|ln_?\w*)[._/](?:weight|gamma|scale|gain)$", re.IGNORECASE
)
_TOKENS = re.compile(
    r"(?:^|[._/])(?:wte|tok_?emb\w*|embed_tokens|word_embeddings|token_embedding\w*|embed_in)[._/]",
    re.IGNORECASE,
)

Wanted = Callable[[WeightFacts], bool]


def query_key_grew(case: Case, factor: float = 2.0) -> Seen:
    """Query and key weights grew, and by more than the other matrices."""
    return _grew(case, _is_query_key, _is_matrix, ("query and key weights", "matrix"), factor)


def query_key_large(case: Case, gain: float = 4.0, more: float = 5.0) -> Seen:
    """Query and key weights are many times as large as the other matrices of the model.

    Of normalised inputs a query or key has entries of about RMS x sqrt(inputs), so a logit is of
    the size of the square of that; trained models have 1 to 4, like their other matrices.
    """
    found = saved.sound(case)
    if not found:
        return saved.seen(None, "Needs the weights of a checkpoint (scan it).")
    last = found[-1]
    inner = [w for w in saved.matrices(last) if not saved.is_vocabulary(w.name, w.shape, case)]
    chosen = [(_scaled(w), w.name) for w in inner if _is_query_key(w)]
    rest = sorted(_scaled(w) for w in inner if not _is_query_key(w))
    if not chosen or not rest or any(_is_gain(w) and _is_query_key(w) for w in last.weights):
        return saved.NOTHING_TO_SEE
    (top, name), usual = max(chosen), rest[len(rest) // 2]
    return saved.seen(
        top >= max(gain, more * usual),
        f"In {last.checkpoint} {name} is {number(top)} over the root of its inputs, the median "
        f"matrix {number(usual)}: attention logits are of about the square of that, "
        f"{number(top**2)}.",
    )


def _scaled(held: WeightFacts) -> float:
    return held.rms * sqrt(min(held.shape))


def head_grew(case: Case, factor: float = 2.0) -> Seen:
    """The output layer, or the gain of the norm before it, grew by more than other weights."""
    words = ("weights of the output layer and the norm before it", "matrix")
    return _grew(case, _is_head, _is_matrix, words, factor)


def gains_grew(case: Case, factor: float = 3.0) -> Seen:
    """The gains of one norm inside the model grew, and by far more than those of the others."""

    def inner(held: WeightFacts) -> bool:
        return _is_gain(held) and not _is_head(held) and not _is_query_key(held)

    return _grew(case, inner, inner, ("gains of one norm", "gains"), factor)


def few_rows_grew(case: Case, factor: float = 4.0, more: float = 2.0) -> Seen:
    """A few rows of the token embedding left all the others behind since the first checkpoint.

    How often a token comes makes its row long too, but smoothly: rows are compared with the one
    that follows after a handful.
    """
    ends = _sound_ends(case)
    if ends is None:
        return saved.seen(None, EARLIER)
    first, last = ends
    before = {w.name: _ahead(w) for w in first.weights}
    ahead = [
        (_ahead(w), before[w.name], w)
        for w in last.weights
        if _TOKENS.search(w.name) and w.name in before and w.row_beyond_few
    ]
    if not ahead:
        return saved.NOTHING_TO_SEE
    now, then, table = max(ahead, key=lambda it: it[0])
    return saved.seen(
        now >= factor and now >= more * then,
        f"In {last.checkpoint} row {table.row_at:,} of {table.name} is {times(now)} as long as "
        f"the longest but for a handful; in {first.checkpoint} it was {times(then)}.",
    )


def _ahead(held: WeightFacts) -> float:
    return held.row_max / held.row_beyond_few if held.row_beyond_few else 0.0


def _is_query_key(held: WeightFacts) -> bool:
    return bool(_QUERY_KEY.search(held.name)) and (_is_matrix(held) or _is_gain(held))


def _is_head(held: WeightFacts) -> bool:
    return bool(_HEAD.search(held.name) or _LAST_NORM.search(held.name))


def _is_gain(held: WeightFacts) -> bool:
    return held.role == "param" and len(held.shape) == 1 and bool(_NORM.search(held.name))


def _is_matrix(held: WeightFacts) -> bool:
    return held.role == "param" and len(held.shape) > 1


def _grew(case: Case, wanted: Wanted, kin: Wanted, words: tuple[str, str], factor: float) -> Seen:
    """Whether one of ``wanted`` grew ``factor`` times as much as the median of the other ``kin``.

    Args:
        case: The run.
        wanted: What may have grown.
        kin: What it is compared with.
        words: What both are called.
        factor: How much more is telling.
    """
    ends = _sound_ends(case)
    if ends is None:
        return saved.seen(None, EARLIER)
    first, last = ends
    before = {w.name: w.rms for w in first.weights}
    growth = {w.name: w.rms / before[w.name] for w in last.weights if before.get(w.name)}
    chosen = [(growth[w.name], w.name) for w in last.weights if wanted(w) and w.name in growth]
    if not chosen:
        return saved.NOTHING_TO_SEE
    top, name = max(chosen)
    rest = [
        growth[w.name]
        for w in last.weights
        if kin(w) and w.name in growth and w.name != name and (wanted is kin or not wanted(w))
    ]
    if not rest:
        return saved.NOTHING_TO_SEE
    usual, walk = sorted(rest)[len(rest) // 2], sqrt((last.step or 1) / (first.step or 1))
    return saved.seen(
        top >= max(factor * max(usual, 1.0), walk),
        f"From {first.checkpoint} to {last.checkpoint} the {words[0]} grew to {times(top)} their "
        f"size ({name}), the median {words[1]} to {times(usual)}; steps without a direction lead "
        f"to at most {times(walk)}.",
    )


def _sound_ends(case: Case) -> tuple[CheckpointFacts, CheckpointFacts] | None:
    """First trained and last checkpoint before the onset: after it everything grows."""
    found = [c for c in saved.sound(case) if c.step]
    return (found[0], found[-1]) if len(found) > 1 else None
