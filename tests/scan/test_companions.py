"""Checkpoints that are files, with the optimizer in a file beside them."""

import pytest

from forensics.checkpoints import discover
from forensics.errors import UnreadableFile
from forensics.scan.moments import survey
from forensics.scan.paths import scan_path
from forensics.scan.series import ScanMode
from forensics.tree import grow

torch = pytest.importorskip("torch")


def write(root, *steps, moment=1.0):
    """Save weights and optimizer state at each step, in files of their own."""
    net = torch.nn.Linear(16, 16)
    optimizer = torch.optim.AdamW(net.parameters())
    net(torch.ones(2, 16)).sum().backward()
    optimizer.step()
    for step in steps:
        torch.save(net.state_dict(), root / f"model_{step}.pt")
        state = optimizer.state_dict()
        if step == steps[-1]:
            state["state"][0]["exp_avg_sq"].fill_(moment)
        torch.save(state, root / f"optimizer_{step}.pt")
    return root


def found(root):
    return discover(grow(root)).checkpoints


def test_weights_alone_have_nothing_beside_them(tmp_path):
    torch.save(torch.nn.Linear(4, 4).state_dict(), tmp_path / "model_10.pt")
    (one,) = found(tmp_path)
    assert one.beside == ()


def test_nothing_says_whose_optimizer_it_is(tmp_path):
    for name in ("best.pt", "final.pt", "optimizer.pt"):
        (write(tmp_path, 10) / "model_10.pt").rename(tmp_path / name)
    assert {one.path: one.beside for one in found(tmp_path)} == {"best.pt": (), "final.pt": ()}


def test_weights_that_are_damaged_are_not_replaced_by_their_optimizer(tmp_path):
    write(tmp_path, 10)
    data = (tmp_path / "model_10.pt").read_bytes()
    (tmp_path / "model_10.pt").write_bytes(data[:4] + bytes(len(data) - 4))
    with pytest.raises(UnreadableFile, match=r"model_10\.pt"):
        scan_path(tmp_path)


def test_each_has_the_optimizer_of_its_own_step(tmp_path):
    write(tmp_path, 10, 20)
    one, two = found(tmp_path)
    assert (one.path, one.beside) == ("model_10.pt", ("optimizer_10.pt",))
    assert (two.path, two.beside) == ("model_20.pt", ("optimizer_20.pt",))
    assert one.size == sum((tmp_path / name).stat().st_size for name in (one.path, *one.beside))


def test_moments_are_scanned_with_the_weights(tmp_path):
    scan = scan_path(write(tmp_path, 10, 20, moment=float("nan")))
    assert {t.role for t in scan.tensors} == {"param", "exp_avg", "exp_avg_sq"}
    assert {t.name for t in scan.tensors} == {"weight", "bias"}
    assert [(t.step, t.name, t.role) for t in scan.tensors if t.is_poisoned] == [
        (20, "weight", "exp_avg_sq")
    ]


def test_the_survey_sees_them_too(tmp_path):
    facts = survey(write(tmp_path, 10, 20), found(tmp_path), ScanMode.ALL)
    assert [len(one.moments) for one in facts.checkpoints] == [2, 2]
