"""Reads a log as it streams by: fast where lines repeat, with thought where they do not.

Each batch of lines is first matched against the templates learned so far; what no template
matches is looked at one by one by every grammar, and teaches another template where it can.
"""

from dataclasses import dataclass, field

from forensics.readers._text.last_line import read_last_line
from forensics.readers._text.lines import Batch
from forensics.readers._text.slow import Slow


@dataclass(eq=False)
class Stream:
    """Everything read so far."""

    found: Slow = field(default_factory=Slow)
    count: int = 0
    """Lines seen, repaints counted."""

    def feed(self, batch: Batch) -> None:
        """Read the next lines."""
        found = self.found
        texts = batch.texts if batch.ended else batch.texts[:-1]
        pending = found.fast.take(batch, texts)
        found.events.expect("\n".join([texts[k] for k in pending]))
        for k in pending:
            text = texts[k]
            if text and not text.isspace() and not found.fast.take_new(text, k):
                found.read(text, batch.numbers[k], self.count + k)
        found.saw(found.fast.flush(found.store, self.count))
        if not batch.ended and batch.texts:
            found.events.expect(batch.texts[-1])
            read_last_line(found, batch.texts[-1], batch.numbers[-1], self.count + len(texts))
        self.count += len(batch.texts)

    def close(self) -> None:
        """End what the end of the file cut short."""
        self.found.headers.close()
        row = self.found.box.close()
        if row is not None:
            self.found.add_block(row, self.count)
