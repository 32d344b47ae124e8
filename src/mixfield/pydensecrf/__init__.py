"""A drop-in for pydensecrf: change the import line, keep the rest.

>>> import mixfield.pydensecrf.densecrf as dcrf
>>> from mixfield.pydensecrf.utils import unary_from_softmax
"""

from __future__ import annotations

from mixfield.pydensecrf import densecrf as densecrf
from mixfield.pydensecrf import utils as utils
