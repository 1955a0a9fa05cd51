"""A sound Lightning run with TensorBoard and CSV logs: enough data, validation falls with training.

There is no fault, so the control is the run itself.
"""

import lightning
import torch
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger

from classifier import Classifier, loader, points
from loop import arguments


def main() -> None:
    arguments(__doc__)
    torch.set_num_threads(1)
    lightning.seed_everything(1)
    trainer = lightning.Trainer(
        max_epochs=4,
        accelerator="cpu",
        logger=[TensorBoardLogger(".", name="tensorboard"), CSVLogger(".", name="logs")],
        callbacks=[
            LearningRateMonitor(),
            ModelCheckpoint(every_n_epochs=2, save_top_k=-1, dirpath="checkpoints"),
        ],
        log_every_n_steps=5,
        val_check_interval=0.5,
        gradient_clip_val=1.0,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(
        Classifier(hidden=64, learning_rate=2e-3),
        loader(points(1, 6400, noise=0.02), shuffle=True),
        loader(points(2, 1000, noise=0.02), shuffle=False, batch_size=250),
    )


if __name__ == "__main__":
    main()
