from .annealing import Search as Search
from .posterior import MixturePosterior as MixturePosterior
from .posterior import load as load
from .tree import best_first as best_first
from .tree import breadth_first as breadth_first
from .tree import infer as infer
