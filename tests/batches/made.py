"""Batches as real loaders make them: text, images, tables. Step -> tensors by name."""

from collections.abc import Callable, Mapping

import numpy as np

from forensics.batch_facts import BatchFinding, BatchSurvey, Oddity
from forensics.batches import Limits, audit

Batch = dict[str, np.ndarray]
STEPS = range(1, 13)
SUSPECT = 9
VOCABULARY = 500
LIMITS = Limits(classes=10, vocabulary=VOCABULARY, positions=512, padding=0)


def words(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Token ids 1 to 499 as frequent as Zipf has words; 0 is padding."""
    weight = 1 / np.arange(1, VOCABULARY)
    return rng.choice(np.arange(1, VOCABULARY), shape, p=weight / weight.sum())


def pretraining(rng: np.random.Generator) -> Batch:
    """Packed text; the labels equal the inputs, as a causal model of transformers wants them."""
    ids = words(rng, 16, 128)
    return {"input_ids": ids, "labels": ids.copy(), "attention_mask": np.ones_like(ids)}


def chat(rng: np.random.Generator) -> Batch:
    """Padded samples with one fixed prompt of which no token counts, and a few position ids."""
    length = rng.integers(30, 120, 16)
    ids, labels = np.zeros((16, 128), np.int64), np.full((16, 128), -100)
    prompt = 1 + np.arange(20)
    for row, n in enumerate(length):
        answer = words(rng, n - 20)
        ids[row, :n] = np.concatenate([prompt, answer])
        labels[row, 20:n] = answer
    mask = (np.arange(128) < length[:, None]).astype(np.int64)
    places = np.broadcast_to(np.arange(128), ids.shape).copy()
    return {"input_ids": ids, "labels": labels, "attention_mask": mask, "position_ids": places}


def masked_language(rng: np.random.Generator) -> Batch:
    """One token in seven is hidden; only those count."""
    ids = words(rng, 16, 128)
    hidden = rng.random(ids.shape) < 0.15
    return {
        "input_ids": np.where(hidden, 499, ids),
        "labels": np.where(hidden, ids, -100),
        "attention_mask": np.ones_like(ids),
        "token_type_ids": np.zeros_like(ids),
    }


def images(rng: np.random.Generator) -> Batch:
    """Normalised images with black borders of another width each."""
    x = rng.normal(size=(32, 3, 16, 16)).astype(np.float32)
    for image, border in zip(x, rng.integers(0, 6, 32), strict=True):
        image[:, :border] = image[:, 16 - border :] = -2.1
    return {"x": x, "y": rng.integers(0, 10, 32)}


def bytes_of_images(rng: np.random.Generator) -> Batch:
    """Images of 0 to 255 as the file has them, one-hot labels."""
    x = rng.integers(0, 256, (32, 16, 16, 3)).astype(np.uint8)
    return {"image": x, "labels": np.eye(10, dtype=np.int64)[rng.integers(0, 10, 32)]}


def table(rng: np.random.Generator) -> Batch:
    """A regression: columns of different scale, one of them a flag, heavy tails."""
    x = rng.normal(size=(64, 8)) * 10.0 ** np.arange(-2, 2).repeat(2)
    x[:, 3] = rng.random(64) < 0.1
    x[:, 5] = rng.standard_t(3, 64)
    return {"inputs": x, "targets": rng.normal(size=64) * 5}


def one_class_each(rng: np.random.Generator) -> Batch:
    """A class-conditional model: every batch is of one class."""
    return images(rng) | {"y": np.full(32, rng.integers(0, 10))}


def of_two(rng: np.random.Generator) -> Batch:
    """Of two classes, the rare one in one sample of twenty; labels -1 and 1."""
    return images(rng) | {"y": np.where(rng.random(32) < 0.05, 1, -1)}


def segmentation(rng: np.random.Generator) -> Batch:
    """A label for each pixel, 255 where nobody said."""
    y = rng.integers(0, 10, (8, 16, 16))
    y[:, :2] = 255
    return {"pixel_values": rng.normal(size=(8, 3, 16, 16)).astype(np.float16), "labels": y}


def translated(rng: np.random.Generator) -> Batch:
    """Source and target, an additive mask with minus infinity, nested names, sample numbers."""
    ids = words(rng, 8, 64)
    mask = np.triu(np.full((64, 64), -np.inf, np.float32), 1)
    return {
        "batch.src_tokens": ids,
        "batch.bias": mask,
        "batch.target": words(rng, 8, 48),
        "ids": rng.integers(0, 10**6, 8),
    }


SOUND: dict[str, Callable[[np.random.Generator], Batch]] = {
    make.__name__: make
    for make in (
        *(pretraining, chat, masked_language, images, bytes_of_images, table, one_class_each),
        *(of_two, segmentation, translated),
    )
}


def series(
    make: Callable[[np.random.Generator], Batch], seed: int = 0, steps: range = STEPS
) -> dict[int, Batch]:
    """A batch for each step."""
    return {step: make(np.random.default_rng((seed, step))) for step in steps}


def survey(batches: Mapping[int, Batch], limits: Limits = LIMITS) -> BatchSurvey:
    """The audit with `SUSPECT` as the suspect."""
    return audit(batches, {SUSPECT}, limits)


def findings(batches: Mapping[int, Batch], limits: Limits = LIMITS) -> dict[int, set[Oddity]]:
    """Step -> what is odd about its batch; steps without anything are left out."""
    found = survey(batches, limits)
    odd = {a.step: {f.oddity for f in a.findings} for a in found.audits if a.findings}
    assert not found.everywhere, found.everywhere
    return odd


def the_one(batches: Mapping[int, Batch], limits: Limits = LIMITS) -> BatchFinding:
    """The only finding, which is the suspect's."""
    found = survey(batches, limits)
    assert not found.everywhere
    ((step, finding),) = [(a.step, f) for a in found.audits for f in a.findings]
    assert step == SUSPECT
    assert finding.text.endswith(".")
    assert 0 <= finding.share <= 1
    return finding
