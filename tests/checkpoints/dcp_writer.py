"""One process of two that train with FSDP and save with ``torch.distributed.checkpoint``.

Run as ``python dcp_writer.py RANK FOLDER``. The whole state, gathered, is saved beside it.
"""

import sys

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


def build() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Embedding(10, 8),
        torch.nn.Linear(8, 6),
        torch.nn.BatchNorm1d(6),
        torch.nn.Linear(6, 3),
    )


def main(rank: int, folder: str) -> None:
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=2
    )
    model = build()
    fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    model(torch.arange(10)).square().sum().backward()
    optimizer.step()
    weights, state = get_state_dict(model, optimizer)
    save = {"model": weights, "optim": state, "train_state": {"step": 7}}
    dcp.save(save, checkpoint_id=f"{folder}/nested")
    flat = get_state_dict(
        model, optimizer, options=StateDictOptions(flatten_optimizer_state_dict=True)
    )
    dcp.save({**flat[0], "optimizer": flat[1]}, checkpoint_id=f"{folder}/flat")
    whole = get_state_dict(
        model, optimizer, options=StateDictOptions(full_state_dict=True, cpu_offload=True)
    )
    if rank == 0:
        torch.save(whole, f"{folder}/whole.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
