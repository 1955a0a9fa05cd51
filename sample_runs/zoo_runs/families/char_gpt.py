"""A character transformer, with the norm before or after each block."""

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, rms_norm

from zoo_runs.families.text_data import VOCAB, drawn, next_token, rows, token_loss
from zoo_runs.recipe import Recipe, Settings

LENGTH, WIDTH, HEADS = 20, 32, 2


class Block(nn.Module):
    """Attention and a feed-forward layer, each with a shortcut."""

    def __init__(self, *, norm_first: bool) -> None:
        super().__init__()
        self.norm_first, self.qk_norm = norm_first, False
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.largest_logit = 0.0

    def attend(self, x: Tensor) -> Tensor:
        """Causal attention, (batch, length, width)."""
        n, t, _ = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        if self.qk_norm:
            q, k = rms_norm(q, q.shape[-1:]), rms_norm(k, k.shape[-1:])
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        self.largest_logit = scores.detach().abs().max().item()
        hidden = torch.ones(t, t, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(hidden, float("-inf")).softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(n, t, -1))

    def feed(self, x: Tensor) -> Tensor:
        """Feed-forward layer."""
        return self.down(gelu(self.up(x)))

    def forward(self, x: Tensor) -> Tensor:
        """(batch, length, width) to the same."""
        if self.norm_first:
            x = x + self.attend(self.norm1(x))
            return x + self.feed(self.norm2(x))
        x = self.norm1(x + self.attend(x))
        return self.norm2(x + self.feed(x))


class CharGpt(nn.Module):
    """Decoder over characters."""

    def __init__(self, *, layers: int, norm_first: bool = True) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, WIDTH)
        self.positions = nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block(norm_first=norm_first) for _ in range(layers))
        self.norm = nn.LayerNorm(WIDTH) if norm_first else nn.Identity()
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids: Tensor) -> Tensor:
        """Ids (batch, length) to logits (batch, length, vocabulary)."""
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def recipe(seed: int) -> Recipe:
    """Pre-norm, two blocks."""
    return _recipe(seed, "char_gpt", layers=2, norm_first=True, rate=5e-3)


def post_norm(seed: int) -> Recipe:
    """Post-norm, four blocks, which wants its warm-up."""
    return _recipe(seed, "post_norm_gpt", layers=4, norm_first=False, rate=3e-3)


def _recipe(seed: int, family: str, *, layers: int, norm_first: bool, rate: float) -> Recipe:
    settings = Settings(
        learning_rate=rate,
        steps=300,
        warmup_steps=30,
        batch_size=12,
        schedule="cosine",
        seed=seed,
        extra={
            "model": "gpt",
            "n_layer": layers,
            "n_head": HEADS,
            "n_embd": WIDTH,
            "block_size": LENGTH,
            "vocab_size": VOCAB,
        },
    )
    data = rows(100 + seed, LENGTH + 1)
    held_out = rows(900 + seed, LENGTH + 1, sentences=120)
    return Recipe(
        family=family,
        engine="loop",
        settings=settings,
        build=lambda: CharGpt(layers=layers, norm_first=norm_first),
        batch=lambda number: next_token(drawn(data, number, settings.batch_size, seed)),
        forward=lambda model, batch: model(batch["input_ids"]),
        criterion=token_loss,
        validation=[next_token(held_out[:128])],
        eval_every=50,
    )
