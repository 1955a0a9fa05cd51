"""Training text on standard output: from bytes to rows, points, events and settings.

============  ==================================================================================
lines         bytes to clean lines, in chunks
stream        a chunk's lines: ``fast`` by the ``templates`` learned so far, the others ``slow``
grammar       one line by its structure: ``masks``, ``bars``, ``counters``, ``pairs``, ``judgement``
blocks        what spans lines: boxes, tables under a header
events        lines that prove something, by the rules in ``*_rules``; ``overflow`` for loss scales
headers       settings: dumps, ``commands``, ``plain_settings``; ``attempts`` they open
rows          the numbers read, one table per ``layout``
axis          the x of every row: ``counts``, ``epoch_steps``, ``context``, ``rounded``
series        the points of each tag, with ``repaints`` of bars and losses ``absent`` for being NaN
assemble      all of it as one ``Reading``
============  ==================================================================================
"""
