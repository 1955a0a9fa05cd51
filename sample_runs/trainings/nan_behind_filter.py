"""A batch with nothing to predict, hidden by the Trainer's ``logging_nan_inf_filter``.

Prompts are masked and rows cut to 48 tokens. The reading exercises, which stand together in the
file, have a prompt that alone fills the row: no answer is left, and in batch 189 not one. The mean
over its answer tokens, written by hand as such losses are, is 0/0; the update is NaN, and from
there on the log shows a loss of 0.0. The control drops the rows without an answer.
"""

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch.nn.functional import cross_entropy
from transformers import Trainer

from corpus import IGNORED, encode, prose, questions
from qwen import arguments, settings, tiny_qwen, train

LENGTH, BATCH, STEPS = 48, 8, 400
LONG_PAIRS = range(1500, 1516)
"""Examples whose question follows a paragraph: the reading exercises of the file."""
EMPTY_STEP = 189


def row(question: str, answer: str) -> dict[str, torch.Tensor]:
    """Token ids and labels of one example, shape (LENGTH,); the prompt is masked."""
    ids = encode((question + answer).ljust(LENGTH, "\n"))[:LENGTH]
    labels = ids.clone()
    labels[: len(question)] = IGNORED
    labels[len(question + answer) :] = IGNORED
    return {"input_ids": ids, "labels": labels}


def examples() -> list[dict[str, torch.Tensor]]:
    """Short exercises in file order, and one block of long ones."""
    pairs = [(q[:26] + "?", a) for q, a in questions(3, BATCH * STEPS)]
    for place in LONG_PAIRS:
        pairs[place] = (prose(place, 2) + " " + pairs[place][0], pairs[place][1])
    return [row(question, answer) for question, answer in pairs]


def answer_loss(outputs: Any, labels: torch.Tensor, **_: Any) -> torch.Tensor:
    """Mean cross entropy over the answer tokens of a batch, in nats."""
    targets = labels[:, 1:].flatten()
    answered = (targets != IGNORED).float()
    each = cross_entropy(
        outputs.logits[:, :-1].flatten(0, 1), targets.clamp(min=0), reduction="none"
    )
    return (each * answered).sum() / answered.sum()


class Recorder:
    """Collates rows and keeps the latest batches on disk, as debugging scripts do."""

    def __init__(self, wanted: range) -> None:
        self.wanted, self.step = wanted, 0

    def __call__(self, features: list[dict[str, torch.Tensor]]) -> dict[str, Any]:
        """Rows to tensors of shape (batch, LENGTH)."""
        self.step += 1
        batch = {name: torch.stack([f[name] for f in features]) for name in features[0]}
        if self.step in self.wanted:
            Path("batches").mkdir(exist_ok=True)
            save_file(batch, f"batches/step_{self.step}.safetensors")
        return batch


def main() -> None:
    options = arguments(__doc__)
    data = examples()
    empty = [n for n, example in enumerate(data) if bool((example["labels"] == IGNORED).all())]
    print(f"{len(data)} examples, {len(empty)} of them without a target after truncation")
    if options.without_fault:
        data = [example for n, example in enumerate(data) if n not in empty]
    plan = settings(
        per_device_train_batch_size=BATCH,
        max_steps=len(data) // BATCH,
        warmup_steps=20,
        save_steps=80,
        train_sampling_strategy="sequential",
    )
    recorder = Recorder(range(EMPTY_STEP - 2, EMPTY_STEP + 2))
    model = tiny_qwen(seed=0)
    trainer = Trainer(
        model, plan, train_dataset=data, data_collator=recorder, compute_loss_func=answer_loss
    )
    train(trainer)


if __name__ == "__main__":
    main()
