"""Checks of batches: one file each, ending in a `Check`."""
