"""The loss scale of fp16 training, as torch's GradScaler moves it."""

from dataclasses import dataclass

START = 2.0**16
"""The scale a GradScaler begins with."""
PATIENCE = 2000
"""Good steps after which it doubles the scale."""


@dataclass
class LossScale:
    """A scale that halves on overflow and doubles after a while without."""

    scale: float
    steady: int = 0

    def take(self, norm: float) -> bool:
        """Move the scale by the gradient norm of a step; False where the step is skipped."""
        if norm - norm != 0:
            self.scale, self.steady = self.scale / 2, 0
            return False
        self.steady += 1
        if self.steady >= PATIENCE:
            self.scale, self.steady = self.scale * 2, 0
        return True
