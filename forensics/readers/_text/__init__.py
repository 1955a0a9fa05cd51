"""Training text on standard output: from bytes to rows, points, events and settings.

``lines`` cuts the stream, ``grammar`` reads one line by its structure (``masks``, ``counters``,
``pairs``, ``bars``), ``templates`` reads its likes fast, ``blocks`` reads what spans lines.
``stream`` puts them together; ``axis`` and ``points`` find the x of every row; ``series`` ends
it. ``events``, ``overflow`` and ``headers`` read the lines that are words.
"""
