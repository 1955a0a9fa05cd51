"""Healthy runs that look like failures, one file each; a file ends in one declared ``FAULT``."""
