"""What the readers of tables share: from bytes over lines and cells to series.

Bytes become blocks of whole lines (`blocks`), lines become rows by the `csv_grammar` or the
`jsonl_grammar` (`lines`, with `layouts` and `scan_numba` for the bulk of a large file), rows a
sparse `table`, and that, taken apart by `reshape` and placed by `axis`, the series (`columns`).
"""
