"""What the replay files of these runs import, as a user's own project would lie beside them."""

import torch
from torch import nn
from torch.nn.functional import cross_entropy

torch.set_num_threads(1)
VOCAB = 32


def chain(seed: int = 0) -> torch.Tensor:
    """Transition probabilities (VOCAB, VOCAB): four likely successors of each token."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(VOCAB, VOCAB, generator=generator)
    likely = logits.topk(4, dim=1).indices
    return torch.full((VOCAB, VOCAB), 0.002).scatter(1, likely, 0.23).div(0.976)


def sentences(step: int, size: int = 16, length: int = 17, seed: int = 0) -> torch.Tensor:
    """Token ids (size, length) of one step, drawn from the chain."""
    generator = torch.Generator().manual_seed(1000 * (seed + 1) + step)
    table = chain(seed)
    tokens = [torch.randint(VOCAB, (size,), generator=generator)]
    for _ in range(length - 1):
        tokens.append(torch.multinomial(table[tokens[-1]], 1, generator=generator).squeeze(1))
    return torch.stack(tokens, 1)


class TinyLm(nn.Module):
    """Predicts the next token from the last two."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, 16)
        self.hidden = nn.Linear(32, width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Ids (batch, length) -> logits (batch, length, VOCAB)."""
        now = self.tokens(ids)
        before = torch.cat([torch.zeros_like(now[:, :1]), now[:, :-1]], 1)
        return self.head(self.norm(torch.relu(self.hidden(torch.cat([now, before], 2)))))


def next_token_loss(model: nn.Module, ids: torch.Tensor) -> torch.Tensor:
    """Mean cross entropy of predicting ids[:, 1:] from ids[:, :-1]."""
    return cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


def points(step: int, size: int = 32, inputs: int = 16) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs (size, inputs) of one step and what a fixed random network makes of them (size, 1)."""
    generator = torch.Generator().manual_seed(7 + step)
    teacher = torch.Generator().manual_seed(3)
    first = torch.randn(inputs, 8, generator=teacher) / inputs**0.5
    second = torch.randn(8, 1, generator=teacher)
    x = torch.randn(size, inputs, generator=generator)
    return x, torch.tanh(x @ first) @ second
