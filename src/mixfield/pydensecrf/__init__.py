"""A drop-in for pydensecrf: change the import line, keep the rest.

>>> import mixfield.pydensecrf.densecrf as dcrf
>>> from mixfield.pydensecrf.utils import unary_from_softmax
"""

from __future__ import annotations

from mixfield.pydensecrf import densecrf as densecrf
from mixfield.pydensecrf import utils as utils
from mixfield.pydensecrf.densecrf import DenseCRF as DenseCRF
from mixfield.pydensecrf.densecrf import DenseCRF2D as DenseCRF2D
from mixfield.pydensecrf.utils import create_pairwise_bilateral as create_pairwise_bilateral
from mixfield.pydensecrf.utils import create_pairwise_gaussian as create_pairwise_gaussian
from mixfield.pydensecrf.utils import unary_from_labels as unary_from_labels
from mixfield.pydensecrf.utils import unary_from_softmax as unary_from_softmax
