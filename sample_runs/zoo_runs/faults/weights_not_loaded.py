"""Fine-tuning of a model whose weights were never loaded."""

from functools import cache

import torch
from torch import Tensor, nn

from zoo_runs.families import hf_models
from zoo_runs.families.char_gpt import CharGpt
from zoo_runs.families.char_lstm import CharLstm
from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe
from zoo_runs.watch import Watch

PRETRAINING = 300


@cache
def pretrained(family: str) -> dict[str, Tensor]:
    """Weights of a model that knows the town and the station."""
    from zoo_runs.families import FAMILIES

    recipe = FAMILIES[family](77)
    torch.manual_seed(0)
    model = recipe.build()
    optimizer = recipe.make_optimizer(model)
    for number in range(1, PRETRAINING + 1):
        optimizer.zero_grad()
        recipe.loss(model, recipe.batch(number)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.state_dict()


def prepare(recipe: Recipe) -> None:
    """Fine-tune at a low rate on other text, from pretrained weights."""
    s = recipe.settings
    s.learning_rate, s.warmup_steps, s.steps = 3e-4, 10, 200
    s.extra |= {"pretrained": True, "init_from": "base/model.safetensors"}
    weights, build = pretrained(recipe.family), recipe.build

    def loaded() -> nn.Module:
        model = build()
        model.load_state_dict(weights)
        return model

    recipe.build = loaded


def inject(recipe: Recipe, says_so: bool) -> int:
    """The names in the file have a prefix, and strict=False passes over all of them."""
    fresh = {
        "char_gpt": lambda: CharGpt(layers=2),
        "char_lstm": CharLstm,
        "gpt2": hf_models._gpt2,
        "qwen2": hf_models._qwen2,
    }[recipe.family]
    weights = {f"module.{k}": v for k, v in pretrained(recipe.family).items()}

    def not_loaded() -> nn.Module:
        model = fresh()
        model.load_state_dict(weights, strict=False)
        return model

    recipe.build = not_loaded
    recipe.opening.append("fine-tuning from base/model.safetensors")
    if says_so:
        missing = ", ".join(f"'{k.removeprefix('module.')}'" for k in list(weights)[:3])
        recipe.opening.append(f"missing keys: [{missing}, ...] ({len(weights)} of {len(weights)})")
    recipe.needs_text = True
    return 1


def knows(watch: Watch) -> bool:
    """The control knows its language from the first step on."""
    return max(watch.losses.values()) < 2.0


FAULT = Fault(
    name="weights_not_loaded",
    cause="weights_not_loaded",
    prepare=prepare,
    inject=inject,
    proof=knows,
    outcomes=("stalled", "healthy"),
    outcome="stalled",
    shows=lambda watch: list(watch.losses.values())[-1] > 1.0,
    tuning={"char_gpt": True, "qwen2": False},
    measured={"char_lstm": False, "gpt2": True},
    leaves={"config": "json"},
    alike={"lr": ("learning_rate_too_low",)},
)
