"""TensorBoard event files: framing and checksums, layouts of events, columns, texts.

=====================  =========================================================================
`stream`               a file -> pieces -> batches of intact payloads of equal length
`framing`, `chain`     where the records of a piece lie, and how to go on behind damage
`crc32c`, `words`      checksums and numbers of many records at once
`layout`, `wire`       where the parts of one event lie: a plain walk through its protobuf fields
`columns`              all the events that are laid out like that one -> numpy columns
`tag_table`            tags -> numbers
`texts`                texts and hparams -> settings
`collect`              all of it for one file
=====================  =========================================================================

Everything is numpy: compiled loops would read a file of some hundred megabytes no faster than it
takes to load their compiler.
"""
