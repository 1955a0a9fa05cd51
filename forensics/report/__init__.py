"""From a verdict to what a person reads: HTML, JSON, Markdown and the terminal.

``view`` words a verdict once, as strings ready to print; the formats only arrange them.
"""
