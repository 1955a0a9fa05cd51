"""Reading scalars from event files: forensics against TensorBoard's EventAccumulator.

Both read the same files, each in a process of its own, every checksum verified and every point
kept. *In process* is the reading alone; *whole process* is what a shell would measure, with the
start of Python and all imports; on a busy machine the CPU times say more. Both must find the same
points.

    python benchmarks/read_tensorboard.py           # ten minutes, nearly all of it TensorBoard's
    python benchmarks/read_tensorboard.py --quick   # 50,000 events, half a minute
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from forensics.readers._event_file.crc32c import masked_crc, masked_crc_of_rows

TAGS = ("train/loss", "train/grad_norm", "train/learning_rate", "eval/loss")
CHUNK = 50_000  # steps written at a time
BUCKETS = 60  # of each histogram
REPEATS = 5  # of forensics, the median counts; TensorBoard takes long enough to be run once

_SPENT = """
usage = resource.getrusage(resource.RUSAGE_SELF)
spent = [seconds, cpu, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3]
print(json.dumps([spent, points]))
"""
FORENSICS = f"""
import json, resource, sys, time
from pathlib import Path
from forensics.readers._base import Probe, no_progress
from forensics.readers.tensorboard_events import READER
path = Path(sys.argv[1])
begin, cpu = time.perf_counter(), time.process_time()
found = READER.read(Probe(path, path.parent, path.stat().st_size), no_progress)
seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
points = {{s.tag: [len(s.step), int(s.step[-1]), float(s.value[-1])] for s in found.series}}
{_SPENT}"""
TENSORBOARD = f"""
import json, resource, sys, time
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
keep_all = {{"scalars": 0, "tensors": 0, "histograms": 0}}
begin, cpu = time.perf_counter(), time.process_time()
found = EventAccumulator(sys.argv[1], size_guidance=keep_all)
found.Reload()
seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
points = {{}}
for tag in found.Tags()["scalars"]:
    events = found.Scalars(tag)
    points[tag] = [len(events), events[-1].step, events[-1].value]
