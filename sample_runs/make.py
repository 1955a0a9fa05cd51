"""Makes the sample runs again: ``python sample_runs/make.py NAME...`` (or ``--all``).

Each run is a real training, done by one script in ``trainings/`` in an empty folder, with what it
prints captured in ``train.log``. ``--without-fault`` trains the control of a run and leaves its
folder as it is: a control must train well, or the fault was not the cause. ``truth.json`` is
written by hand and never touched.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
TRAININGS = HERE / "trainings"
LOG = "train.log"


@dataclass(frozen=True)
class Sample:
    """One run: its script and what is too large or too dull to keep of it."""

    script: str
    without: tuple[str, ...] = field(default=("**/rng_state.pth",))
    """Globs of files that are not kept."""


SAMPLES = {
    "hf_finetune_lr_too_high": Sample(
        "finetune_lr_too_high.py",
        ("**/rng_state.pth", "checkpoint-160/optimizer.pt", "checkpoint-240/*", "checkpoint-320/*"),
    ),
    "hf_nan_behind_filter": Sample(
        "nan_behind_filter.py",
        ("**/rng_state.pth", "checkpoint-80/*", "checkpoint-320/*", "checkpoint-400/optimizer.pt"),
    ),
    "hf_pretrain_healthy": Sample(
        "pretrain_healthy.py", ("**/rng_state.pth", "checkpoint-200/optimizer.pt")
    ),
    "lightning_healthy": Sample("lightning_healthy.py"),
    "lightning_overfit": Sample("lightning_overfit.py"),
    "lightning_validation_class_order": Sample("validation_class_order.py"),
    "torch_adam_spikes": Sample("adam_spikes.py"),
    "torch_bad_batch": Sample("bad_batch.py"),
    "torch_consecutive_spikes": Sample("consecutive_spikes.py"),
    "torch_half_precision_sum": Sample("half_precision_sum.py"),
    "torch_no_warmup_blow_up": Sample("no_warmup_blow_up.py"),
    "torch_no_warmup_stall": Sample("no_warmup_stall.py"),
    "torch_out_of_memory": Sample("memory_leak.py"),
    "torch_resume_without_optimizer": Sample("resume_without_optimizer.py"),
    "torch_weights_not_updated": Sample("weights_not_updated.py"),
}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="*", choices=[*SAMPLES, []], help="runs to make")
    parser.add_argument("--all", action="store_true", help="make every run")
    parser.add_argument("--without-fault", action="store_true", help="train the controls instead")
    parser.add_argument("--into", type=Path, default=HERE, help="where the folders are written")
    options = parser.parse_args(argv)
    for name in SAMPLES if options.all else options.name:
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder)
            code = train(SAMPLES[name], made, control=options.without_fault)
            print(f"{name}: exit status {code}; {last_line(made / LOG)}")
            if not options.without_fault or options.into != HERE:
                keep(SAMPLES[name], made, options.into / name)
    return 0


def train(sample: Sample, folder: Path, *, control: bool) -> int:
    """Run the script in ``folder``, with its output in ``train.log``; return its exit status."""
    command = [sys.executable, str(TRAININGS / sample.script)]
    quiet = {"TOKENIZERS_PARALLELISM": "false", "PYTHONDONTWRITEBYTECODE": "1"}
    with (folder / LOG).open("wb") as log:
        done = subprocess.run(
            command + ["--without-fault"] * control,
            cwd=folder,
            env=os.environ | quiet,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    return done.returncode


def last_line(log: Path) -> str:
    """Last line of a log that says something."""
    lines = [line for line in log.read_text().splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no output"


def keep(sample: Sample, made: Path, target: Path) -> None:
    """Put what was made in place of the files of ``target``, all but its ``truth.json``."""
    for pattern in sample.without:
        for path in made.glob(pattern):
            path.unlink()
    for folder in sorted((p for p in made.rglob("*") if p.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()
    make_neutral(made)
    target.mkdir(parents=True, exist_ok=True)
    for old in target.iterdir():
        if old.name != "truth.json":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copytree(made, target, dirs_exist_ok=True)


def make_neutral(folder: Path) -> None:
    """Take this machine's name out of file names, and its paths out of the log."""
    host = os.uname().nodename
    for path in sorted(folder.rglob("*"), reverse=True):
        name = re.sub(rf"([._]){re.escape(host)}\b(\.\d+)?", r"\1node", path.name)
        if name != path.name:
            path.rename(path.with_name(name))
    log = folder / LOG
    text = log.read_text()
    for place, word in (
        (str(TRAININGS.resolve()), "trainings"),
        (sysconfig.get_path("purelib"), "site-packages"),
        (sysconfig.get_path("stdlib"), "python"),
        (str(folder), "."),
    ):
        text = text.replace(place, word)
    log.write_text(text)


if __name__ == "__main__":
    sys.exit(main())
