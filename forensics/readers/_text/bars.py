"""Progress bars: tqdm's ``42%|████▏ | 42/100 [00:12<00:17, 3.4it/s, loss=2.3]`` and Keras'.

The drawing and the clock of a bar change with every repaint and say nothing: they are hidden
from the other grammars and left open in the learned template.
"""

import re
from dataclasses import dataclass

from forensics.readers._text.masks import HIDDEN

_TQDM = re.compile(
    r"(?<!\d)(?P<percent>\d{1,3})%\|(?P<drawing>[^|]*)\|"
    r"\s*(?P<n>\d+(?:\.\d+)?)(?P<unit>[kMG]?)/(?P<total>\d+(?:\.\d+)?)(?P<total_unit>[kMG]?)"
    r"\s*\[(?P<clock>[^,\]]*(?:,\s*[^,\]=]*(?=[,\]]|$))?)"
)
_DRAWING = re.compile(r"[━╸╺─█▉▊▋▌▍▎▏]+(?:[ ━╸╺─█▉▊▋▌▍▎▏]*[━╸╺─█▉▊▋▌▍▎▏])?|\[[=>.]{3,}\]")
_KERAS = re.compile(
    rf"^\s*(?P<n>\d+)/(?P<total>\d+|Unknown)(?=[\s{HIDDEN}]).*?"
    r"(?<![\w.])(?:\d+(?:\.\d+)?\s?(?:us|µs|ms|s)/(?:step|sample|epoch)|ETA: \S+)"
)
_EPOCHS_DESC = re.compile(r"(?i:^\s*epochs?\s*:?\s*$)")
_EVALUATION_DESC = re.compile(
    r"(?i:^\W*(?:sanity|val(?:id\w*)?|eval\w*|test\w*|predict\w*|sampl\w*|download\w*|load\w*|map|"
    r"filter\w*|tokeniz\w*|generat\w*|running)\b)"
)


@dataclass(frozen=True)
class Bar:
    """Where the parts of a progress bar stand on a line."""

    n: tuple[int, int]
    total: tuple[int, int] | None
    open_parts: tuple[tuple[tuple[int, int], str], ...]
    """Spans that change with every repaint, each with the pattern that its template may use."""
    hidden: str
    """The line with drawing, clock, n and total hidden."""
    keras: bool = False
    counts_epochs: bool = False
    evaluation: bool = False


def find_bar(line: str, masked: str) -> Bar | None:
    """Find a progress bar; ``masked`` is the same line with its noise hidden."""
    if "%|" in line:
        return _tqdm(line, masked)
    if "/step" in line or "/sample" in line or "ETA:" in line:
        return _keras(line, masked)
    return None


def hide_drawings(text: str) -> str:
    """Hide the blocks of a bar that some printer left without numbers of its own."""
    return _DRAWING.sub(lambda match: HIDDEN * len(match[0]), text)


def _tqdm(line: str, masked: str) -> Bar | None:
    match = _TQDM.search(line)
    if match is None or match["unit"] or match["total_unit"] or "." in match["n"]:
        return None
    desc = line[: match.start("percent")]
    hidden = masked[: match.start("percent")]
    hidden += HIDDEN * (match.end() - match.start("percent"))
    end = line.find("]", match.end())
    end = len(line) if end < 0 else end + 1
    hidden += masked[match.end() : end] + HIDDEN * (len(line) - end)
    return Bar(
        match.span("n"),
        match.span("total"),
        ((match.span("drawing"), r"[^|]*"), (match.span("clock"), r"[^,\]]*(?:,[^,\]=]*)?")),
        hidden,
        counts_epochs=bool(_EPOCHS_DESC.match(desc)),
        evaluation=bool(_EVALUATION_DESC.match(desc)),
    )


def _keras(line: str, masked: str) -> Bar | None:
    match = _KERAS.match(line)
    if match is None:
        return None
    total = match.span("total") if match["total"].isdigit() else None
    start = match.end("total")
    clock = ((start, match.end()), r".*?(?:ETA: \S+|/(?:step|sample|epoch))")
    hidden = HIDDEN * match.end() + masked[match.end() :]
    return Bar(match.span("n"), total, (clock,), hidden, keras=True)
