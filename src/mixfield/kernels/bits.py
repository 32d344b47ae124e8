"""The same bits read as a number of the other kind: exponents are integers inside of floating-point numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import config
from numba.extending import intrinsic

_OTHER = {"float32": "int32", "int32": "float32", "float64": "int64", "int64": "float64"}


def _reread(context, number):  # noqa: ARG001
    """A float as an integer of the same bits, and back."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))

    return getattr(types, _OTHER[number.name])(number), generate


def _plain(number):
    return np.asarray(number).view(_OTHER[np.asarray(number).dtype.name])[()]


# the second without the compiler, to be stepped through
reread: Any = _plain if getattr(config, "DISABLE_JIT", False) else intrinsic(_reread)
