"""TensorBoard event files: framing and checksums, layouts of events, columns, texts.

====================  =============================================================
`stream`              file -> pieces -> batches of intact payloads of equal length
`framing`, `crc32c`   where records lie, and whether they are whole
`layout`              where the parts of one event lie (plain protobuf walk)
`columns`             all events of that layout at once -> numpy columns
`tag_table`           tags -> numbers
`texts`               texts and hparams -> settings
====================  =============================================================
"""
