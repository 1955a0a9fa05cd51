"""README says what is so: its commands, its causes, its sample runs, its formats."""

import argparse
import json
import re
from pathlib import Path

import pytest

from forensics import readers, registry
from forensics.causes import Family, all_causes
from forensics.cli import build_parser

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"```bash\n(.*?)```", README, re.DOTALL)


def block(name: str) -> list[str]:
    """Lines between the two comments of a table that is kept in step."""
    found = re.search(rf"<!-- {name}: .*?-->\n(.*?)<!-- end of {name} -->", README, re.DOTALL)
    assert found, f"README has no block of {name}"
    return found.group(1).splitlines()


def cause_table() -> list[str]:
    """The table of causes, by family in the order of the contract, then by name."""
    ordered = sorted(all_causes(), key=lambda c: (list(Family).index(c.family), c.name))
    rows = [f"| {c.family} | `{c.name}` | {c.claim} |" for c in ordered]
    return ["| group | cause | claim |", "|---|---|---|", *rows]


def sample_table() -> list[str]:
    """The table of sample runs, by name."""
    rows = []
    for path in sorted((ROOT / "sample_runs").glob("*/truth.json")):
        truth = json.loads(path.read_text())
        told = f"`{truth['outcome']}` | `{truth['cause']}` | {truth['notes']}"
        rows.append(f"| `{path.parent.name}` | {told} |")
    return ["| run | outcome | cause | what happened |", "|---|---|---|---|", *rows]


@pytest.mark.parametrize(("name", "made"), [("causes", cause_table), ("samples", sample_table)])
def test_tables_are_in_step(name, made):
    assert block(name) == made(), "run: python tests/test_readme.py"


def commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (group,) = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    return dict(group.choices)


def test_every_command_is_in_the_table_and_no_other():
    rows = re.findall(r"^\| `forensics (\w+)", README, re.MULTILINE)
    assert rows == list(commands(build_parser()))


def test_options_it_names_exist():
    known = {
        o for p in commands(build_parser()).values() for a in p._actions for o in a.option_strings
    }
    named = set(re.findall(r"`(--?[a-z][a-z-]*)(?: [A-Z]+)?`", README))
    assert named - {"--without-fault", "--all"} <= known


def test_every_reader_is_named():
    formats = README.split("### What it reads")[1].split("###")[0].lower()
    kinds = ("json", "yaml", "python", "toml")
    words = {f"{kind} configuration": "json, yaml, python and toml configuration" for kind in kinds}
    for reader in registry.collect(readers, "READER"):
        name = reader.name.lower()
        assert words.get(name, name) in formats


def test_there_are_two_scripts_that_set_up_by_themselves():
    main, tests = SCRIPTS
    for script in (main, tests):
        assert script.startswith("python3 -m venv .venv\n")
        assert "pip install" in script
    assert "forensics analyze sample_runs/" in main
    assert tests.index("torch==") < tests.index("[test]"), "else pip chooses a build of its own"
    assert tests.rstrip().endswith("pytest")


def test_the_run_it_analyses_and_every_file_it_names_exist():
    named = re.findall(r"`((?:sample_runs|notebooks|reports|tests)/[\w./]*|[A-Z]+\.md)`", README)
    named += re.findall(r"\]\(([\w./]+)\)", README)
    named += re.findall(r"sample_runs/[\w./]*\w", README)
    assert len(named) > 8
    missing = [name for name in named if not (ROOT / name).exists()]
    assert not missing


def test_its_recorder_captures_the_batch(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    section = README.split("### Capture batches for next time")[1]
    example = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert example
    monkeypatch.chdir(tmp_path)
    model = torch.nn.Linear(2, 1)
    names = {
        "model": model,
        "optimizer": torch.optim.SGD(model.parameters(), lr=0.01),
        "batches": [{"x": torch.full((4, 2), b)} for b in (1.0, 1.0, float("nan"), 1.0)],
        "loss_of": lambda net, batch: net(batch["x"]).square().mean(),
    }
    exec(example[1], names)
    saved = sorted(path.name for path in (tmp_path / "runs/exp1/batches").glob("*.safetensors"))
    assert saved == ["step_1.safetensors", "step_2.safetensors", "step_3.safetensors"]


def test_the_replay_file_it_shows_is_the_one_that_is_run():
    shown = "\n".join(block("replay file"))
    path = ROOT / "sample_runs" / "trainings" / "bad_batch_replay.py"
    assert shown == f"```python\n{path.read_text(encoding='utf-8').rstrip()}\n```"


def test_the_picture_is_small():
    picture = ROOT / "reports" / "example.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 300_000


def test_it_opens_with_one_sentence_and_a_picture():
    title, sentence, picture, *_ = README.split("\n\n")
    assert title == "# forensics"
    assert sentence.count(".") == 1
    assert picture.startswith("![")


def write_tables() -> None:
    """Bring the tables of README.md up to date."""
    text = README
    for name, made in (("causes", cause_table), ("samples", sample_table)):
        pattern = rf"(<!-- {name}: .*?-->\n).*?(<!-- end of {name} -->)"
        table = "\n".join(made()) + "\n"
        text = re.sub(pattern, lambda m, t=table: m[1] + t + m[2], text, flags=re.DOTALL)
    (ROOT / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_tables()
