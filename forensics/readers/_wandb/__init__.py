"""The transaction log of Weights & Biases: ``framing`` to records, ``messages`` to their meaning."""
