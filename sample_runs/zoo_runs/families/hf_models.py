"""Tiny Qwen2 and GPT-2 for the Trainer of transformers."""

from collections.abc import Callable

from torch import Tensor, nn

from zoo_runs.families.text_data import VOCAB, drawn, rows, same_labels, shifted_loss
from zoo_runs.recipe import Batch, Recipe, Settings

LENGTH = 20


def _qwen2() -> nn.Module:
    from transformers import Qwen2Config, Qwen2ForCausalLM

    shape = Qwen2Config(
        vocab_size=VOCAB,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=None,
    )
    return Qwen2ForCausalLM(shape)


def _gpt2() -> nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    shape = GPT2Config(
        vocab_size=VOCAB,
        n_positions=64,
        n_embd=32,
        n_layer=2,
        n_head=4,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=None,
    )
    return GPT2LMHeadModel(shape)


def qwen2(seed: int) -> Recipe:
    """Two layers of Qwen2."""
    return _recipe(seed, "qwen2", _qwen2, "town")


def gpt2(seed: int) -> Recipe:
    """Two layers of GPT-2."""
    return _recipe(seed, "gpt2", _gpt2, "station")


def _recipe(seed: int, family: str, build: Callable[[], nn.Module], place: str) -> Recipe:
    settings = Settings(
        learning_rate=5e-3,
        steps=220 if family == "qwen2" else 400,
        batch_size=8,
        warmup_steps=22,
        schedule="cosine" if family == "qwen2" else "linear",
        seed=seed,
    )
    data = rows(300 + seed, LENGTH, place=place)
    held_out = rows(700 + seed, LENGTH, place=place, sentences=60)

    def logits(model: nn.Module, batch: Batch) -> Tensor:
        found: Tensor = model(input_ids=batch["input_ids"]).logits
        return found

    return Recipe(
        family=family,
        engine="hf",
        settings=settings,
        build=build,
        batch=lambda number: same_labels(drawn(data, number, settings.batch_size, seed)),
        forward=logits,
        criterion=shifted_loss,
        validation=[same_labels(row[None]) for row in held_out[:64]],
        eval_every=settings.steps // 4,
    )
