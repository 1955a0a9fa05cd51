import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RENDER = """
from pathlib import Path
import forensics
from forensics.case import Case
from forensics.findings import Judgement, Outcome, Symptom
from forensics.report import html_report, templates
from forensics.run import Run
from forensics.timeline import Timeline
from forensics.verdict import Cost, Recommendation, Verdict

judgement = Judgement(Outcome.UNKNOWN, Symptom.NONE, None, None, None, "Nothing was logged.")
case = Case(Run(Path("elsewhere")), Timeline(), (), judgement)
advice = Recommendation(None, None, "", (), ())
verdict = Verdict(case, "From a wheel.", (), 1.0, (), None, None, advice, (), (), (),
                  Cost(None, None, None), (), ())
Path("report.html").write_text(html_report.render(verdict), encoding="utf-8")
print(Path(forensics.__file__).parent)
print(templates.template_folder())
"""


@pytest.mark.skipif(
    importlib.util.find_spec("hatchling") is None or importlib.util.find_spec("pip") is None,
    reason="needs hatchling and pip, to build and install without a network",
)
def test_an_installed_wheel_renders_outside_the_checkout(tmp_path: Path) -> None:
    source, dist, target = tmp_path / "source", tmp_path / "dist", tmp_path / "target"
    _copy(source)
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(dist), cwd=source)
    (wheel,) = dist.glob("*.whl")
    options = ("--no-deps", "--no-index", "--no-compile", "-q", "--target", str(target))
    _run(sys.executable, "-m", "pip", "install", *options, str(wheel), cwd=tmp_path)
    shutil.rmtree(source)
    told = _run(sys.executable, "-c", RENDER, cwd=tmp_path, path=target).split()
    assert told == [str(target / "forensics"), str(target / "forensics" / "_templates")]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h1>From a wheel.</h1>" in page
    assert "run-forensics 0." in page


def _copy(target: Path) -> None:
    """What a wheel is made of, so that nothing is written into the checkout."""
    ignore = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
    for folder in ("forensics", "reports"):
        shutil.copytree(ROOT / folder, target / folder, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, target / name)
        else:
            (target / name).touch()


def _run(*command: str, cwd: Path, path: Path | None = None) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment |= {"PYTHONPATH": str(path)} if path is not None else {}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
