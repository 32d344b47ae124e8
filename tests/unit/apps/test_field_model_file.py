"""Files of field models: written and read, damaged, of other versions."""

from __future__ import annotations

from dataclasses import replace

import pytest

import mixfield as mf
from mixfield.apps.change_features import Logistic
from mixfield.apps.field_model import FieldModel
from mixfield.apps.measure import Measure
from mixfield.errors import FileFormatError
from mixfield.mixture.calibration import Blend

MODEL = FieldModel(
    exponent=1.0,
    kernels=mf.Kernels(smooth_sxy=2, smooth_weight=2, sxy=5, srgb=10, weight=3),
    answer=Logistic(slope=1.0),
    hypothesis=Logistic(0.5, 0.5, 0.2, -0.3, 0.1, 0.2),
    blending=Blend(0.2, 0.8),
    least_gain=0.0,
    images=3,
    fingerprint="0123456789abcdef",
    table=(Measure("mean IoU", 0.5, 0.6, 0.05, 0.15),),
)


@pytest.mark.parametrize(
    "model", [MODEL, replace(MODEL, kernels=None, parts=False, table=()), replace(MODEL, search=mf.Kernels())]
)
def test_saved_and_loaded(tmp_path, model):
    model.save(tmp_path / "model.toml")
    assert FieldModel.load(tmp_path / "model.toml") == model


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.replace("version = 4", "version = 3"), "of version 3, .* 4; fit it again with mixfield fit"),
        (lambda text: text.replace("version = 4", "version = 5"), "of version 5, .* 4; a newer mixfield reads it"),
        (lambda text: text.replace("version = 4", 'version = "4"'), "of this version"),
        (lambda text: text.replace("exponent = 1.0", 'exponent = "x"', 1), "damaged"),
        (lambda text: text.replace("sxy = 5.0", "sxy = -5.0"), "damaged"),
        (lambda text: text.replace("parts = true", "parts = 1"), "parts must be true or false"),
        (lambda text: text.replace("mode_exponent = ", "# mode_exponent = "), "damaged: 'mode_exponent' is missing"),
        (lambda text: text.replace("mode_exponent = ", "modes = "), "damaged: modes is none of mode_exponent"),
        (lambda text: text + "[", "not a field model"),
        (lambda text: "", "of this version"),  # noqa: ARG005
    ],
)
def test_damaged_files_are_refused(tmp_path, change, reason):
    MODEL.save(tmp_path / "model.toml")
    damaged = tmp_path / "damaged.toml"
    damaged.write_text(change((tmp_path / "model.toml").read_text()))
    with pytest.raises(FileFormatError, match=reason):
        FieldModel.load(damaged)


def test_numbers_of_files_are_finite(tmp_path):
    MODEL.save(tmp_path / "model.toml")
    text = (tmp_path / "model.toml").read_text()
    for damaged in (text.replace("slope = 1.0", "slope = nan"), text.replace("exponent = 1.0", "exponent = -1.0", 1)):
        (tmp_path / "model.toml").write_text(damaged)
        with pytest.raises(FileFormatError, match="must be a finite number"):
            FieldModel.load(tmp_path / "model.toml")
