"""The last steps, held in memory within a bound."""

from collections import deque
from collections.abc import Iterator
from typing import Any

from forensics.recorder._kept import Kept
from forensics.recorder._naming import named_tensors


class Ring:
    """The last steps, the newest last."""

    def __init__(self, keep: int, max_bytes: int) -> None:
        self._steps: deque[Kept] = deque(maxlen=max(1, keep))
        self._max_bytes = max_bytes

    def add(self, step: int, batch: Any, random: dict[str, Any]) -> Kept:
        """Copy a batch in, as a further micro-batch where its step is the newest; old ones go.

        Args:
            step: Its step.
            batch: Tensors in any nesting.
            random: States of the generators before its forward pass.
        """
        if not self._steps or self._steps[-1].step != step:
            self._steps.append(Kept(step, random))
        kept = self._steps[-1]
        tensors, left_out = named_tensors(batch, self._max_bytes - kept.nbytes)
        kept.parts.append(tensors)
        kept.left_out += left_out
        while len(self._steps) > 1 and sum(k.nbytes for k in self._steps) > self._max_bytes:
            self._steps.popleft()
        return kept

    def newest_first(self) -> Iterator[Kept]:
        """The suspect, then its controls."""
        return reversed(self._steps)

    def was_calm(self) -> bool:
        """True where nothing had left its band in the steps before the newest."""
        return not any(kept.left for kept in list(self._steps)[:-1])
