"""Batches of text for language models, each repeatable by its number."""

from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from trainings.corpus import IGNORED, VOCAB, blocks, prose
from zoo_runs.recipe import Batch

SENTENCES = 4000


@cache
def rows(seed: int, length: int, place: str = "town", sentences: int = SENTENCES) -> Tensor:
    """Text cut into rows of ``length`` token ids."""
    return blocks(prose(seed, sentences, place=place), length)


def drawn(data: Tensor, number: int, size: int, seed: int) -> Tensor:
    """Rows drawn for batch ``number``: ids (size, length)."""
    generator = torch.Generator().manual_seed(1_000_003 * seed + number)
    return data[torch.randint(len(data), (size,), generator=generator)]


def next_token(ids: Tensor) -> Batch:
    """Ids (batch, length + 1) to inputs and the tokens after them."""
    return {"input_ids": ids[:, :-1], "labels": ids[:, 1:]}


def same_labels(ids: Tensor) -> Batch:
    """Ids as inputs and labels, which the loss shifts, as transformers wants them."""
    return {"input_ids": ids, "labels": ids.clone()}


def token_loss(logits: Tensor, batch: Batch) -> Tensor:
    """Mean cross entropy per token, in nats."""
    return cross_entropy(logits.flatten(0, 1), batch["labels"].flatten(), ignore_index=IGNORED)


def shifted_loss(logits: Tensor, batch: Batch) -> Tensor:
    """Mean cross entropy of predicting labels[:, 1:] from logits[:, :-1], in nats."""
    targets = batch["labels"][:, 1:].flatten()
    return cross_entropy(logits[:, :-1].flatten(0, 1), targets, ignore_index=IGNORED)


__all__ = ["VOCAB", "drawn", "next_token", "rows", "same_labels", "shifted_loss", "token_loss"]
