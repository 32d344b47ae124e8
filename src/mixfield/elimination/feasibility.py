"""Proofs that no state of a factor model has finite cost."""

from __future__ import annotations

from mixfield.elimination.collapsing import collapse
from mixfield.elimination.junction_tree import exact
from mixfield.elimination.reduction import FactorModel, allowed_labels
from mixfield.errors import InfeasibleError, MixfieldError

LARGEST_TABLE = 1 << 16  # entries of tables that are summed over where the whole model is too large
MEMORY = 1e8  # bytes of the tables of the whole model


def contradiction(model: FactorModel) -> str | None:
    """Why no state can have finite cost; None if there is one, or no proof was found.

    The whole model is eliminated if its tables fit.  Else variables with small tables are, and labels that are left
    without support are removed from the rest (arc consistency), until a variable has none.
    """
    try:
        exact(model, memory=MEMORY)
    except InfeasibleError as proof:
        return str(proof)
    except MixfieldError:  # too large, or costs whose differences are lost in rounding
        return _contradiction_of_rest(model)
    return None


def _contradiction_of_rest(model: FactorModel) -> str | None:
    try:
        rest = collapse(model, limit=LARGEST_TABLE, keep=1)
        allowed_labels(rest.label_counts, rest.factors)
    except InfeasibleError:
        return "every state has infinite cost: the hard constraints of the model contradict each other"
    return None
