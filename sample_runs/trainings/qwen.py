"""A Qwen2 of 64,000 parameters and the Trainer settings that all its runs share."""

import argparse
from pathlib import Path
from typing import Any

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM, Trainer, TrainingArguments
from transformers.utils import logging

from corpus import VOCAB

logging.disable_progress_bar()


def arguments(description: str | None) -> argparse.Namespace:
    """Command line of every training here: ``--without-fault`` makes it the control."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--without-fault", action="store_true", help="train the control instead")
    return parser.parse_args()


def tiny_qwen(seed: int) -> Qwen2ForCausalLM:
    """A freshly initialised model of six layers and width 32."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    shape = Qwen2Config(
        vocab_size=VOCAB,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=6,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=None,
    )
    return Qwen2ForCausalLM(shape)


def settings(**changes: Any) -> TrainingArguments:
    """Trainer settings of a sound run on the CPU; ``changes`` are what a script does otherwise."""
    common: dict[str, Any] = {
        "output_dir": ".",
        "per_device_train_batch_size": 16,
        "learning_rate": 3e-3,
        "lr_scheduler_type": "cosine",
        "weight_decay": 0.01,
        "logging_steps": 5,
        "use_cpu": True,
        "seed": 42,
        "disable_tqdm": True,
        "report_to": "none",
    }
    return TrainingArguments(**common | changes)


def rows(ids: torch.Tensor) -> list[dict[str, torch.Tensor]]:
    """Rows of token ids, shape (n, length), as a data set that predicts each next token."""
    return [{"input_ids": row, "labels": row} for row in ids]


def train(trainer: Trainer, resume: str | None = None) -> None:
    """Train, save the history as Trainer scripts do, and print the plan first."""
    plan = trainer.args
    print(f"{len(trainer.train_dataset)} training examples, {plan.max_steps} steps")
    print(f"learning_rate={plan.learning_rate} max_grad_norm={plan.max_grad_norm}")
    trainer.train(resume_from_checkpoint=resume)
    trainer.save_state()
    Path("config.json").write_text(trainer.model.config.to_json_string())
