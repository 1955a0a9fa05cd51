"""The recorder in real Trainers: it sees what the model saw, under the step that was logged."""

import csv
import json

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
from safetensors.torch import load_file  # noqa: E402

import forensics  # noqa: E402
from forensics.recorder import Recorder  # noqa: E402

BATCH, LENGTH, VOCAB = 4, 12, 31
STEPS, BAD_STEP = 70, 66


@pytest.fixture(autouse=True)
def _one_thread():
    """Tensors this small are only slowed down by threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def steps_of(run_dir):
    return sorted(int(p.stem.removeprefix("step_")) for p in run_dir.rglob("*.safetensors"))


def noted(run_dir, step):
    return json.loads((run_dir / "batches" / f"step_{step}.json").read_text())


def rows(count, bad_from=None):
    """Rows that count upwards, one letter at a time; bad ones are random."""
    generator = torch.Generator().manual_seed(0)
    found = []
    for n in range(count):
        ids = (torch.arange(LENGTH) + n) % VOCAB
        if bad_from is not None and bad_from <= n < bad_from + BATCH:
            ids = torch.randint(VOCAB, (LENGTH,), generator=generator)
        found.append({"input_ids": ids, "labels": ids.clone()})
    return found


def hf_trainer(run_dir, data, compute_loss_func=None, **changes):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=VOCAB, n_positions=LENGTH, n_embd=16, n_layer=1, n_head=2
    )
    settings = {
        "per_device_train_batch_size": BATCH,
        "max_steps": len(data) // BATCH,
        "learning_rate": 1e-2,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "use_cpu": True,
        "disable_tqdm": True,
        "train_sampling_strategy": "sequential",
    }
    plan = transformers.TrainingArguments(output_dir=str(run_dir), **settings | changes)
    return transformers.Trainer(
        transformers.GPT2LMHeadModel(config),
        plan,
        train_dataset=data,
        compute_loss_func=compute_loss_func,
    )


def hf_train(run_dir, data, **changes):
    trainer = hf_trainer(run_dir, data, **changes)
    trainer.add_callback(Recorder(run_dir).hf_callback(trainer))
    trainer.train()
    trainer.save_state()
    return trainer


def test_healthy_hf_run_writes_nothing(tmp_path):
    trainer = hf_train(tmp_path, rows(STEPS * BATCH))
    assert not (tmp_path / "batches").exists()
    assert trainer.state.global_step == STEPS


def test_training_is_the_same_with_and_without(tmp_path):
    data = rows(20 * BATCH)
    watched = hf_train(tmp_path / "watched", data)
    alone = hf_trainer(tmp_path / "alone", data)
    alone.train()
    losses = [
        [row["loss"] for row in t.state.log_history if "loss" in row] for t in (watched, alone)
    ]
    assert losses[0] == losses[1]
    assert len(losses[0]) == 20


def test_bad_batch_of_an_hf_run_is_saved(tmp_path):
    data = rows(STEPS * BATCH, bad_from=(BAD_STEP - 1) * BATCH)
    trainer = hf_train(tmp_path, data)
    assert steps_of(tmp_path) == list(range(BAD_STEP - 3, BAD_STEP + 1))
    for step in steps_of(tmp_path):
        saved = load_file(tmp_path / "batches" / f"step_{step}.safetensors")
        expected = torch.stack([r["labels"] for r in data[(step - 1) * BATCH : step * BATCH]])
        assert torch.equal(saved["labels"], expected)
        assert torch.equal(saved["input_ids"], expected)
    logged = {r["step"]: r for r in trainer.state.log_history if "loss" in r}
    told = noted(tmp_path, BAD_STEP)
    assert float(told["losses"]) == pytest.approx(logged[BAD_STEP]["loss"], abs=2e-4)
    assert told["gradient_norm"] == pytest.approx(logged[BAD_STEP]["grad_norm"], rel=1e-4)
    assert "transformer.wte.weight" in told["gradient_norms"]
    run = forensics.open_run(tmp_path)
    assert len(run.batches) == 4
    assert {s.source for s in run.series} == {"trainer_state.json"}


def test_labels_that_the_loss_pops_are_saved(tmp_path):
    def loss(outputs, labels, **_):
        return outputs.logits.mean() * (torch.nan if labels[0, 0] == 5 else 1.0)

    hf_train(tmp_path, rows(4 * BATCH), compute_loss_func=loss, label_smoothing_factor=0.0)
    assert not (tmp_path / "batches").exists()
    hf_train(tmp_path, rows(9 * BATCH)[1:], compute_loss_func=loss)
    assert set(load_file(tmp_path / "batches" / "step_2.safetensors")) == {"input_ids", "labels"}


def test_accumulated_hf_step_is_one_batch(tmp_path):
    data = rows(STEPS * BATCH * 2, bad_from=(BAD_STEP * 2 - 1) * BATCH)
    trainer = hf_train(
        tmp_path, data, gradient_accumulation_steps=2, max_steps=STEPS, max_grad_norm=1e9
    )
    assert BAD_STEP in steps_of(tmp_path)
    saved = load_file(tmp_path / "batches" / f"step_{BAD_STEP}.safetensors")["input_ids"]
    first = (BAD_STEP - 1) * 2 * BATCH
    assert torch.equal(saved, torch.stack([r["labels"] for r in data[first : first + 2 * BATCH]]))
    logged = {r["step"]: r for r in trainer.state.log_history if "loss" in r}
    told = noted(tmp_path, BAD_STEP)
    assert told["rows"] == f"{BATCH} {BATCH}"
    total = sum(float(loss) for loss in told["losses"].split())
    assert total == pytest.approx(logged[BAD_STEP]["loss"], abs=2e-4)
    assert told["gradient_norm"] == pytest.approx(logged[BAD_STEP]["grad_norm"], rel=1e-4)


def test_hf_trainer_is_as_it_was_afterwards(tmp_path):
    trainer = hf_train(tmp_path, rows(3 * BATCH))
    assert trainer.training_step.__func__ is type(trainer).training_step


def lightning_train(run_dir, data, **changes):
    pytest.importorskip("lightning", reason="lightning is not installed")
    import lightning.pytorch as pl
    from lightning.pytorch.loggers import CSVLogger

    class Counting(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Sequential(
                torch.nn.Embedding(VOCAB, 16), torch.nn.Linear(16, VOCAB)
            )

        def training_step(self, batch, _):
            ids, labels = batch
            loss = torch.nn.functional.cross_entropy(self.net(ids).mT, labels)
            self.log("train_loss", loss)
            return loss

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=1e-2)

    pl.seed_everything(0)
    pairs = [(r["input_ids"][:-1], r["input_ids"][1:]) for r in data]
    trainer = pl.Trainer(
        max_epochs=1,
        accelerator="cpu",
        logger=CSVLogger(run_dir, name=""),
        callbacks=[Recorder(run_dir).lightning_callback()],
        log_every_n_steps=1,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        **changes,
    )
    trainer.fit(Counting(), torch.utils.data.DataLoader(pairs, batch_size=BATCH))
    with (run_dir / "version_0" / "metrics.csv").open() as file:
        return {int(row["step"]): float(row["train_loss"]) for row in csv.DictReader(file)}


def test_healthy_lightning_run_writes_nothing(tmp_path):
    assert len(lightning_train(tmp_path, rows(STEPS * BATCH))) == STEPS
    assert not (tmp_path / "batches").exists()


@pytest.mark.parametrize("accumulate", [1, 2])
def test_bad_batch_of_a_lightning_run_is_saved(tmp_path, accumulate):
    """Under the step of metrics.csv, which counts from 0."""
    bad = (BAD_STEP + 1) * accumulate - 1
    data = rows(STEPS * BATCH * accumulate, bad_from=bad * BATCH)
    logged = lightning_train(
        tmp_path, data, accumulate_grad_batches=accumulate, gradient_clip_val=0.01
    )
    assert BAD_STEP in steps_of(tmp_path)
    saved = load_file(tmp_path / "batches" / f"step_{BAD_STEP}.safetensors")
    first = BAD_STEP * BATCH * accumulate
    expected = torch.stack([r["input_ids"] for r in data[first : first + BATCH * accumulate]])
    assert torch.equal(saved["x"], expected[:, :-1])
    assert torch.equal(saved["y"], expected[:, 1:])
    told = noted(tmp_path, BAD_STEP)
    assert max(logged, key=logged.get) == BAD_STEP or logged[BAD_STEP] > 1.5 * logged[BAD_STEP - 1]
    assert set(told["gradient_norms"]) == {"net.0.weight", "net.1.weight", "net.1.bias"}
    assert told["gradient_norm"] > 0.02, "measured before it was clipped to 0.01"
    assert len(forensics.open_run(tmp_path).batches) == 4
