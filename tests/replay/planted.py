"""Small models and searches over them; importing this skips where torch is missing."""

import math

import pytest

torch = pytest.importorskip("torch")
nn, F = torch.nn, torch.nn.functional
_package = pytest.importorskip("forensics.replay.first_non_finite")

INF = float("inf")


class Of(nn.Module):
    """A model of one function, with a linear layer `inner` in front where asked for."""

    def __init__(self, function, **modules):
        super().__init__()
        self.function = function
        for name, module in modules.items():
            setattr(self, name, module)

    def forward(self, *values):
        return self.function(self, *values)


def search(model, loss_of, **more):
    """Watch step 7 of a model."""
    torch.manual_seed(0)
    return _package.find_first_non_finite(model, loss_of, step=7, precision="fp32", **more)


def found(model, loss_of, **more):
    """The operation found, where there must be one."""
    operation = search(model, loss_of, **more).found
    assert operation is not None
    return operation


def weight(values):
    module = nn.Module()
    module.value = nn.Parameter(torch.tensor(values))
    module.forward = lambda: module.value
    return module


class Attention(nn.Module):
    """Attention written out, with an additive mask."""

    def __init__(self, width=8):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.scores = Of(lambda _, q, k: q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]))
        self.softmax = Of(lambda _, s, mask: F.softmax(s + mask, dim=-1))

    def forward(self, x, mask):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        return self.softmax(self.scores(q, k), mask) @ v


def causal(length):
    return torch.full((length, length), -INF).triu(1)


def gpt2(**settings):
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(
        n_layer=2, n_embd=32, n_head=2, vocab_size=50, n_positions=16, **settings
    )
    return transformers.GPT2LMHeadModel(config)
