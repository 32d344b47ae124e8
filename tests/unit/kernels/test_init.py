"""The table of contents of the kernels, and a test for each of them."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from mixfield import kernels

MODULES = sorted(module.name for module in iter_modules(kernels.__path__))
TESTS = Path(__file__).parent


def _compiled(module):
    """Public kernels: functions under `jit` and `simd_function`."""
    functions = {
        name: getattr(value, "py_func", getattr(value, "_defn", None))
        for name, value in vars(module).items()
        if not name.startswith("_")
    }
    return [name for name, one in functions.items() if one is not None and one.__module__ == module.__name__]


@pytest.mark.parametrize("name", MODULES)
def test_every_module_has_its_tests(name):
    assert (TESTS / f"test_{name}.py").is_file()


@pytest.mark.parametrize("name", MODULES)
def test_every_kernel_is_called_in_the_tests_of_its_module(name):
    module, text = import_module(f"mixfield.kernels.{name}"), (TESTS / f"test_{name}.py").read_text()
    if name == "pixel_modes":
        text += (TESTS / "test_softmax.py").read_text().replace("bound_terms", "add_bound_terms")
    missing = [kernel for kernel in _compiled(module) if not re.search(rf"\b{kernel}\(", text)]
    assert not missing


@pytest.mark.parametrize("name", MODULES)
def test_modules_load_on_demand(name):
    assert getattr(kernels, name) is import_module(f"mixfield.kernels.{name}")


def test_other_names_do_not_exist():
    with pytest.raises(AttributeError, match=r"'mixfield\.kernels' has no attribute 'rows'"):
        kernels.rows  # noqa: B018
