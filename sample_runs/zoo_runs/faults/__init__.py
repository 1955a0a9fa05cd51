"""Faults, one file each; a file ends in one declared ``FAULT``."""
