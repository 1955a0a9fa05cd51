"""Keeps every step's loss with its graph, so that memory grows until the job's limit ends the run.

All that is left is what it printed. The limit is set by the script, as a job scheduler sets it. The
control keeps the loss as a number.
"""

import resource
from itertools import islice
from pathlib import Path

import torch
from torch.nn.utils import clip_grad_norm_

from corpus import blocks, prose
from loop import Plan, arguments, next_token_loss, optimizer_of, random_batches
from transformer import Transformer

ALLOWANCE = 3 << 30
"""Bytes that the training may use beyond what the program needs to start."""


def limit_memory() -> None:
    """Let allocations fail once the process has grown by `ALLOWANCE`."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + ALLOWANCE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main() -> None:
    options = arguments(__doc__)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    plan = Plan(optimizer="adamw", learning_rate=3e-3, steps=1000, batch_size=16, max_grad_norm=1.0)
    print(f"training for {plan.steps} steps: {plan}")
    model = Transformer(width=32, layers=3, length=64)
    optimizer = optimizer_of(model, plan)
    batches = random_batches(blocks(prose(1, 4000), 65), plan)
    limit_memory()
    history = []
    for step, ids in enumerate(islice(batches, plan.steps), start=1):
        loss = next_token_loss(model, ids)
        optimizer.zero_grad()
        loss.backward(retain_graph=not options.without_fault)
        norm = clip_grad_norm_(model.parameters(), plan.max_grad_norm or float("inf"))
        optimizer.step()
        history.append(loss.item() if options.without_fault else loss)
        if step % 5 == 0:
            mean = sum(torch.as_tensor(value).item() for value in history[-5:]) / 5
            print(f"step {step}/{plan.steps} loss {mean:.4f} grad_norm {norm:.3f}", flush=True)
    print("training finished")


if __name__ == "__main__":
    main()
