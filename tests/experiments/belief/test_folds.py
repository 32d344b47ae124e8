"""The field that is chosen for one network."""

from __future__ import annotations

from dataclasses import replace

from experiments.belief.folds import default_field, own_field
from experiments.belief.modes import EXPONENTS
from mixfield.apps.field_model import FieldModel


def test_the_lowest_mean_loss_chooses_the_exponent():
    rows = [{"field_losses": [0.3, 0.2, 0.5]}, {"field_losses": [0.3, 0.3, 0.1]}]
    assert own_field(rows) == replace(FieldModel.default(), exponent=EXPONENTS[1])
    assert own_field(rows[1:]).exponent == EXPONENTS[2]
    assert default_field(rows) == FieldModel.default()
