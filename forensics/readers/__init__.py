"""Readers: one file per log or configuration format, each ending in one declared `READER`."""
