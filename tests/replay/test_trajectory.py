"""A plain torch run on a CPU, replayed: every logged loss again, to the last float32 bit."""

import csv
import json
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import forensics  # noqa: E402
from forensics.replay.alignment import align  # noqa: E402
from forensics.replay.experiments import trajectory  # noqa: E402
from forensics.replay.session import Session  # noqa: E402
from forensics.replay.spec import load_spec  # noqa: E402
from forensics.replay_facts import ReplayFacts  # noqa: E402

REPLAY = """
import torch
from torch import nn
from torch.nn.functional import cross_entropy

torch.set_num_threads(1)


def build_model():
    return nn.Sequential(nn.Linear(12, 24), nn.LayerNorm(24), nn.GELU(), nn.Dropout({dropout}),
                         nn.Linear(24, 5))


def load_batch(step):
    draw = torch.Generator().manual_seed(step)
    x = torch.randn(16, 12, generator=draw)
    if step > 100:  # something to find
        return 20 * x, torch.randint(5, (16,), generator=draw)
    return x, (x[:, :5] + 0.3 * torch.randn(16, 5, generator=draw)).argmax(1)


def compute_loss(model, batch):
    x, y = batch
    return cross_entropy(model(x).float(), y)
"""


@dataclass(frozen=True)
class Custom:
    """One way of writing a training loop."""

    optimizer: str = "adamw"
    first_step: int = 1
    told: bool = False
    """FIRST_STEP is in the replay file."""
    next_to_do: bool = False
    """Checkpoints are named after the step that comes next."""
    rate_after: bool = False
    """The rate is logged after the scheduler went on."""
    schedule: bool = True
    clip: float | None = None
    groups: bool = False
    dropout: float = 0.0
    precision: str = "fp32"
    log_every: int = 1


CUSTOMS = {
    "adamw": Custom(),
    "adam": Custom(optimizer="adam"),
    "sgd": Custom(optimizer="sgd"),
    "momentum": Custom(optimizer="momentum"),
    "dropout": Custom(dropout=0.2),
    "from_0": Custom(first_step=0),
    "from_0_told": Custom(first_step=0, told=True),
    "from_1_told": Custom(told=True),
    "next_to_do": Custom(next_to_do=True),
    "from_0_next_to_do": Custom(first_step=0, next_to_do=True),
    "rate_after": Custom(rate_after=True),
    "rate_after_next_to_do": Custom(rate_after=True, next_to_do=True, first_step=0),
    "clipping": Custom(clip=0.5, schedule=False),
    "groups": Custom(groups=True, clip=0.5),
    "sparse": Custom(log_every=10),
    "sparse_from_0": Custom(log_every=10, first_step=0, dropout=0.1),
    "bf16": Custom(precision="bf16"),
}


def optimizer_of(model, custom):
    parameters = model.parameters()
    if custom.groups:
        wide = [p for p in parameters if p.dim() > 1]
        flat = [p for p in model.parameters() if p.dim() <= 1]
        parameters = [
            {"params": wide, "weight_decay": 0.1, "lr": 1e-2},
            {"params": flat, "weight_decay": 0.0, "lr": 5e-3},
        ]
    match custom.optimizer:
        case "adamw":
            return torch.optim.AdamW(parameters, lr=1e-2)
        case "adam":
            return torch.optim.Adam(parameters, lr=1e-2, weight_decay=1e-3)
        case "momentum":
            return torch.optim.SGD(parameters, lr=1e-1, momentum=0.9)
        case _:
            return torch.optim.SGD(parameters, lr=1e-1)


