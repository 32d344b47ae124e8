"""The rules of the tree that no other tool checks: where types are asked for, how long things are, what has a test."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import mixfield

PACKAGE = Path(mixfield.__file__).parent
TESTS = Path(__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
PACKAGES = sorted({path.parent.relative_to(PACKAGE).as_posix() for path in MODULES} - {"."})

ENERGIES = {"DenseCRF", "FactorGraph", "Occupancy"}
MAY_ASK_FOR_ENERGIES = {"solvers/dispatch.py"}

# attributes of other people's objects that may be absent, and why; ours are declared
MAY_BE_ABSENT = {
    "O_NONBLOCK": "of os, on Windows",
    "DISABLE_JIT": "of Numba's settings, unless it reads them from the environment",
    "ensure_blas": "of Numba, a private function that keeps SciPy from being loaded",
    "shape": "of what a user's energy answers",
}
DECLARES_ABILITIES = "energy/base.py"

LONGEST_FUNCTION, LONGEST_FILE = 60, 400

# the method and its numerics, see docs/architecture.md
CORE = {
    "baselines",
    "constraints",
    "criteria",
    "elimination",
    "energy",
    "filters",
    "kernels",
    "metrics",
    "mixture",
    "scene",
    "solvers",
    "temporal",
}
MOST_CORE_LINES = 20_000
NEED_NO_TEST: set[str] = set()  # modules, as "package/module"


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def names_in(node: ast.AST) -> set[str]:
    """Names and last attributes that an expression mentions."""
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return names | {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}


def calls(tree: ast.AST, *functions: str) -> list[ast.Call]:
    """Calls of some functions by their plain names."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call for call in found if isinstance(call.func, ast.Name) and call.func.id in functions]


def asks_for_energies(tree: ast.AST) -> list[int]:
    """Lines that look at the type of an energy: isinstance, issubclass, comparisons of type(...), match."""
    lines = [
        call.lineno
        for call in calls(tree, "isinstance", "issubclass")
        if len(call.args) == 2 and names_in(call.args[1]) & ENERGIES
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and calls(node, "type") and names_in(node) & ENERGIES:
            lines.append(node.lineno)
        if isinstance(node, ast.MatchClass) and names_in(node.cls) & ENERGIES:
            lines.append(node.lineno)
    return lines


def undeclared_attributes(tree: ast.AST) -> list[str]:
    """Constant names that are read with a default."""
    with_default = [call for call in calls(tree, "getattr") if len(call.args) == 3]
    return [
        call.args[1].value
        for call in with_default
        if isinstance(call.args[1], ast.Constant) and isinstance(call.args[1].value, str)
    ]


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from ``def`` on, without the docstring."""
    first, total = function.body[0], function.end_lineno - function.lineno + 1
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        total -= first.end_lineno - first.lineno + 1
    return total


def functions_of(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


# ---------------------------------------------------------------- the checks see what they look for


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(energy, DenseCRF)",
        "isinstance(self.energy, (int, mf.FactorGraph))",
        "isinstance(e, A | occupancy.Occupancy)",
        "issubclass(kind, DenseCRF)",
        "type(energy) is DenseCRF",
        "match energy:\n    case FactorGraph():\n        pass",
    ],
)
def test_questions_for_a_type_are_found(line):
    assert asks_for_energies(ast.parse(line))


@pytest.mark.parametrize(
    "line", ["isinstance(x, Clamp)", "solver_for(DenseCRF)", "type(x) is int", "DenseCRF(unary, [])"]
)
def test_other_lines_are_not(line):
    assert not asks_for_energies(ast.parse(line))


def test_defaults_of_attributes_are_found():
    tree = ast.parse("getattr(a, 'flag', None)\ngetattr(a, name, None)\ngetattr(a, 'other')")
    assert undeclared_attributes(tree) == ["flag"]


def test_docstrings_do_not_count():
    (function,) = functions_of(ast.parse('def f():\n    """One.\n\n    Two.\n    """\n    return 1\n'))
    assert lines_of(function) == 2


# ---------------------------------------------------------------- the rules


def test_one_place_asks_for_the_type_of_an_energy():
    found = {f"{name_of(path)}:{line}" for path in MODULES for line in asks_for_energies(tree_of(path))}
    assert {place for place in found if place.split(":")[0] not in MAY_ASK_FOR_ENERGIES} == set()


def test_no_attribute_of_ours_is_read_with_a_default():
    found = {
        f"{name_of(path)}: {attribute}"
        for path in MODULES
        if name_of(path) != DECLARES_ABILITIES
        for attribute in undeclared_attributes(tree_of(path))
        if attribute not in MAY_BE_ABSENT
    }
    assert found == set()


def test_nothing_is_keyed_by_the_identity_of_an_object():
    assert {name_of(path) for path in MODULES if calls(tree_of(path), "id")} == set()


def test_no_function_is_too_long():
    found = {
        f"{name_of(path)}: {function.name} ({lines_of(function)})"
        for path in MODULES
        for function in functions_of(tree_of(path))
        if lines_of(function) > LONGEST_FUNCTION
    }
    assert found == set()


def test_no_file_is_too_long():
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_the_core_stays_small():
    core = [path for path in MODULES if path.relative_to(PACKAGE).parts[0] in CORE]
    assert {path.relative_to(PACKAGE).parts[0] for path in core} == CORE
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in core) <= MOST_CORE_LINES


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_has_a_test_of_its_name(package):
    modules = [path for path in MODULES if path.parent == PACKAGE / package and not path.stem.startswith("__")]
    assert modules or (PACKAGE / package / "__init__.py").exists()
    missing = [
        f"tests/unit/{package}/test_{path.stem}.py"
        for path in modules
        if f"{package}/{path.stem}" not in NEED_NO_TEST and not has_tests(TESTS / package / f"test_{path.stem}.py")
    ]
    assert missing == []


def has_tests(path: Path) -> bool:
    return path.is_file() and any(function.name.startswith("test_") for function in functions_of(tree_of(path)))
