"""The same runs through forensics and through the other diagnosers of training logs, side by side.

Every peer gets the logged scalars of a run and answers with its defaults (peer_tools.py); the
causes that its words name are read generously (peer_words.py). An alarm is a finding at warning or
worse; a number after a slash also counts remarks. "Right cause named" counts all that a peer names,
and of forensics the first three. forensics is asked twice: about the whole run directory, and about
the very files that the peers get.

    python benchmarks/peers.py --peers ~/peers --install            # the sample runs
    python benchmarks/peers.py --peers ~/peers --runs ZOO/measured  # a folder of labelled runs
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import peer_tools
from peer_verdicts import (
    FROM_LOGS,
    OURS,
    Row,
    Verdict,
    judge,
    show_runs,
    show_totals,
    totals,
    truth_of,
)

ROOT = Path(__file__).parents[1]
TIME_LIMIT_S = 300


def labelled(folders: Iterable[Path]) -> list[Path]:
    """Every run with a truth.json: the folders themselves and what lies in them."""
    found = {
        truth.parent for f in folders for p in ("", "*/") for truth in f.glob(p + "truth.json")
    }
    return sorted(found)


def ask_forensics(run: Path, home: Path) -> Verdict:
    report = home / "diagnosis.json"
    words = ["analyze", str(run), "-q", "-o", str(home / "report.html"), "--json", str(report)]
    done, seconds = _timed([sys.executable, "-m", "forensics", *words])
    if done.returncode != 0:
        return Verdict("", -1, (), seconds, error=_last_line(done.stderr))
    found = json.loads(report.read_text())
    failed = found["outcome"] not in ("healthy", "unknown")
    causes = [(h["cause"], h["probability"]) for h in found["hypotheses"]]
    first, sure = causes[0] if causes else ("", 0.0)
    shown = f"{found['outcome']}: {first} {sure:.2f}"
    extra = {"outcome": found["outcome"], "probability": sure}
    names = tuple(c for c, p in causes[:3] if p > 0.005)
    return Verdict(shown, 2 if failed else -1, names, seconds, extra=extra)


def ask_peer(name: str, programs: Path, given: peer_tools.Given) -> Verdict:
    peer = peer_tools.PEERS[name]
    done, seconds = _timed(peer.command(programs, given))
    try:
        findings = peer.findings(done.stdout)
    except (ValueError, KeyError, TypeError):
        return Verdict("", -1, (), seconds, error=_last_line(done.stderr or done.stdout))
    return judge(findings, seconds)


def _timed(command: Sequence[str]) -> tuple[subprocess.CompletedProcess[str], float]:
    begin = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        done = subprocess.CompletedProcess(command, 124, "", f"no answer in {TIME_LIMIT_S} s")
    return done, time.perf_counter() - begin


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no answer"])[-1][:200]


def ask_all(run: Path, programs: Path) -> dict[str, Verdict]:
    """Every tool's verdict on one run."""
    import forensics

    with tempfile.TemporaryDirectory() as home:
        given = peer_tools.give(run, forensics.open_run(run).frame, Path(home))
        verdicts = {
            OURS: ask_forensics(run, Path(home)),
            FROM_LOGS: ask_forensics(given.folder, Path(home)),
        }
        return verdicts | {name: ask_peer(name, programs, given) for name in peer_tools.PEERS}


def install(venv: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, *peer_tools.PEERS], check=True)


def installed(venv: Path) -> dict[str, str]:
    """The version of each peer."""
    code = (
        "import importlib.metadata as m, json, sys; "
        "print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
    )
    words = [str(venv / "bin" / "python"), "-c", code, *peer_tools.PEERS]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{venv}: the peers are not all installed there; --install makes it")
    versions: dict[str, str] = json.loads(done.stdout)
    return versions


def as_json(rows: Sequence[Row], versions: dict[str, str]) -> dict[str, object]:
    """Every verdict, and the counts."""
    runs = [
        {"run": truth.run, "outcome": truth.outcome, "cause": truth.cause}
        | {"verdicts": {tool: asdict(v) for tool, v in verdicts.items()}}
        for truth, verdicts in rows
    ]
    return {"versions": versions, "totals": totals(rows), "runs": runs}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--peers", type=Path, required=True, metavar="VENV")
    parser.add_argument("--install", action="store_true", help="make VENV with the peers first")
    parser.add_argument(
        "--runs", type=Path, nargs="+", default=[ROOT / "sample_runs"], metavar="DIR"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="every verdict")
    options = parser.parse_args()
    venv = options.peers.absolute()
    if options.install:
        install(venv)
    versions = installed(venv)
    runs = labelled(options.runs)
    if not runs:
        sys.exit("no truth.json in " + ", ".join(map(str, options.runs)))
    rows: list[Row] = []
    truths = [truth_of(run) for run in runs]
    for number, (run, truth) in enumerate(zip(runs, truths, strict=True), 1):
        print(f"{number} of {len(runs)}: {run.name}", file=sys.stderr)
        rows.append((truth, ask_all(run, venv / "bin")))
        if options.json:  # after every run: what was measured outlives an interruption
            options.json.write_text(json.dumps(as_json(rows, versions), indent=1))
    show_runs(rows)
    show_totals(totals(rows), versions)


if __name__ == "__main__":
    main()
