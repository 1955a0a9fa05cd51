"""A character LSTM."""

from torch import Tensor, nn

from zoo_runs.families.text_data import VOCAB, drawn, next_token, rows, token_loss
from zoo_runs.recipe import Recipe, Settings

LENGTH, WIDTH = 20, 64


class CharLstm(nn.Module):
    """Embedding, one LSTM layer, head."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, 32)
        self.lstm = nn.LSTM(32, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids: Tensor) -> Tensor:
        """Ids (batch, length) to logits (batch, length, vocabulary)."""
        return self.head(self.lstm(self.tokens(ids))[0])


def recipe(seed: int) -> Recipe:
    """One layer of 64 units."""
    settings = Settings(
        optimizer="adam",
        learning_rate=1e-2,
        steps=300,
        batch_size=16,
        schedule="linear",
        weight_decay=0.0,
        seed=seed,
        extra={"model": "lstm", "hidden_size": WIDTH, "seq_len": LENGTH, "vocab_size": VOCAB},
    )
    data = rows(200 + seed, LENGTH + 1, place="station")
    held_out = rows(800 + seed, LENGTH + 1, place="station", sentences=120)
    return Recipe(
        family="char_lstm",
        engine="loop",
        settings=settings,
        build=CharLstm,
        batch=lambda number: next_token(drawn(data, number, settings.batch_size, seed)),
        forward=lambda model, batch: model(batch["input_ids"]),
        criterion=token_loss,
        validation=[next_token(held_out[:128])],
        eval_every=50,
    )
