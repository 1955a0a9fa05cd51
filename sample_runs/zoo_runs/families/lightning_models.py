"""The classifiers of points and of images, run by Lightning."""

from zoo_runs.families import cnn as images_family
from zoo_runs.families import points_mlp
from zoo_runs.recipe import Recipe


def mlp(seed: int) -> Recipe:
    """The classifier of points."""
    made = points_mlp.recipe(50 + seed)
    made.family, made.engine = "lightning_mlp", "lightning"
    made.settings.steps, made.eval_every = 500, 50
    return made


def cnn(seed: int) -> Recipe:
    """The classifier of images, with Adam."""
    made = images_family.recipe(50 + seed)
    made.family, made.engine = "lightning_cnn", "lightning"
    made.settings.optimizer, made.settings.learning_rate = "adam", 2e-3
    made.settings.weight_decay, made.settings.max_grad_norm = 0.0, 1.0
    made.settings.steps, made.eval_every = 300, 30
    return made
