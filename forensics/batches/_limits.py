"""What the model takes: classes, vocabulary, positions, the labels that its loss leaves out."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from forensics.findings import TensorStats
from forensics.run import Config

IGNORED = -100
"""The label that torch's and transformers' losses leave out unless told otherwise."""
_ROWS_OF_TOKENS = re.compile(
    r"(?:^|\.)(?:embed_tokens|wte|word_embeddings|tok_embeddings?|tok_emb|token_embedding(?:_table)?"
    r"|embed_in|tokens_embed)\.weight"
)
_ROWS_OF_CLASSES = re.compile(r"(?:^|\.)(?:classifier|fc|head|heads\.head|score)\.weight")


@dataclass(frozen=True)
class Limits:
    """Bounds that a batch must keep to; None where the run does not say."""

    classes: int | None = None
    """Outputs of a classifier."""
    vocabulary: int | None = None
    """Rows of the token embedding."""
    positions: int | None = None
    """Longest sequence that the model takes."""
    ignored: frozenset[int] = frozenset({IGNORED})
    """Labels that do not count."""
    padding: int | None = None
    """The token that fills up."""


def limits_of(config: Config, tensors: Collection[TensorStats] | None = None) -> Limits:
    """Bounds as the checkpoint's shapes have them, else as the configuration says.

    Args:
        config: Settings of the run.
        tensors: Those of its scanned checkpoints, None where none was scanned.
    """
    shapes = {t.name: t.shape for t in tensors or () if t.role == "param" and t.rank is None}
    ignored = set(_whole(config, "ignore_index", "label_pad_token_id", "ignore_label"))
    positions = _whole(config, "max_position_embeddings", "n_positions", "n_ctx", "block_size")
    padding = _whole(config, "pad_token_id", "pad_id", "padding_idx")
    return Limits(
        classes=_rows(shapes, _ROWS_OF_CLASSES) or config.num_classes,
        vocabulary=_rows(shapes, _ROWS_OF_TOKENS) or config.vocab_size,
        positions=max((p for p in positions if p > 0), default=None),
        ignored=frozenset({IGNORED, *ignored}),
        padding=next((p for p in padding if p >= 0), None),
    )


def _whole(config: Config, *names: str) -> list[int]:
    """Whole numbers of these names, wherever in the configuration they stand."""
    return list(_named(config, names))


def _named(config: Config, names: tuple[str, ...]) -> Iterator[int]:
    for key, value in config.raw.items():
        if key.rpartition(".")[2].lower() not in names or isinstance(value, bool):
            continue
        if isinstance(value, int):
            yield value
        elif isinstance(value, str) and re.fullmatch(r"-?\d{1,9}", value.strip()):
            yield int(value)


def _rows(shapes: dict[str, tuple[int, ...]], name: re.Pattern[str]) -> int | None:
    """First length of the only matrix of such a name."""
    found = {s[0] for n, s in shapes.items() if len(s) == 2 and name.search(n) and s[0] > 1}
    return found.pop() if len(found) == 1 else None
