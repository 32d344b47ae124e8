from .cardinality import Cardinality as Cardinality
from .cell import Cell as Cell
from .clamp import Clamp as Clamp
from .firm_clamp import FirmClamp as FirmClamp
from .tail import AutoTail as AutoTail
from .tail import ExactTail as ExactTail
from .tail import GaussianTail as GaussianTail
