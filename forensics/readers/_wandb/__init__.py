"""The log that Weights & Biases keeps of a run: ``framing`` to records, ``messages`` to meaning."""
