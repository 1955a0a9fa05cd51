"""A small language model in plain torch, with the norm before or after each block."""

import torch
from torch import nn

from corpus import VOCAB


class Transformer(nn.Module):
    """Decoder of ``layers`` blocks; ``norm_first=False`` is the post-norm layout of 2017."""

    def __init__(self, *, width: int, layers: int, length: int, norm_first: bool = True) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, width)
        self.positions = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width, 4, 2 * width, dropout=0.0, batch_first=True, norm_first=norm_first
            )
            for _ in range(layers)
        )
        self.head = nn.Linear(width, VOCAB)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Token ids (batch, length) to logits (batch, length, vocabulary)."""
        length = ids.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        x = self.tokens(ids) + self.positions(torch.arange(length))
        for block in self.blocks:
            x = block(x, src_mask=mask, is_causal=True)
        logits: torch.Tensor = self.head(x)
        return logits
