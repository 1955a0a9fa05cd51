"""A made-up log format, so that grouping is tested without any reader of the package.

A file is JSON: ``{"series": [[tag, steps, values, extras]], "settings": {}, "text": [kind]}``. It
may be written under two suffixes, ``.alog`` and ``.blog``: two formats.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from forensics.errors import UnreadableFile
from forensics.loading import load_runs
from forensics.readers._base import Reader, Reading
from forensics.run import Axis, Series, TextEvidence, TextKind


def _read(probe, progress):
    try:
        content = json.loads(probe.path.read_text())
    except ValueError as error:
        raise UnreadableFile(f"{probe.source}: no valid log") from error
    if content.get("bug"):
        raise ZeroDivisionError("a fault of the reader")
    progress(probe.size)
    series = tuple(
        Series(
            tag,
            np.array(steps, np.int64),
            np.array(values, float),
            probe.source,
            axis=Axis(extras.get("axis", "step")),
            run=extras.get("run", ""),
            wall_time=np.array(extras["wall"], float) if "wall" in extras else None,
        )
        for tag, steps, values, extras in content.get("series", [])
    )
    text = tuple(
        TextEvidence(TextKind(kind), kind, probe.source, 1) for kind in content.get("text", [])
    )
    return Reading(series, content.get("settings", {}), text)


READERS = tuple(
    Reader(f"format {suffix}", order, lambda p, s=suffix: p.path.suffix == f".{s}", _read)
    for order, suffix in ((10, "alog"), (20, "blog"))
)


def falling(first, last, every=10, start=4.0, slope=0.001, noise=0.0):
    """Steps from ``first`` to ``last`` and a loss that falls along them."""
    steps = list(range(first, last + 1, every))
    wobble = np.random.default_rng(len(steps)).normal(0, 1, len(steps)) * noise
    return steps, [start - slope * s + float(w) for s, w in zip(steps, wobble, strict=True)]


@dataclass(frozen=True)
class Folder:
    root: Path

    def log(self, path, curve=None, *, tag="loss", settings=None, text=(), more=(), **extras):
        """Write one file; ``curve`` is (steps, values)."""
        series = [[tag, *curve, extras]] if curve else []
        series += [[t, *c, extras] for t, c in more]
        content = {"series": series, "settings": settings or {}, "text": list(text)}
        return self.write(path, json.dumps(content))

    def write(self, path, content=""):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)
        return target

    def runs(self, path="", **options):
        return load_runs(self.root / path, readers=READERS, strict=True, **options)

    def names(self):
        return [run.name for run in self.runs()]

    def run(self):
        (only,) = self.runs()
        return only


def pieces(run, tag="loss"):
    """(source, first step, last step, number of points) of each piece of a tag, in order."""
    return [
        (s.source, int(s.step[0]), int(s.step[-1]), len(s.step)) for s in run.series if s.tag == tag
    ]


def tags(run):
    return sorted({s.tag for s in run.series})


ROOT_MAY_READ = os.geteuid() == 0
