"""Finds the name of each parameter that an optimizer knows by number alone.

torch numbers parameters group by group, in the order in which they were given to it. That order
is the model's, within each group; which parameters went into which group is tried out with the
rules that trainers use (weights with decay, biases and norms without), and a rule is believed
where the shapes agree. A file that has lost the model's order (safetensors) leaves the parameters
of one shape to be told apart by custom; that is then called ambiguous.
"""

from typing import TYPE_CHECKING

from forensics.front_door import on_use

if TYPE_CHECKING:
    from forensics.checkpoints._param_names._custom import usual_place as usual_place
    from forensics.checkpoints._param_names._groupings import Candidate as Candidate
    from forensics.checkpoints._param_names._matching import Match as Match
    from forensics.checkpoints._param_names._matching import match as match
    from forensics.checkpoints._param_names._prefixes import bare as bare
    from forensics.checkpoints._param_names._prefixes import bare_names as bare_names

__getattr__ = on_use(
    __name__,
    {
        "_custom": ("usual_place",),
        "_groupings": ("Candidate",),
        "_matching": ("Match", "match"),
        "_prefixes": ("bare", "bare_names"),
    },
)
