import io
import zipfile

import pytest

from forensics.checkpoints import open_checkpoint
from forensics.errors import UnreadableFile
from tests.checkpoints.saves import assert_same_moments, assert_same_state

torch = pytest.importorskip("torch")


def saved(value):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


def test_a_zip_of_other_things_is_no_checkpoint(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a.txt", "text")
        archive.writestr("b.zip", b"PK\x03\x04 and then nothing")
    with pytest.raises(UnreadableFile):
        open_checkpoint(tmp_path / "x.zip")


@pytest.fixture
def policy(net, tmp_path):
    model, optimizer, _ = net
    with zipfile.ZipFile(tmp_path / "agent.zip", "w") as archive:
        archive.writestr("data", '{"gamma": 0.99}')
        archive.writestr("pytorch_variables.pth", saved({}))
        archive.writestr("policy.pth", saved(model.state_dict()))
        archive.writestr("policy.optimizer.pth", saved(optimizer.state_dict()))
    return tmp_path / "agent.zip"


def test_a_policy_with_its_optimizer(policy, net):
    opened = open_checkpoint(policy)
    assert_same_state(opened, net[0].state_dict())
    names = [name for name, _ in net[0].named_parameters()]
    assert_same_moments(opened, names, net[1].state_dict()["state"])


def test_a_policy_that_is_cut_off_keeps_what_is_whole(policy, net):
    data = policy.read_bytes()
    policy.write_bytes(data[: data.index(b"policy.optimizer.pth") - 30])
    opened = open_checkpoint(policy)
    assert_same_state(opened, net[0].state_dict())
    assert any("is cut off" in note.text for note in opened.notes)
