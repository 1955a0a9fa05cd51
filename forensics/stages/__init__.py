"""Stages of an analysis: each takes what is known of a run and adds what it finds."""
