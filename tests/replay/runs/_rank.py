"""One rank of a data-parallel training: ``python _rank.py FOLDER SETTINGS RANK``."""

import json
import sys
from pathlib import Path

import torch
from torch import distributed


def main(folder: Path, settings: dict, rank: int) -> None:
    """Train; rank 0 writes the checkpoints and ``rows.json``."""
    sys.path.insert(0, str(folder))
    import replay as project  # the user's file, beside its project

    torch.set_num_threads(1)
    world = settings["world_size"]
    meeting = f"file://{folder / 'meeting'}"
    distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=world)
    torch.manual_seed(settings["seed"])
    model = project.build_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=settings["learning_rate"])
    rows = []
    for step in range(1, settings["steps"] + 1):
        rate = settings["learning_rate"] * min(1.0, step / settings["warmup_steps"])
        optimizer.param_groups[0]["lr"] = rate
        mine = tuple(part.chunk(world)[rank] for part in project.load_batch(step))
        loss = project.compute_loss(model, mine)
        optimizer.zero_grad()
        loss.backward()
        reduce(model, world if settings["divided"] else 1)
        norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])
        optimizer.step()
        row = {"step": step, "loss": loss.item(), "grad_norm": norm.item(), "lr": rate}
        rows.append(row)
        if rank == 0 and step % settings["save_every"] == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save(state | {"step": step}, folder / f"run/checkpoints/step_{step}.pt")
    if rank == 0:
        (folder / "rows.json").write_text(json.dumps(rows))
    distributed.destroy_process_group()


def reduce(model: torch.nn.Module, divisor: int) -> None:
    """Gradients added up over the ranks, in one bucket."""
    gradients = [p.grad for p in model.parameters()]
    bucket = torch.cat([g.flatten() for g in gradients])
    distributed.all_reduce(bucket)
    bucket /= divisor
    for gradient, part in zip(gradients, bucket.split([g.numel() for g in gradients]), strict=True):
        gradient.copy_(part.view_as(gradient))


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3]))
