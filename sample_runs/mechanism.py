"""The mechanism behind a failed run, in numpy: how a step too long turns training round.

A two-layer network is fitted to y = sin(x) by full-batch gradient descent. Nothing is random but
the initial weights, so every number repeats:

* at a learning rate of 0.01 it converges;
* at 1.0 the first steps overshoot, each overshoot makes the next gradient larger, and the weights
  are infinite within about a hundred steps;
* at 1.0 with the global gradient norm clipped at 1.0 the steps are bounded: it stays finite;
* at 0.1 it is sound until one gradient, scaled by 10,000, throws it out of its valley for good;
  going back to the weights of 100 steps before, at half the rate, it converges.

Run as a program it prints the four curves: ``python sample_runs/mechanism.py``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
HIDDEN, POINTS = 32, 64


@dataclass(frozen=True, eq=False)
class Network:
    """Weights of y = tanh(x w1 + b1) w2 + b2."""

    w1: Array
    """Shape (1, hidden)."""
    b1: Array
    """Shape (hidden,)."""
    w2: Array
    """Shape (hidden, 1)."""
    b2: Array
    """Shape (1,)."""

    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """All weights, in a fixed order."""
        return self.w1, self.b1, self.w2, self.b2


@dataclass(frozen=True, eq=False)
class Training:
    """What a training leaves."""

    loss: Array
    """Shape (steps,), mean squared error before each step."""
    grad_norm: Array
    """Shape (steps,), global L2 norm before clipping."""
    network: Network
    """The weights after the last step."""


def fresh_network(seed: int = 0) -> Network:
    """Weights drawn as for tanh layers: variance 1 / fan-in for the second, 1 for the first."""
    rng = np.random.default_rng(seed)
    return Network(
        w1=rng.normal(size=(1, HIDDEN)),
        b1=rng.normal(size=HIDDEN),
        w2=rng.normal(size=(HIDDEN, 1)) / np.sqrt(HIDDEN),
        b2=np.zeros(1),
    )


def loss_and_gradient(network: Network) -> tuple[float, Network]:
    """Mean squared error on sin(x) over [-3, 3] and its gradient."""
    x = np.linspace(-3, 3, POINTS)[:, None]
    hidden = np.tanh(x @ network.w1 + network.b1)
    error = hidden @ network.w2 + network.b2 - np.sin(x)
    back = 2 * error / POINTS
    through = (back @ network.w2.T) * (1 - hidden**2)
    gradient = Network(x.T @ through, through.sum(axis=0), hidden.T @ back, back.sum(axis=0))
    return float(np.mean(error**2)), gradient


def norm(gradient: Network) -> float:
    """Global L2 norm over all weights."""
    return float(np.sqrt(sum(np.sum(g**2) for g in gradient.arrays())))


def train(
    network: Network,
    *,
    learning_rate: float,
    steps: int,
    clip: float | None = None,
    scaled: Mapping[int, float] | None = None,
) -> Training:
    """Gradient descent.

    Args:
        network: The weights to start from.
        learning_rate: Length of a step per unit of gradient.
        steps: Number of steps.
        clip: Threshold for the global gradient norm, None for no clipping.
        scaled: Step (counted from 0) -> factor on its gradient: the fault to inject.
    """
    losses, norms = np.empty(steps), np.empty(steps)
    with np.errstate(over="ignore", invalid="ignore"):
        for step in range(steps):
            losses[step], gradient = loss_and_gradient(network)
            factor = (scaled or {}).get(step, 1.0)
            norms[step] = norm(gradient) * factor
            if clip is not None and norms[step] > clip:
                factor *= clip / norms[step]
            moved = zip(network.arrays(), gradient.arrays(), strict=True)
            network = Network(*(w - learning_rate * factor * g for w, g in moved))
    return Training(losses, norms, network)


SPIKE_STEP, CHECKPOINT_STEP = 600, 500


def experiments() -> dict[str, Training]:
    """The five trainings, by name."""
    start = fresh_network()
    checkpoint = train(start, learning_rate=0.1, steps=CHECKPOINT_STEP).network
    return {
        "lr 0.01": train(start, learning_rate=0.01, steps=5000),
        "lr 1.0": train(start, learning_rate=1.0, steps=150),
        "lr 1.0, clipped at 1.0": train(start, learning_rate=1.0, steps=5000, clip=1.0),
        "lr 0.1, one gradient x 10,000": train(
            start, learning_rate=0.1, steps=1000, scaled={SPIKE_STEP: 10_000.0}
        ),
        "resumed before it, lr 0.05": train(checkpoint, learning_rate=0.05, steps=5000),
    }


def main() -> None:
    for name, run in experiments().items():
        shown = run.loss[np.linspace(0, len(run.loss) - 1, 9).astype(int)]
        print(f"{name:30}", " ".join(f"{value:9.3g}" for value in shown))


if __name__ == "__main__":
    main()
