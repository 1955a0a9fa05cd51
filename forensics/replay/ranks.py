"""Several processes under ``torchrun``: the model wrapped in DDP, decisions taken together.

Every rank runs the same battery on its own batches. What decides how it goes on (losses, norms, the
time that is left) is averaged or taken from rank 0, so that no rank waits for another for ever.
"""

import os
from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WRAPPER = "DDP"


def world_size() -> int:
    """Processes of this replay; 1 without torchrun."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def join(device: torch.device) -> torch.device:
    """Join the process group where torchrun started us; gives the device of this rank."""
    if int(os.environ.get("WORLD_SIZE", "1")) < 2 or "MASTER_ADDR" not in os.environ:
        return device
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    if device.type != "cuda":
        return device
    own = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    torch.cuda.set_device(own)
    return own


def leave() -> None:
    """Leave the process group, where there is one."""
    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()


def wrapped(model: nn.Module) -> nn.Module:
    """The model as the ranks train it together; itself on a single process."""
    if world_size() == 1:
        return model
    # Unused parameters stop DDP otherwise, and the user's model is not ours to mend.
    return DistributedDataParallel(model, find_unused_parameters=True)


def averaged(values: Sequence[float]) -> list[float]:
    """Means over the ranks; the values themselves on a single process."""
    if world_size() == 1:
        return list(values)
    shared = torch.tensor(values, dtype=torch.float64)
    dist.all_reduce(shared)
    return [float(v) / world_size() for v in shared]


def of_first_rank(value: float) -> float:
    """Rank 0's value, on every rank."""
    if world_size() == 1:
        return value
    shared = torch.tensor([value], dtype=torch.float64)
    dist.broadcast(shared, 0)
    return float(shared[0])


def gathered(value: float) -> tuple[float, ...]:
    """Every rank's value, by rank."""
    if world_size() == 1:
        return (value,)
    mine = torch.zeros(world_size(), dtype=torch.float64)
    mine[dist.get_rank()] = value
    dist.all_reduce(mine)
    return tuple(float(v) for v in mine)


def summed(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Sums over the ranks, as new tensors."""
    copies = [t.detach().clone() for t in tensors]
    for copy in copies:
        dist.all_reduce(copy)
    return copies
