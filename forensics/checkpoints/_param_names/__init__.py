"""Finds the name of each parameter that an optimizer knows by number alone.

torch numbers parameters group by group, in the order in which they were given to it. That order
is the model's, within each group; which parameters went into which group is tried out with the
rules that trainers use (weights with decay, biases and norms without), and a rule is believed
where the shapes agree. A file that has lost the model's order (safetensors) leaves the parameters
of one shape to be told apart by custom; that is then called ambiguous.
"""

from forensics.checkpoints._param_names._custom import usual_place
from forensics.checkpoints._param_names._groupings import Candidate
from forensics.checkpoints._param_names._matching import Key, Match, match
from forensics.checkpoints._param_names._prefixes import bare, bare_names

__all__ = ["Candidate", "Key", "Match", "bare", "bare_names", "match", "usual_place"]
