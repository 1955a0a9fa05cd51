"""Training text on standard output, whoever printed it.

::

    iter 100: loss 3.1234, time 135.42ms, mfu 36.91%
    {'loss': 2.3031, 'grad_norm': nan, 'learning_rate': 4.9e-05, 'epoch': 0.01}
    Epoch [3/10], Step [100/600], Loss: 0.1234

Quantities become series, settings printed at the top become settings, and lines that prove
something (a traceback, a skipped step, a resume) become evidence. The fallback for text: asked
after all readers of a particular format.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.readers._text.assemble import assemble
from forensics.readers._text.lines import Batch, encoding_of, read_batches
from forensics.readers._text.stream import Stream
from forensics.readers._text.unnamed import with_names
from forensics.run import TextKind

_LOG_NAME = re.compile(
    r"(?i:\.(?:log|out|err|stdout|stderr)(?:\.\d+|\.txt)?$|^(?:stdout|stderr|nohup|output|console|log)(?:\.\w+)?$|"
    r"^slurm[-_].*|.*[-_.](?:stdout|stderr)$)"
)
_NOT_A_LOG = re.compile(
    r"(?i:\.(?:py|pyx|ipynb|c|cc|cpp|cu|h|hpp|java|js|ts|go|rs|sh|bash|ps1|bat|md|rst|tex|html?|xml|svg|css|csv|tsv|"
    r"json|jsonl|ya?ml|toml|ini|cfg|conf|lock|sql|proto|r|lua|pl|diff|patch|bib|gitignore|dockerfile)$|"
    r"^(?:readme|licen[cs]e|copying|notice|authors|contributing|changelog|requirements|constraints|makefile|"
    r"dockerfile|metadata|record|vocab|merges|tokenizer|environment)[\w.-]*$)"
)
_OF_WANDB = re.compile(r"/(?:offline-)?run-\d{8}_\d{6}-\w+/logs/debug[\w-]*\.log$")
"""What W&B logs of itself."""
_CONTROL = re.compile(rb"[\x01-\x07\x0e-\x1a\x1c-\x1f]")
_NUL_RUNS = re.compile(rb"\0+")
_TAIL_BYTES = 1 << 15
_WEAK = {
    TextKind.CHECKPOINT_SAVED,
    TextKind.RUN_STARTED,
    TextKind.RUN_FINISHED,
    TextKind.RESUMED,
    TextKind.PRETRAINED,
}


def sniff(probe: Probe) -> bool:
    """Whether the file is text that logs a run.

    A name that says log is enough for text; any other text has to hold two rows of quantities or
    a line that proves something, in its head or its tail.

    Raises:
        OSError: The file may not be read.
    """
    if _NOT_A_LOG.search(probe.path.name) or _OF_WANDB.search(str(probe.path).replace("\\", "/")):
        return False
    if not _is_text(probe.head):
        return False
    if _LOG_NAME.search(probe.path.name):
        return True
    return _logs(probe.head) or (probe.size > len(probe.head) and _logs(_tail(probe.path)))


def _is_text(head: bytes) -> bool:
    if not head.strip(b"\0"):
        return False
    if encoding_of(head) != "utf-8":
        return True
    allowed = max(4, len(head) // 200)
    return len(_CONTROL.findall(head)) <= allowed and len(_NUL_RUNS.findall(head)) <= allowed


def _logs(text: bytes) -> bool:
    stream = Stream()
    for batch in _batches(text):
        stream.feed(batch)
    kinds = {event.kind for event in stream.found.events.finish()[0]}
    tables = with_names(stream.found.store.finish())
    measured = sum(len(t) for t in tables if t.layout.measures)
    return measured >= 2 or bool(kinds - _WEAK)


def _batches(text: bytes) -> Iterator[Batch]:
    import io

    return read_batches(io.BytesIO(text))


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-_TAIL_BYTES, 2)
        return file.read()


def read(probe: Probe, progress: Progress) -> Reading:
    """Read the whole file.

    Raises:
        UnreadableFile: It could not be opened.
    """
    stream = Stream()
    try:
        with probe.path.open("rb") as file:
            for batch in read_batches(file):
                stream.feed(batch)
                progress(batch.size)
    except OSError as error:
        raise UnreadableFile(f"{probe.source}: cannot be read ({error.strerror})") from error
    stream.close()
    return assemble(stream.found, probe.source)


READER = Reader("training log", 90, sniff, read)
