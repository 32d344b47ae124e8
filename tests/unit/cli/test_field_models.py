"""``--model``: what it means for `mixfield.segment`, and for the results of earlier runs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from mixfield.apps import FieldModel, Kernels
from mixfield.cli.field_models import field_options, field_settings
from mixfield.errors import MixfieldError


def test_names_and_files(tmp_path):
    model = replace(FieldModel.default(), exponent=0.5)
    model.save(tmp_path / "m.toml")
    assert field_options("") == {}
    assert field_options("default") == {"model": FieldModel.default()}
    assert field_options("deeplab") == {"kernels": Kernels.deeplab()}
    assert field_options(str(tmp_path / "m.toml")) == {"model": model}
    with pytest.raises(MixfieldError, match="default or deeplab, deepmind does not exist"):
        field_options("deepmind")


def test_settings_are_plain_and_do_not_depend_on_the_table():
    model = FieldModel.default()
    settings = field_settings({"model": model})
    assert json.loads(json.dumps(settings))["model"]["exponent"] == model.exponent
    assert settings == field_settings({"model": replace(model, table=())})
    assert settings != field_settings({"model": replace(model, exponent=0.1)})
    assert field_settings({}) == {"model": None, "kernels": None}
