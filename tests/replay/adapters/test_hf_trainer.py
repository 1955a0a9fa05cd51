"""Trainer runs replayed without a replay file: what is refused, then what comes out the same."""

import json
import math

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
from safetensors.torch import save_file  # noqa: E402

from forensics.replay.adapters import _hf_optimizer  # noqa: E402
from forensics.replay.adapters._hf_loss import compute_loss  # noqa: E402
from forensics.replay.adapters.hf_trainer import adapt  # noqa: E402
from forensics.replay.errors import ReplayError  # noqa: E402
from forensics.replay.loaded_model import load_weights, restore_optimizer  # noqa: E402
from forensics.replay.plan import Start  # noqa: E402
from forensics.replay.stored_state import read_state  # noqa: E402

BATCH, LENGTH, VOCAB = 4, 10, 29
STEPS, SAVED = 8, 5


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Tensors this small are only slowed down by threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def gpt2():
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=VOCAB,
            n_positions=LENGTH,
            n_embd=16,
            n_layer=2,
            n_head=2,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
        )
    )


def qwen2():
    return transformers.Qwen2ForCausalLM(
        transformers.Qwen2Config(
            vocab_size=VOCAB,
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=LENGTH,
            tie_word_embeddings=True,
        )
    )


def bert():
    return transformers.BertForSequenceClassification(
        transformers.BertConfig(
            vocab_size=VOCAB,
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=LENGTH,
            num_labels=3,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
    )


class Capturing:
    """Collates rows and saves every batch, micro-batches of a step joined."""

    def __init__(self, folder, accumulate):
        self.folder, self.accumulate, self.seen = folder, accumulate, []

    def __call__(self, features):
        batch = {name: torch.stack([f[name] for f in features]) for name in features[0]}
        self.seen.append(batch)
        step, rest = divmod(len(self.seen), self.accumulate)
        if not rest:
            parts = self.seen[-self.accumulate :]
            joined = {name: torch.cat([part[name] for part in parts]) for name in batch}
            self.folder.mkdir(exist_ok=True)
            save_file(joined, self.folder / f"step_{step}.safetensors")
        return batch


def rows(kind, count):
    generator = torch.Generator().manual_seed(1)
    for n in range(count):
        ids = torch.randint(VOCAB, (LENGTH,), generator=generator)
        labels = ids.clone()
        labels[: n % 4] = -100
        yield {"input_ids": ids, "labels": torch.tensor(n % 3) if kind is bert else labels}


def trained(run_dir, kind, accumulate=1, **changes):
    """A real run: steps logged one by one, a checkpoint after step 5, every batch captured."""
    torch.manual_seed(0)
    settings = {
        "per_device_train_batch_size": BATCH,
        "gradient_accumulation_steps": accumulate,
        "max_steps": STEPS,
        "learning_rate": 3e-3,
        "weight_decay": 0.1,
        "adam_beta2": 0.98,
        "logging_steps": 1,
        "save_steps": SAVED,
        "report_to": "none",
        "use_cpu": True,
        "disable_tqdm": True,
        "train_sampling_strategy": "sequential",
    }
    trainer = transformers.Trainer(
        kind(),
        transformers.TrainingArguments(output_dir=str(run_dir), **settings | changes),
        train_dataset=list(rows(kind, BATCH * accumulate * STEPS)),
        data_collator=Capturing(run_dir / "batches", accumulate),
    )
    trainer.train()
    trainer.save_state()
    return trainer


def batches_of(run_dir):
    return tuple(f"batches/{p.name}" for p in sorted((run_dir / "batches").glob("step_*.*")))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    made = {}

    def run(kind, **changes):
        key = (kind.__name__, *sorted(changes.items()))
        if key not in made:
            folder = tmp_path_factory.mktemp(kind.__name__)
            made[key] = folder, trained(folder, kind, **changes)
        return made[key]

    return run


def adapted(run_dir):
    return adapt(run_dir, run_dir / f"checkpoint-{SAVED}", batches_of(run_dir))


def edited(tmp_path, **changes):
    """A checkpoint with another config.json, and one captured batch."""
    config = gpt2().config.to_dict() | {"architectures": ["GPT2LMHeadModel"]} | changes
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "batches").mkdir()
    save_file({"input_ids": torch.zeros(1, 3).long()}, tmp_path / "batches" / "step_4.safetensors")
    return adapt(tmp_path, tmp_path, batches_of(tmp_path))


