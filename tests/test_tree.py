import os

import pytest

from forensics.natural_order import natural_key
from forensics.tree import grow


def write(root, *paths):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")


def paths(tree):
    return [file.path for file in tree.files]


def test_software_and_caches_are_passed_over(tmp_path):
    write(tmp_path, ".git/HEAD", "venv/lib/x.py", "a/__pycache__/m.pyc", "node_modules/p.js")
    assert paths(grow(tmp_path)) == []


def test_links_and_loops_are_not_followed(tmp_path):
    inside, outside = tmp_path / "run", tmp_path / "outside.log"
    outside.write_text("secret")
    write(inside, "logs/a.log")
    (inside / "loop").symlink_to(inside)
    (inside / "latest.log").symlink_to(inside / "logs/a.log")
    (inside / "away.log").symlink_to(outside)
    (inside / "self").symlink_to(inside / "self")
    tree = grow(inside)
    assert paths(tree) == ["logs/a.log"]
    assert [p.path for p in tree.passed_over if "leads out" in p.reason] == ["away.log", "self"]


def test_a_pipe_is_never_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.log")
    assert paths(grow(tmp_path)) == []


def test_a_name_that_is_no_text_is_noted(tmp_path):
    (tmp_path / os.fsdecode(b"bad\xff.log")).write_text("x")
    tree = grow(tmp_path)
    assert paths(tree) == []
    assert "UTF-8" in tree.passed_over[0].reason
    tree.passed_over[0].path.encode()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_noted(tmp_path):
    write(tmp_path, "a/x.log", "b/y.log")
    (tmp_path / "a").chmod(0)
    tree = grow(tmp_path)
    (tmp_path / "a").chmod(0o700)
    assert paths(tree) == ["b/y.log"]
    assert tree.passed_over[0].path == "a"


def test_too_many_files_and_too_many_notes_are_summed_up(tmp_path):
    write(tmp_path, *(f"{i}.log" for i in range(12)))
    tree = grow(tmp_path, max_files=10)
    assert len(tree.files) == 10
    assert "more than 10 files" in tree.passed_over[0].reason
    for i in range(9):
        (tmp_path / f"link{i}").symlink_to("/nowhere")
    reasons = [p.reason for p in grow(tmp_path).passed_over]
    assert len(reasons) == 4
    assert reasons[-1].startswith("6 more: link")


def test_a_missing_root_is_the_callers_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        grow(tmp_path / "missing")


def test_files_come_in_natural_order_with_their_sizes(tmp_path):
    write(tmp_path, "step_10/x", "step_9/x", "a.log")
    tree = grow(tmp_path)
    assert paths(tree) == ["a.log", "step_9/x", "step_10/x"]
    assert tree.files[1].size == 1
    assert (tree.files[1].folder, tree.files[1].name) == ("step_9", "x")


def test_one_file_stands_for_itself(tmp_path):
    write(tmp_path, "a.log", "b.log")
    tree = grow(tmp_path / "a.log")
    assert tree.root == tmp_path
    assert paths(tree) == ["a.log"]


def test_natural_key_orders_numbers_by_value():
    names = ["v10", "v2", "v2b", "V3"]
    assert sorted(names, key=natural_key) == ["v2", "v2b", "V3", "v10"]
