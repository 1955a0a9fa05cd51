"""Fine-tunes a pretrained Qwen2 at a learning rate that is far too high.

The model is first pretrained on prose about a town for 300 steps, which belongs to the script and
not to the run, then fine-tuned on prose about a space station. The control does so at 1e-3.
"""

import contextlib
import io
import tempfile

from transformers import Qwen2ForCausalLM, Trainer

from corpus import blocks, prose, questions
from qwen import arguments, rows, settings, tiny_qwen, train

LR_TOO_HIGH, LR_CONTROL = 0.15, 1e-3


def pretrained() -> Qwen2ForCausalLM:
    """A model that knows the town."""
    model = tiny_qwen(seed=0)
    with tempfile.TemporaryDirectory() as elsewhere, contextlib.redirect_stdout(io.StringIO()):
        plan = settings(output_dir=elsewhere, max_steps=300, save_strategy="no")
        Trainer(model, plan, train_dataset=rows(blocks(prose(1, 4000), 64))).train()
    return model


def main() -> None:
    options = arguments(__doc__)
    plan = settings(
        max_steps=400,
        learning_rate=LR_CONTROL if options.without_fault else LR_TOO_HIGH,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=100,
        save_steps=80,
    )
    pairs = questions(2, 2000)
    text = " ".join(
        f"{question}{answer} {prose(seed, 2)}" for seed, (question, answer) in enumerate(pairs)
    )
    train(Trainer(pretrained(), plan, train_dataset=rows(blocks(text, 64))))


if __name__ == "__main__":
    main()
