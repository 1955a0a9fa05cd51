"""Turns a folder into runs: walk, read, group, merge.

`load_runs` gives one `forensics.run.Run` for each run of a folder; the attempts of a run (a resume,
a restart in the same folder) are one. What holds of the series of a `Run`:

- of each tag there is one sequence: a single series, or several in the order in time in which they
  were written, one an attempt; where an attempt goes back, so do the steps;
- what several files logged alike is there once, from the file that is most precise, with the
  points that only another file has put in their place;
- views that disagree have different tags: of the weaker one, the tag begins with the format or the
  rank that logged it (``rank 1: loss``), and of a log by epoch beside one by step it ends in it;
- tags from a folder or file of validation logs begin with ``val/`` where they did not say so;
- no series is empty.
"""

from forensics.loading.loader import load_runs

__all__ = ["load_runs"]
