"""Text with structure to learn, made on the spot: two kinds, each from a small grammar.

``prose`` is what a model is pretrained on, ``questions`` what it is fine-tuned on. Both are ASCII,
so a token is a character and the vocabulary has 128 entries.
"""

import random

import torch

VOCAB = 128
IGNORED = -100
"""Label of a token that takes no part in the loss (the frameworks' convention)."""

_WORDS = {
    "town": (
        ("the baker", "a sailor", "my sister", "the old teacher", "a stray cat", "the miller"),
        ("carries", "paints", "repairs", "watches", "counts", "forgets", "sells"),
        ("the boats", "seven lamps", "a long letter", "the kitchen door", "nine apples", "a map"),
        ("in the harbour", "before noon", "near the mill", "without a word", "every winter"),
    ),
    "station": (
        ("the captain", "a robot", "my copilot", "the chief medic", "a drone", "the engineer"),
        ("scans", "launches", "repairs", "watches", "counts", "shields", "docks"),
        ("the probes", "seven sensors", "a long signal", "the cargo bay", "nine cells", "a beacon"),
        ("in the orbit", "before impact", "near the core", "without a word", "every cycle"),
    ),
}


def prose(seed: int, sentences: int, *, place: str = "town") -> str:
    """Sentences such as 'the baker carries nine apples near the mill', full stops between."""
    rng = random.Random(seed)
    parts = [" ".join(map(rng.choice, _WORDS[place])) for _ in range(sentences)]
    return ". ".join(parts) + "."


def questions(seed: int, count: int) -> list[tuple[str, str]]:
    """Pairs such as ('Q: who paints a map?', ' A: the sailor, every winter.')."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(count):
        who, does, what, where = map(rng.choice, _WORDS["town"])
        pairs.append((f"Q: who {does} {what}?", f" A: {who}, {where}."))
    return pairs


def encode(text: str) -> torch.Tensor:
    """Token ids of an ASCII text, shape (len(text),)."""
    return torch.tensor(list(text.encode("ascii")), dtype=torch.long)


def blocks(text: str, length: int) -> torch.Tensor:
    """The text cut into rows of ``length`` tokens, shape (n, length); the rest is dropped."""
    ids = encode(text)
    return ids[: len(ids) // length * length].view(-1, length)
