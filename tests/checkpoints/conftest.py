"""Small saves of the real libraries, made once for all tests."""

import argparse
import collections
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("saves")


@pytest.fixture(scope="session")
def net():
    """A small trained network of torch with its optimizer."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    model = torch.nn.Sequential(
        collections.OrderedDict(
            first=torch.nn.Linear(5, 7),
            norm=torch.nn.BatchNorm1d(7),
            act=torch.nn.ReLU(),
            last=torch.nn.Linear(7, 3),
        )
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    for _ in range(3):
        model(torch.randn(8, 5)).square().sum().backward()
        optimizer.step()
        scheduler.step()
    return model, optimizer, scheduler


@pytest.fixture(scope="session")
def save_of_everything(net):
    """One save as people write them, with all that ``weights_only`` refuses."""
    model, optimizer, scheduler = net
    return {
        "model_state_dict": model.state_dict(),
        "optimizer_state_dict": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "scaler": {"scale": 1024.0, "growth_factor": 2.0, "backoff_factor": 0.5,
                   "growth_interval": 2000, "_growth_tracker": 3},
        "epoch": 4,
        "global_step": 123,
        "args": argparse.Namespace(lr=0.01, betas=(0.9, 0.999), name="tiny"),
        "best_metric": np.float64(0.75),
        "history": collections.defaultdict(list, loss=[1.0, 2.0]),
    }  # fmt: skip


@pytest.fixture(scope="session")
def torch_files(folder, save_of_everything):
    """The same save in torch's new and old format."""
    import torch

    new, old = folder / "whole.pt", folder / "old.bin"
    torch.save(save_of_everything, new)
    torch.save(save_of_everything, old, _use_new_zipfile_serialization=False)
    return new, old


@pytest.fixture(scope="session")
def trained_by_transformers(folder):
    """Model type -> (checkpoint folder of the Trainer, names in the optimizer's order)."""
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    import torch

    size = {"vocab_size": 32, "hidden_size": 16, "intermediate_size": 24,
            "num_hidden_layers": 2, "num_attention_heads": 2}  # fmt: skip
    configs = {
        "llama": transformers.LlamaConfig(**size, num_key_value_heads=1),
        "gpt2": transformers.GPT2Config(vocab_size=32, n_embd=16, n_layer=2, n_head=2),
    }
    examples = [{"input_ids": torch.arange(6) + i, "labels": torch.arange(6) + i} for i in range(4)]
    trained = {}
    for kind, config in configs.items():
        model = transformers.AutoModelForCausalLM.from_config(config)
        arguments = transformers.TrainingArguments(
            str(folder / kind), max_steps=2, save_steps=2, per_device_train_batch_size=2,
            report_to=[], use_cpu=True, disable_tqdm=True, weight_decay=0.1)  # fmt: skip
        trainer = transformers.Trainer(model, arguments, train_dataset=examples)
        trainer.train()
        named = {id(parameter): name for name, parameter in model.named_parameters()}
        optimizer = getattr(trainer.optimizer, "optimizer", trainer.optimizer)
        names = [named[id(p)] for group in optimizer.param_groups for p in group["params"]]
        trained[kind] = folder / kind / "checkpoint-2", names
    return trained


@pytest.fixture(scope="session")
def trained_by_lightning(folder):
    """(checkpoint of Lightning's Trainer, its model's state dict)."""
    lightning = pytest.importorskip("lightning")
    import torch

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.save_hyperparameters({"width": 4, "rate": 0.1})
            self.net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))

        def training_step(self, batch, _):
            return self.net(batch[0]).square().mean()

        def configure_optimizers(self):
            optimizer = torch.optim.Adam(self.parameters(), lr=0.1)
            return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)]

    module = Module()
    data = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(torch.randn(8, 3)), batch_size=4
    )
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", logger=False, enable_progress_bar=False,
        enable_model_summary=False, default_root_dir=folder,
        enable_checkpointing=False)  # fmt: skip
    trainer.fit(module, data)
    trainer.save_checkpoint(folder / "last.ckpt")
    return folder / "last.ckpt", module.state_dict()


@pytest.fixture(scope="session")
def distributed(folder):
    """(folder with the saves ``nested`` and ``flat`` of two ranks, weights, optimizer state)."""
    torch = pytest.importorskip("torch")
    writer = str(Path(__file__).with_name("dcp_writer.py"))
    out = folder / "dcp"
    out.mkdir()
    ranks = [
        subprocess.Popen(
            [sys.executable, writer, str(rank), str(out)],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stderr=subprocess.PIPE,
        )
        for rank in (0, 1)
    ]
    for rank in ranks:
        _, said = rank.communicate(timeout=300)
        assert rank.returncode == 0, said.decode()
    weights, state = torch.load(out / "whole.pt", weights_only=True)
    return out, weights, state


@pytest.fixture(scope="session")
def trained_by_keras(folder):
    """(model, its file in each of Keras' three formats)."""
    pytest.importorskip("h5py")
    pytest.importorskip("torch")
    os.environ.setdefault("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")
    model = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(6, name="wide"),
            keras.layers.BatchNormalization(name="norm"),
            keras.layers.Dense(2, name="out"),
        ]
    )
    model.compile(keras.optimizers.Adam(0.002, beta_2=0.98), "mse")
    rng = np.random.default_rng(0)
    model.fit(rng.normal(size=(8, 4)), rng.normal(size=(8, 2)), verbose=0, batch_size=4)
    files = [folder / name for name in ("m.keras", "m.weights.h5", "m.h5")]
    model.save(files[0])
    model.save_weights(files[1])
    model.save(files[2])
    return model, files
