"""A wide classifier on 160 examples, a fifth of them mislabelled: it learns them by heart.

The control has the same model and 8,000 examples.
"""

import lightning
import torch
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger

from classifier import Classifier, loader, points
from loop import arguments


def main() -> None:
    options = arguments(__doc__)
    torch.set_num_threads(1)
    lightning.seed_everything(0)
    count, epochs = (8000, 3) if options.without_fault else (160, 120)
    trainer = lightning.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        logger=CSVLogger(".", name="logs", flush_logs_every_n_steps=50),
        callbacks=[
            LearningRateMonitor(),
            ModelCheckpoint(every_n_epochs=epochs // 3, save_top_k=-1, dirpath="checkpoints"),
        ],
        log_every_n_steps=5,
        gradient_clip_val=1.0,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(
        Classifier(hidden=96, learning_rate=2e-3),
        loader(points(1, count, noise=0.2), shuffle=True),
        loader(points(2, 1000, noise=0.2), shuffle=False, batch_size=250),
    )


if __name__ == "__main__":
    main()
