"""The parent's side: starts the child, waits no longer than the budget, keeps what it found."""

import contextlib
import importlib.util
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from forensics.errors import UsageError
from forensics.replay.memory import does_not_fit
from forensics.replay.plan import ReplayPlan
from forensics.replay_facts import ReplayFacts

ADAPTERS = frozenset({"auto"})
"""What may stand in place of a replay file: the run itself gives model and batches."""
START = 60.0
"""Seconds that importing torch and the user's file may take on a busy machine, at most."""
GRACE = 5.0
"""Seconds for the child to end after it noted, past its budget, where it was."""
LOOK = 0.1
"""Seconds between two looks at the child."""


MOST_ERRORS = 1 << 20
"""Bytes of standard error after which it is cut: user code may print without end."""


def check_call(source: str, device: str, budget: float) -> None:
    """Whether a replay can be asked for like this at all.

    Raises:
        UsageError: There is no such file or adapter, no such kind of device, no budget, or no
            torch.
    """
    if source not in ADAPTERS and not Path(source).is_file():
        known = ", ".join(sorted(ADAPTERS))
        raise UsageError(f"{source}: there is no such replay file (without one: {known})")
    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", device):
        raise UsageError(f"--device {device}: it is auto, cpu, cuda or cuda:N")
    if not 0 < budget < float("inf"):
        raise UsageError(f"--budget {budget:g}: it is a number of seconds above zero")
    if importlib.util.find_spec("torch") is None:
        raise UsageError("a replay needs torch: pip install 'run-forensics[replay]'")


def run_replay(plan: ReplayPlan) -> ReplayFacts:
    """Run the battery in a process of its own: user code may hang, crash or eat all memory."""
    trouble = does_not_fit(plan)
    if trouble:
        return _nothing(plan, trouble)
    with tempfile.TemporaryDirectory(prefix="forensics-replay-") as folder:
        where = Path(folder)
        (where / "plan").write_bytes(pickle.dumps(plan))
        (where / "results").touch()
        status, errors = _ran(plan, where)
        facts = _last(where / "results")
        ending = _ending(plan, status, errors, where)
    if facts is None:
        return _nothing(plan, ending or "the replay process ended without a word")
    return replace(facts, failures=(*facts.failures, ending)) if ending else facts


def _ran(plan: ReplayPlan, where: Path) -> tuple[int | None, str]:
    """Exit status (None: stopped by us) and the end of what it wrote to standard error."""
    command = [sys.executable, "-m", "forensics.replay.worker"]
    command += [str(where / name) for name in ("plan", "results", "traces", "call")]
    # The very package that runs here, from whichever folder.
    paths = [str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    with (where / "errors").open("ab") as errors:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        try:
            status = _waited(process, plan.budget, where)
        finally:
            _stop(process)
    text = (where / "errors").read_text("utf-8", "replace")
    return status, text[-MOST_ERRORS:]


def _waited(process: "subprocess.Popen[bytes]", budget: float, where: Path) -> int | None:
    """Exit status; None where the child was still running past its budget."""
    started, overdue = time.monotonic(), 0.0
    traces, errors = where / "traces", where / "errors"
    while (status := process.poll()) is None:
        now = time.monotonic()
        # The child's own clock begins once torch is imported; it notes when its budget is over.
        if not overdue and traces.is_file() and traces.stat().st_size:
            overdue = now
        if now - started > budget + START or (overdue and now - overdue > GRACE):
            return None
        if errors.stat().st_size > MOST_ERRORS:
            os.truncate(errors, 0)
        time.sleep(LOOK)
    return status


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """End the child and whatever it started (data loader workers)."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last(results: Path) -> ReplayFacts | None:
    """The newest complete record; our own child wrote the file."""
    facts: ReplayFacts | None = None
    with results.open("rb") as file:
        while True:
            try:
                facts = pickle.load(file)
            except (EOFError, pickle.UnpicklingError):
                return facts


def _ending(plan: ReplayPlan, status: int | None, errors: str, where: Path) -> str:
    """One line on how the child ended, '' where it ended well."""
    if status == 0:
        return ""
    place = _traced(plan, where / "traces") or _called(where / "call") or plan.source
    if status is None:
        return f"{place}: still running at the end of the budget; it was stopped"
    if status == -signal.SIGKILL:
        return f"{place}: the replay ran out of memory (the system ended it)"
    if status < 0:
        return f"{place}: the replay crashed ({signal.Signals(-status).name})"
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    if not any(line.startswith("Traceback") for line in lines):
        return f"{place}: it ended the process (exit status {status})"
    return f"{place}: the replay ended early: {lines[-1]}"


def _traced(plan: ReplayPlan, traces: Path) -> str:
    """File and line of the user's code that was running, from the child's own trace, or ''."""
    text = traces.read_text("utf-8", "replace") if traces.is_file() else ""
    name = re.escape(Path(plan.source).name)
    found = re.search(rf'File "[^"]*{name}", line (\d+) in (\S+)', text)
    return f"{plan.source}:{found[1]}: {found[2]}" if found else ""


def _called(call: Path) -> str:
    """The piece of the user's code that the child entered last, or ''."""
    return call.read_text("utf-8", "replace").strip() if call.is_file() else ""


def _nothing(plan: ReplayPlan, failure: str) -> ReplayFacts:
    return ReplayFacts(
        source=plan.source,
        device="",
        precision=plan.settings.precision,
        seconds=0.0,
        budget=plan.budget,
        suspect_step=plan.suspect_step,
        failures=(failure,),
    )
