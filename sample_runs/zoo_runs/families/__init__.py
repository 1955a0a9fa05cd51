"""Model families: each a recipe that trains well, by name and seed."""

from collections.abc import Callable

from zoo_runs.families import (
    char_gpt,
    char_lstm,
    cnn,
    hf_models,
    lightning_models,
    points_mlp,
    regression,
)
from zoo_runs.recipe import Recipe

FAMILIES: dict[str, Callable[[int], Recipe]] = {
    "char_gpt": char_gpt.recipe,
    "post_norm_gpt": char_gpt.post_norm,
    "char_lstm": char_lstm.recipe,
    "cnn": cnn.recipe,
    "mlp": points_mlp.recipe,
    "regression": regression.recipe,
    "qwen2": hf_models.qwen2,
    "gpt2": hf_models.gpt2,
    "lightning_mlp": lightning_models.mlp,
    "lightning_cnn": lightning_models.cnn,
}