@pytest.mark.parametrize(
    "remote",
    [
        {"auto_map": {"AutoModelForCausalLM": "modeling_evil.Evil"}},
        {"text_config": {"auto_map": {"AutoConfig": "evil.Config"}}},
        {"trust_remote_code": True},
    ],
)
def test_remote_code_is_refused(tmp_path, remote):
    (tmp_path / "modeling_evil.py").write_text("raise SystemExit('was run')")
    with pytest.raises(ReplayError, match="code of its own"):
        edited(tmp_path, **remote)


@pytest.mark.parametrize(
    "changes",
    [
        {"architectures": ["EvilForCausalLM"]},
        {"architectures": ["Trainer"]},
        {"architectures": ["LlamaForCausalLM"]},
        {"architectures": None},
        {"architectures": [7]},
        {"model_type": "evil"},
        {"model_type": None},
    ],
)
def test_only_classes_of_its_own_type_are_built(tmp_path, changes):
    spec = edited(tmp_path, **changes)
    with pytest.raises(ReplayError, match="has no model"):
        spec.build_model()


def test_names_of_kernels_are_not_followed(tmp_path):
    spec = edited(tmp_path, _attn_implementation="evil/kernel", attn_implementation="evil/kernel")
    assert spec.build_model().config._attn_implementation in ("sdpa", "eager")


def test_settings_that_make_no_model(tmp_path):
    spec = edited(tmp_path, n_embd=15)
    with pytest.raises(ReplayError, match="could not be built"):
        spec.build_model()


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000])
def test_damaged_configuration(tmp_path, text):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ReplayError, match=r"config\.json"):
        adapt(tmp_path, tmp_path, ("batches/step_1.pt",))


def test_run_without_model_or_batches(tmp_path):
    with pytest.raises(ReplayError, match="without it there is no model"):
        adapt(tmp_path, tmp_path, ("batches/step_1.pt",))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ReplayError, match="no batch was captured"):
        adapt(tmp_path, tmp_path, ())


def test_label_smoothing_is_refused(runs):
    run_dir, _ = runs(bert, label_smoothing_factor=0.1, max_steps=5)
    with pytest.raises(ReplayError, match="label smoothing"):
        adapted(run_dir)


def test_missing_step_names_those_there_are(runs):
    spec = adapted(runs(gpt2)[0])
    assert spec.steps == tuple(range(1, STEPS + 1))
    with pytest.raises(ReplayError, match="step 77 was not captured; there are: 1, 2, 3, 4, 5"):
        spec.load_batch(77)


def test_damaged_and_odd_batches(tmp_path):
    edited(tmp_path)
    folder = tmp_path / "batches"
    (folder / "step_1.safetensors").write_bytes(b"\x40" * 64)
    torch.save({"model": gpt2()}, folder / "step_2.pt")
    torch.save([torch.ones(2)], folder / "step_3.pt")
    torch.save({"input_ids": torch.ones(2), "note": "text"}, folder / "step_5.pt")
    spec = adapt(tmp_path, tmp_path, batches_of(tmp_path))
    for step, words in ((1, "could not be read"), (2, "could not be read"), (3, "no tensors")):
        with pytest.raises(ReplayError, match=words):
            spec.load_batch(step)
    assert list(spec.load_batch(5)) == ["input_ids"]


def test_batch_that_the_model_cannot_take(runs):
    spec = adapted(runs(gpt2)[0])
    model = spec.build_model()
    batch = spec.load_batch(1)
    with pytest.raises(ReplayError, match="gives no loss for a batch of input_ids"):
        spec.compute_loss(model, {"input_ids": batch["input_ids"]})
    with pytest.raises(ReplayError, match="raised on a captured batch: IndexError"):
        spec.compute_loss(model, batch | {"input_ids": batch["input_ids"] + VOCAB})


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 cut short"])
def test_arguments_that_cannot_be_read_are_none(tmp_path, damage):
    (tmp_path / "training_args.bin").write_bytes(damage)
    assert _hf_optimizer.read_arguments(tmp_path, tmp_path) == {}


