"""The lazy table of contents (``__init__.pyi``), and what an import loads: neither Numba nor SciPy before first use."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import mixfield

PACKAGE = Path(mixfield.__file__).parent
STUBS = sorted(PACKAGE.rglob("__init__.pyi"))
MOST_NAMES = 40  # of the top level


def contents(stub: Path) -> dict[str, str | None]:
    """The names that a stub imports and the module of each; None for submodules."""
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name: node.module for node in imports for alias in node.names}


def module_of(stub: Path) -> str:
    return ".".join(("mixfield", *stub.parent.relative_to(PACKAGE).parts))


def loaded_after(code: str) -> set[str]:
    """Which of the heavy modules a new interpreter has loaded after ``code``."""
    script = f"{code}\nimport sys\nprint(*[m for m in ('numba', 'scipy', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_loads_neither_numba_nor_scipy():
    assert not loaded_after("import mixfield") & {"numba", "scipy"}


@pytest.mark.parametrize(
    "build",
    [
        "mf.FactorGraph.ising([[0.0, 1.0]], [(0, 1)], 2.0)",
        "mf.FactorGraph.from_factors([2, 3], [((0, 1), [[0, 0, 1], [0, 1, 0]])])",
        "mf.datasets.random_ising(4)",
    ],
)
def test_building_a_graph_does_not_load_numba(build):
    assert "numba" not in loaded_after(f"import mixfield as mf\n{build}")


def test_the_top_level_has_at_most_forty_names():
    assert 0 < len(contents(PACKAGE / "__init__.pyi")) <= MOST_NAMES


@pytest.mark.parametrize("stub", STUBS, ids=module_of)
def test_every_name_of_a_stub_loads(stub):
    module = import_module(module_of(stub))
    assert set(module.__all__) == contents(stub).keys()
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("stub", STUBS, ids=module_of)
def test_functions_are_not_hidden_by_modules_of_the_same_name(stub):
    """``from mixfield.solvers import mean_field`` is the function, also after its module was imported."""
    package = import_module(module_of(stub))
    for name, module in contents(stub).items():
        if module is not None:
            import_module(f"{package.__name__}.{module}")
            assert not isinstance(getattr(package, name), ModuleType), name


def test_a_name_that_does_not_exist():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = mixfield.nonsense


def test_the_version_is_that_of_the_distribution():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert mixfield.__version__ == project["version"]