for tag in found.Tags()["tensors"]:
    events = found.Tensors(tag)
    points[tag] = [len(events), events[-1].step, events[-1].tensor_proto.float_val[0]]
{_SPENT}"""


@dataclass(frozen=True)
class Case:
    """One file to read."""

    name: str
    events: int
    tensors: Callable[[str], bool]
    """Whether a tag is written as a tensor."""
    histograms: bool = False
    target: str = ""


def cases(quick: bool) -> list[Case]:
    """Small files are mostly start-up, so there is no target for them."""
    million, many = (50_000, 100_000) if quick else (1_000_000, 10_000_000)
    target = "" if quick else " (target: 50x, 30x)"
    return [
        Case("plain numbers", million, lambda _: False, target=target),
        Case("tensors", million, lambda _: True, target=target),
        Case("mixed, histograms", million, lambda tag: "/l" in tag, histograms=True, target=target),
        Case("plain numbers", many, lambda _: False, target=target and " (target: 60x, 60x)"),
    ]


# Writing


def write(path: Path, case: Case) -> None:
    """An event file with equally many points of each tag, steps from 1 on."""
    steps = case.events // len(TAGS)
    with path.open("wb") as file:
        file.write(_record(b"\x09" + bytes(8) + b"\x1a\x0dbrain.Event:2"))
        for first, last in _stretches(steps):
            step = np.arange(first, last)
            rows = [_scalars(tag, step, case.tensors(tag)) for tag in TAGS]
            events = np.concatenate(rows, axis=1)
            for part in np.array_split(events, max(1, len(step) // 100)):
                file.write(part.tobytes())
                if case.histograms:
                    file.write(_histogram(int(step[0])))


def _stretches(steps: int) -> Iterator[tuple[int, int]]:
    """Ranges of steps whose varints have the same number of bytes."""
    edges = [1, *(128**k for k in range(1, 5) if 128**k <= steps), steps + 1]
    for begin, end in pairwise(edges):
        for first in range(begin, end, CHUNK):
            yield first, min(first + CHUNK, end)


def _scalars(tag: str, step: NDArray[np.int64], tensor: bool) -> NDArray[np.uint8]:
    """Shape (n, size): one framed event for each step."""
    name = b"\x0a" + bytes([len(tag)]) + tag.encode()
    number = b"\x15" + bytes(4)
    if tensor:
        number = b"\x42\x0a\x08\x01\x12\x00\x2a\x04" + bytes(4)
    plugin = b"\x4a\x0b\x0a\x09\x0a\x07scalars" if tensor else b""
    value = name + number + plugin
    varint = _varint(int(step[0]))
    summary = b"\x0a" + bytes([len(value)]) + value
    head = b"\x09" + bytes(8) + b"\x10" + varint + b"\x2a" + bytes([len(summary)])
    rows = np.tile(np.frombuffer(head + summary, np.uint8), (len(step), 1))
    rows[:, 1:9] = _bytes(1.7e9 + 0.1 * step, "<f8")
    for k in range(len(varint)):
        rows[:, 10 + k] = (step >> 7 * k & 127) | (128 if k < len(varint) - 1 else 0)
    end = rows.shape[1] - len(plugin)
    rows[:, end - 4 : end] = _bytes(np.random.default_rng(int(step[0])).random(len(step)), "<f4")
    return _framed(rows)


def _bytes(values: NDArray[np.float64], dtype: str) -> NDArray[np.uint8]:
    return values.astype(dtype).view(np.uint8).reshape(len(values), -1)


def _framed(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    count, length = rows.shape
    words = np.zeros((count, -(-length // 8) * 8), np.uint8)
    words[:, words.shape[1] - length :] = rows
    header = np.frombuffer(_header(length), np.uint8)
    crc = masked_crc_of_rows(words.view("<u8"), length).view(np.uint8).reshape(count, 4)
    return np.concatenate((np.tile(header, (count, 1)), rows, crc), axis=1)


def _record(payload: bytes) -> bytes:
    return _header(len(payload)) + payload + masked_crc(payload).to_bytes(4, "little")


def _header(length: int) -> bytes:
    size = length.to_bytes(8, "little")
    return size + masked_crc(size).to_bytes(4, "little")


def _varint(number: int) -> bytes:
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + _varint(rest) if rest else bytes([low])


def _histogram(seed: int) -> bytes:
    """A framed event with a histogram of the usual size."""
    random = np.random.default_rng(seed)
    packed = random.random(BUCKETS).tobytes()
    size = _varint(len(packed))
    histogram = b"\x32" + size + packed + b"\x3a" + size + packed
    value = b"\x0a\x07weights\x2a" + _varint(len(histogram)) + histogram
    summary = b"\x0a" + _varint(len(value)) + value
    step = b"\x10" + _varint(seed)
    return _record(b"\x09" + bytes(8) + step + b"\x2a" + _varint(len(summary)) + summary)


# Measuring


@dataclass(frozen=True)
class Measured:
    """One tool on one file; times in seconds."""

    in_process: float
    in_process_cpu: float
    whole: float
    whole_cpu: float
    memory: float
    """Highest resident memory in MB."""
    points: object


def measure(code: str, path: Path, repeats: int) -> Measured:
    runs = [_run(code, path) for _ in range(repeats)]
    middle = [statistics.median(column) for column in zip(*(run[:5] for run in runs), strict=True)]
    return Measured(*middle, points=runs[0][5])


def _run(code: str, path: Path) -> tuple[float, float, float, float, float, object]:
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True
    )
    whole = time.perf_counter() - begin
    (seconds, cpu, whole_cpu, memory), points = json.loads(done.stdout)
    return seconds, cpu, whole, whole_cpu, memory, points


def report(case: Case, ours: Measured, theirs: Measured) -> None:
    print(f"{case.name}, {case.events:,} events{case.target}")
    _line("in process", ours.in_process, theirs.in_process)
    _line("  its CPU time", ours.in_process_cpu, theirs.in_process_cpu)
    _line("whole process", ours.whole, theirs.whole)
    _line("  its CPU time", ours.whole_cpu, theirs.whole_cpu)
    print(f"  {'peak memory':15} {ours.memory:8.0f} MB {theirs.memory:13.0f} MB", flush=True)


def _line(what: str, ours: float, theirs: float) -> None:
    print(f"  {what:15} {ours:9.3f} s {theirs:14.2f} s {theirs / ours:8.0f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small files: does it run at all")
    quick = parser.parse_args().quick
    print(f"{'':17} {'forensics':>10} {'EventAccumulator':>16} {'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(cases(quick)):
            path = Path(folder) / str(number) / "events.out.tfevents.1.host"
            path.parent.mkdir()
            write(path, case)
            ours = measure(FORENSICS, path, REPEATS)
            theirs = measure(TENSORBOARD, path, 1)
            path.unlink()
            if ours.points != theirs.points:
                sys.exit(f"{case.name}: the two readers differ: {ours.points} {theirs.points}")
            report(case, ours, theirs)


if __name__ == "__main__":
    main()