@pytest.mark.parametrize("kind", [gpt2, qwen2, bert])
def test_parameters_are_grouped_as_the_trainer_does(runs, kind):
    run_dir, trainer = runs(kind)
    spec = adapted(run_dir)
    model = spec.build_model()
    ours = {id(p): n for n, p in model.named_parameters()}
    theirs = {id(p): n for n, p in trainer.model.named_parameters()}
    groups = [[ours[id(p)] for p in g["params"]] for g in spec.build_optimizer(model).param_groups]
    inner = getattr(trainer.optimizer, "optimizer", trainer.optimizer)
    assert groups == [[theirs[id(p)] for p in g["params"]] for g in inner.param_groups]


def test_older_grouping_is_known_by_its_shapes(tmp_path):
    """Before 5.x the gain of an RMSNorm was decayed."""
    model = qwen2()
    free = [p for n, p in model.named_parameters() if "bias" in n]
    decayed = [p for n, p in model.named_parameters() if "bias" not in n]
    before = torch.optim.AdamW([{"params": decayed}, {"params": free, "weight_decay": 0.0}])
    model(input_ids=torch.zeros(1, 3).long(), labels=torch.zeros(1, 3).long()).loss.backward()
    before.step()
    torch.save(before.state_dict(), tmp_path / "optimizer.pt")
    built = _hf_optimizer.build_optimizer(model, {}, tmp_path)
    sizes = [[id(p) for p in g["params"]] for g in built.param_groups]
    assert sizes == [[id(p) for p in decayed], [id(p) for p in free]]


def replayed(run_dir):
    """Losses and norms of the steps after the checkpoint, stepped by hand."""
    spec = adapted(run_dir)
    checkpoint = run_dir / f"checkpoint-{SAVED}"
    model = spec.build_model()
    stored = read_state(checkpoint)
    check = load_weights(model, stored.weights, Start(checkpoint.name, SAVED))
    assert check.fits
    assert check.unexpected == ()
    optimizer = spec.build_optimizer(model)
    assert restore_optimizer(optimizer, stored) == ""
    logged = {r["step"]: r for r in history(run_dir) if "loss" in r}
    found = {}
    for step in range(SAVED + 1, STEPS + 1):
        optimizer.zero_grad()
        loss = spec.compute_loss(model.train(), spec.load_batch(step))
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = logged[step]["learning_rate"]
        optimizer.step()
        found[step] = float(loss.detach()), float(norm)
    return found, logged


def history(run_dir):
    return json.loads((run_dir / "trainer_state.json").read_text())["log_history"]


@pytest.mark.parametrize(
    ("kind", "changes"),
    [(gpt2, {}), (qwen2, {}), (bert, {}), (gpt2, {"accumulate": 2}), (qwen2, {"optim": "sgd"})],
)
def test_steps_from_the_checkpoint_are_those_that_were_logged(runs, kind, changes):
    run_dir, _ = runs(kind, **changes)
    found, logged = replayed(run_dir)
    assert len(found) == 3
    for step, (loss, norm) in found.items():
        assert math.isfinite(loss)
        assert loss == pytest.approx(logged[step]["loss"], rel=1e-5), step
        assert norm == pytest.approx(logged[step]["grad_norm"], rel=1e-4), step


def test_micro_batches_of_different_lengths_weigh_by_their_labels():
    model = qwen2()
    parts = [
        {"input_ids": ids, "labels": ids.clone()}
        for ids in (torch.arange(8)[None], torch.arange(4)[None])
    ]
    losses = [float(model(**part).loss.detach()) for part in parts]
    together = float(compute_loss(model, parts).detach())
    assert together == pytest.approx((7 * losses[0] + 3 * losses[1]) / 10)


def test_older_trainers_counted_the_first_label_too():
    model, ids = qwen2(), torch.arange(8)[None]
    batch = {"input_ids": ids, "labels": ids}
    older = float(compute_loss(model, batch, version=(4, 57)).detach())
    assert older == pytest.approx(7 / 8 * float(compute_loss(model, batch).detach()))


def test_micro_batches_in_one_file_come_apart(tmp_path):
    edited(tmp_path)
    parts = {"micro_0.input_ids": torch.zeros(1, 3).long(), "micro_1.input_ids": torch.ones(1, 5)}
    save_file(parts, tmp_path / "batches" / "step_9.safetensors")
    first, second = adapt(tmp_path, tmp_path, batches_of(tmp_path)).load_batch(9)
    assert first["input_ids"].shape == (1, 3)
    assert second["input_ids"].shape == (1, 5)
