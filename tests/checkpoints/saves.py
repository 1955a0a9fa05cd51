"""What the tests of openers share: values as the opener finds them, and as the library has them."""

import numpy as np

from forensics.checkpoints import DType, Opened, Role, StoredTensor, decoded_chunks

NUMPY = {DType.F64: "<f8", DType.F32: "<f4", DType.F16: "<f2", DType.I64: "<i8", DType.I32: "<i4",
         DType.U8: "<u1", DType.BOOL: "?"}  # fmt: skip


def raw(tensor: StoredTensor) -> bytes:
    """The bytes of a tensor, spelled out if need be."""
    return b"".join(decoded_chunks(tensor))


def array(tensor: StoredTensor) -> np.ndarray:
    """The values of a tensor."""
    return np.frombuffer(raw(tensor), NUMPY[tensor.dtype]).reshape(tensor.shape)


def torch_bytes(tensor) -> bytes:
    """The bytes of a tensor of torch, in element order."""
    import torch

    return tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def of_role(opened: Opened, *roles: Role) -> dict[str, StoredTensor]:
    """Name -> tensor, of some roles."""
    return {tensor.name: tensor for tensor in opened.tensors if tensor.role in roles}


def weights(opened: Opened) -> dict[str, StoredTensor]:
    """Parameters and buffers by name."""
    return of_role(opened, Role.PARAM, Role.BUFFER)


def assert_same_state(opened: Opened, state_dict) -> None:
    """Every tensor of a state dict is there, byte for byte, and nothing else."""
    found = weights(opened)
    assert list(found) == list(state_dict) or set(found) == set(state_dict)
    for name, tensor in state_dict.items():
        assert found[name].shape == tuple(tensor.shape), name
        assert raw(found[name]) == torch_bytes(tensor), name


def assert_same_moments(opened: Opened, names, optimizer_state) -> None:
    """Adam's moments and counters are there under the parameters' names.

    Args:
        opened: What was read.
        names: Parameter names, in the order of the optimizer's numbers.
        optimizer_state: ``Optimizer.state_dict()["state"]``.
    """
    for role in (Role.EXP_AVG, Role.EXP_AVG_SQ):
        found = of_role(opened, role)
        assert set(found) == {names[number] for number in optimizer_state}
        for number, slots in optimizer_state.items():
            assert raw(found[names[number]]) == torch_bytes(slots[str(role)])
    steps = {names[number]: float(slots["step"]) for number, slots in optimizer_state.items()}
    assert opened.state.optimizer_steps == steps


def assert_plain(error: Exception) -> None:
    """A message that a user can read: one line, no traceback."""
    text = str(error)
    assert text
    assert "\n" not in text
