"""Speed of the checkpoint scan, as ratios in one run.

For each precision a file of the shapes of a llama is written, read once so that it lies in the
page cache, and gone through in three ways, in turn, several times; the best of each counts:

- plain torch: isnan, isinf, zeros, largest magnitude, RMS, tensor by tensor
- reading alone: the mapped bytes, as many threads as the scan uses
- the scan: all statistics in one pass

Run with ``python benchmarks/scan_checkpoint.py [--quick]``; needs torch, and 5 GB on disk. The
quick run takes files of 256 MB: where the last cache of the processor holds them, reading alone is
faster than memory, and its share says nothing.
"""

import argparse
import json
import math
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from forensics.checkpoints import open_checkpoint
from forensics.scan import scan_checkpoint
from forensics.scan.engine import processors

GOALS = {"BF16": (40, 0.5), "F32": (30, 0.5), "F16": (25, 0.4)}
"""At least this many times plain torch, and this share of the speed of reading alone."""
SMALL = 20 << 20
MOST_MEMORY, SMALL_RATIO, INDEX_SECONDS = 300, 1.5, 0.3


def llama_shapes(elements: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names and shapes of a decoder with about this many elements."""
    width = 4096 if elements > 1 << 28 else 1024 if elements > 1 << 26 else 256
    inner, vocabulary = width * 43 // 16, 125 * width // 16
    yield "model.embed_tokens.weight", (vocabulary, width)
    left, layer = elements - 2 * vocabulary * width, 0
    while left > 6 * width * width:  # half a layer
        stem = f"model.layers.{layer}"
        shapes = {
            **{f"self_attn.{p}_proj.weight": (width, width) for p in "qkvo"},
            **{f"mlp.{p}_proj.weight": (inner, width) for p in ("gate", "up")},
            "mlp.down_proj.weight": (width, inner),
            "input_layernorm.weight": (width,),
            "post_attention_layernorm.weight": (width,),
        }
        for name, shape in shapes.items():
            yield f"{stem}.{name}", shape
            left -= math.prod(shape)
        layer += 1
    yield "lm_head.weight", (vocabulary, width)


def weights(dtype: str, count: int) -> bytes:
    """Ordinary weights of a precision."""
    value = (np.random.default_rng(0).standard_normal(count) * 0.02).astype(np.float32)
    if dtype == "BF16":
        return (value.view(np.uint32) >> 16).astype(np.uint16).tobytes()
    return value.astype(np.float16).tobytes() if dtype == "F16" else value.tobytes()


def write_file(path: Path, dtype: str, nbytes: int) -> None:
    """A safetensors file of about this size."""
    size = 4 if dtype == "F32" else 2
    header, at = {}, 0
    for name, shape in llama_shapes(nbytes // size):
        end = at + math.prod(shape) * size
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    block = weights(dtype, (1 << 26) // size)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for start in range(0, at, len(block)):
            file.write(block[: at - start])


def plain_torch(path: Path) -> None:
    """What a person writes who has torch at hand."""
    import torch
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        for name in file.keys():  # noqa: SIM118 (it is no dictionary)
            tensor = file.get_tensor(name)
            torch.isnan(tensor).sum().item()
            torch.isinf(tensor).sum().item()
            (tensor == 0).sum().item()
            tensor.abs().max().item()
            tensor.float().pow(2).mean().sqrt().item()


def read_alone(path: Path) -> None:
    """Look at every mapped byte, and do nothing with it."""
    mapped = np.memmap(path, np.uint64, "r", shape=path.stat().st_size // 8)
    step = 1 << 17  # a megabyte
    with ThreadPoolExecutor(processors()) as pool:
        share = -(-len(mapped) // processors())

        def look(first: int) -> None:
            for start in range(first, min(first + share, len(mapped)), step):
                np.bitwise_xor.reduce(mapped[start : start + step])

        list(pool.map(look, range(0, len(mapped), share)))


def scan(path: Path) -> None:
    """Every statistic, with the compiled loops."""
    scan_checkpoint(open_checkpoint(path), compiled=True)


def seconds(work: Callable[[Path], None], path: Path) -> float:
    start = time.perf_counter()
    work(path)
    return time.perf_counter() - start


def compare(path: Path, dtype: str, repeats: int) -> bool:
    """Print one line of the table; True where the goals are met."""
    scan(path)  # compiles the loop, and brings the file into the page cache
    torch_time = seconds(plain_torch, path)
    rounds = [(seconds(read_alone, path), seconds(scan, path)) for _ in range(repeats)]
    reading, scanning = (min(times) for times in zip(*rounds, strict=True))
    share = statistics.median(read / scanned for read, scanned in rounds)
    times = torch_time / scanning
    goal_times, goal_share = GOALS[dtype]
    good = times >= goal_times and share >= goal_share
    print(
        f"{dtype:6} {path.stat().st_size / 1e9:6.2f} GB  torch {torch_time:6.2f} s  "
        f"reading {reading:5.2f} s  scan {scanning:5.2f} s  "
        f"{times:5.1f}x torch (goal {goal_times})  {share:4.2f} of reading (goal {goal_share})"
        f"{'' if good else '  MISSED'}",
        flush=True,
    )
    return good


def own_process(*arguments: str) -> float:
    """Seconds that a process takes from start to end, its modules compiled as pip leaves them."""
    settings = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run(arguments, stdout=subprocess.DEVNULL, check=True, env=settings)
    return time.perf_counter() - start


def compare_processes(path: Path, repeats: int) -> bool:
    """A small checkpoint, from the shell: no slower than numpy's own start, nearly."""
    command = (sys.executable, "-m", "forensics", "scan", str(path))
    code = f"import numpy; open({str(path)!r}, 'rb').read()"
    own_process(*command)  # compiles the modules
    rounds = [
        (own_process(sys.executable, "-c", code), own_process(*command)) for _ in range(repeats)
    ]
    base, ours = (min(times) for times in zip(*rounds, strict=True))
    ratio = statistics.median(scanned / read for read, scanned in rounds)
    print(
        f"small  {path.stat().st_size / 1e6:5.0f} MB  import numpy and read {base:.3f} s  "
        f"forensics scan {ours:.3f} s  {ratio:4.2f}x (goal {SMALL_RATIO})"
    )
    return ratio < SMALL_RATIO


def compare_memory(path: Path) -> bool:
    """Resident memory of a whole scan, as the process itself sees it at its end."""
    code = (
        "import sys; from forensics.cli import main; main(['scan', '-q', sys.argv[1]]); "
        "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    )
    start = time.perf_counter()
    command = (sys.executable, "-c", code, str(path))
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    took, memory = time.perf_counter() - start, int(ran.stdout) / 1024
    print(
        f"memory {path.stat().st_size / 1e9:6.2f} GB  whole process {took:5.2f} s  "
        f"resident {memory:4.0f} MB (goal {MOST_MEMORY})"
    )
    return memory < MOST_MEMORY


def compare_zip(folder: Path, nbytes: int, repeats: int) -> bool:
    """The same weights saved by torch, and the index of 1,000 tensors."""
    import torch

    raw, packed = folder / "same.safetensors", folder / "same.pt"
    write_file(raw, "BF16", nbytes)
    from safetensors.torch import load_file

    torch.save(load_file(raw), packed)
    scan(packed)
    rounds = [(seconds(scan, raw), seconds(scan, packed)) for _ in range(repeats)]
    ratio = statistics.median(zipped / plain for plain, zipped in rounds)
    many = folder / "many.pt"
    torch.save({f"layers.{i}.weight": torch.zeros(64, 64) for i in range(1000)}, many)
    index = min(seconds(lambda p: open_checkpoint(p) and None, many) for _ in range(repeats))
    print(
        f"zip    a .pt takes {ratio:.2f}x the time of safetensors; "
        f"index of 1,000 tensors {index:.3f} s (goal {INDEX_SECONDS})"
    )
    for path in (raw, packed, many):
        path.unlink()
    return index < INDEX_SECONDS


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="files of 256 MB in place of 4 GB")
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    nbytes = 1 << 28 if args.quick else 1 << 32
    good = []
    with tempfile.TemporaryDirectory(prefix="forensics-scan-") as temporary:
        path = Path(temporary) / "model.safetensors"
        for dtype in GOALS:
            write_file(path, dtype, nbytes)
            good.append(compare(path, dtype, args.repeats))
        good.append(compare_memory(path))
        path.unlink()
        good.append(compare_zip(Path(temporary), nbytes // 4, args.repeats))
        write_file(path, "BF16", SMALL)
        good.append(compare_processes(path, 3 * args.repeats))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