def train(folder, custom):
    """A run of 120 steps with a checkpoint each 40; returns its replay file."""
    text = REPLAY.format(dropout=custom.dropout)
    if custom.told:
        text += f"\n\nFIRST_STEP = {custom.first_step}\n"
    (folder / "replay.py").write_text(text)
    run = folder / "run"
    (run / "checkpoints").mkdir(parents=True)
    user = {}
    exec(text, user)
    torch.manual_seed(11)
    model = user["build_model"]()
    optimizer = optimizer_of(model, custom)
    decay = (lambda s: 1 - s / 150) if custom.schedule else (lambda s: 1.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, decay)
    config = {"optimizer": "sgd" if "adam" not in custom.optimizer else custom.optimizer}
    config |= {"max_grad_norm": custom.clip, "precision": custom.precision, "seed": 3}
    (run / "config.json").write_text(json.dumps(config))
    rows = []
    for done in range(120):
        step = custom.first_step + done
        with torch.autocast("cpu", torch.bfloat16, enabled=custom.precision == "bf16"):
            loss = user["compute_loss"](model, user["load_batch"](step))
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), custom.clip or float("inf"))
        rate = optimizer.param_groups[0]["lr"]
        optimizer.step()
        schedule.step()
        if custom.rate_after:
            rate = optimizer.param_groups[0]["lr"]
        if step % custom.log_every == 0:
            rows.append([step, loss.item(), norm.item(), rate])
        if (done + 1) % 40 == 0:
            state = {
                "model": model.state_dict(),
                "optimizer": optimizer.state_dict(),
                "torch_rng_state": torch.get_rng_state(),
            }
            torch.save(state, run / "checkpoints" / f"step_{step + custom.next_to_do}.pt")
    with (run / "metrics.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["step", "loss", "grad_norm", "lr"], *rows])
    return run, folder / "replay.py"


def in_process(plan):
    """The trajectory alone, in this process: no battery, no child."""
    device = torch.device("cpu")
    session = Session(load_spec(Path(plan.source)), plan, device, time.monotonic() + plan.budget)
    align(session)
    (found,) = trajectory.EXPERIMENT.run(session)
    return ReplayFacts(
        source=plan.source,
        device="cpu",
        precision=plan.settings.precision,
        seconds=0.0,
        budget=plan.budget,
        next_step=session.next_step,
        alignment=session.alignment,
        as_run=found["as_run"],
    )


@pytest.fixture
def replayed(tmp_path, monkeypatch):
    """Trains a run in a user's way and replays its trajectory."""
    threads = torch.get_num_threads()
    monkeypatch.setattr("forensics.stages.replaying.run_replay", in_process)

    def replay(custom):
        run, file = train(tmp_path, custom)
        return forensics.analyze(run, replay=file, device="cpu").verdict.case.replay

    yield replay
    torch.set_num_threads(threads)


@pytest.mark.parametrize("name", CUSTOMS)
def test_every_logged_loss_comes_again_to_the_last_bit(replayed, name):
    custom = CUSTOMS[name]
    facts = replayed(custom)
    assert facts.next_step == custom.first_step + 80, facts.alignment
    assert facts.as_run.compared == (40 if custom.log_every == 1 else 4)
    assert facts.as_run.exact == facts.as_run.compared
    assert facts.as_run.parts_at is None
    assert facts.as_run.reproduces is not None


def test_another_rate_is_not_the_same_run(replayed, tmp_path):
    """What must not pass for the run: the log of one trained otherwise."""
    run, file = train(tmp_path, Custom())
    lines = (run / "metrics.csv").read_text().splitlines()
    changed = [line.rsplit(",", 1) for line in lines[1:]]
    rows = [f"{rest},{3 * float(rate)!r}" for rest, rate in changed]
    (run / "metrics.csv").write_text("\n".join([lines[0], *rows]))
    as_run = forensics.analyze(run, replay=file, device="cpu").verdict.case.replay.as_run
    assert as_run.exact < as_run.compared / 2
    assert as_run.parts_at is not None


def test_the_child_process_gives_the_same_numbers(tmp_path):
    run, file = train(tmp_path, CUSTOMS["dropout"])
    facts = forensics.analyze(run, replay=file, device="cpu").verdict.case.replay
    assert facts.failures == ()
    assert facts.as_run.exact == facts.as_run.compared == 40
    assert facts.determinism.equal_share == 1.0
    assert len(set(facts.determinism.reseeded_losses) | {facts.determinism.losses[0]}) == 3
