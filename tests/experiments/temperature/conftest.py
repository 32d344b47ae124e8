"""Rows of measurements in which all claims hold that can hold."""

from __future__ import annotations

import numpy as np
import pytest


def _model(name, mean):
    temperatures = [1.0, 3.0, 4.0, 4.5, 5.0, 6.0]
    low, high = [0.9 * bits for bits in mean], [min(1.0, 1.1 * bits) for bits in mean]
    maps = {f"{t:g}": np.full((3, 4), 0.5).tolist() for t in temperatures}
    return {
        "what": "model",
        "name": name,
        "temperature": temperatures,
        "mean": mean,
        "lowest_decile": low,
        "highest_decile": high,
        "maps": maps,
        "melts_at": {"mean": 5.0, "lowest_decile": 5.02, "highest_decile": 4.9},
    }


@pytest.fixture
def temperature_rows():
    rising = [0.0, 0.2, 0.5, 0.8, 1.0, 1.0]
    models = [_model("model 1", rising), _model("model 2", rising), _model("model 3", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])]
    unary = {"what": "unary", "unary": 1.0, "predicted": 3.6, "predicted_as_printed": 2.9, "measured": 3.61}
    graph = {"what": "graph", "family": "7x7", "field": 1.0, "predicted": [6.0, 5.0]}
    return [*models, unary, graph | {"split_without_fields": [5.99, 5.0], "split": [4.0, 5.5]}]
