"""A sound pretraining of the small Qwen2 with validation: warm-up, cosine, clipping, falling loss.

There is no fault, so the control is the run itself.
"""

from transformers import Trainer

from corpus import blocks, prose
from qwen import arguments, rows, settings, tiny_qwen, train


def main() -> None:
    arguments(__doc__)
    plan = settings(
        max_steps=400,
        warmup_steps=40,
        save_steps=200,
        eval_strategy="steps",
        eval_steps=50,
        report_to="tensorboard",
    )
    training, validation = rows(blocks(prose(1, 4000), 64)), rows(blocks(prose(9, 250), 64))
    train(Trainer(tiny_qwen(seed=3), plan, train_dataset=training, eval_dataset=validation))


if __name__ == "__main__":
    main()
