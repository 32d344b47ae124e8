"""Mutants of a module: copies of its source with one changed expression."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}


@dataclass(frozen=True)
class Mutant:
    """One changed expression: ``line`` of the module, the changed text ``before`` and ``after``, and the outcome."""

    package: str
    module: str
    line: int
    kind: str
    before: str
    after: str
    source: str
    outcome: str = ""
    reason: str = ""


def changes(node: ast.AST, level: int) -> Iterator[tuple[str, Callable[[ast.AST], ast.AST | None]]]:
    """Kinds of change that apply to ``node``, each with the function that changes a copy of it in place."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            yield "comparison", lambda n: setattr(n, "ops", [COMPARISONS[type(op)]()])
        case ast.BinOp(op=op) if type(op) in ARITHMETIC and not _is_text(node):
            yield "arithmetic", lambda n: setattr(n, "op", ARITHMETIC[type(op)]())
        case ast.BoolOp(op=op):
            yield "and/or", lambda n: setattr(n, "op", ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield "condition", lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), test))
        case ast.Return(value=value) if value is not None and not _is_none(value):
            yield "return None", lambda n: setattr(n, "value", ast.Constant(None))
        case ast.Call(func=ast.Name(id="escape"), args=[text, *_]):
            yield "escape", lambda n: (setattr(n, "func", ast.Name("str")), setattr(n, "args", [text]))
        case ast.Call(keywords=[*_, last]) if last.arg not in (None, "strict"):  # zip checks the caller, not the input
            yield "keyword", lambda n: n.keywords.pop()
        case ast.Assign(value=ast.Constant(value=bool())):
            yield "flag", lambda n: setattr(n.value, "value", not n.value.value)
        case ast.Assign(value=ast.Constant(value=int() | float())) if level == 0:
            yield "constant", lambda n: setattr(n.value, "value", n.value.value * 10 or 1)
        case ast.Assign(targets=[ast.Tuple()], value=ast.Tuple(elts=[*_, last])) if level == 0 and _is_number(last):
            yield "constant", lambda n: n.value.elts.__setitem__(-1, ast.BinOp(last, ast.Div(), ast.Constant(10)))


def _is_text(node: ast.BinOp) -> bool:
    return any(isinstance(n, ast.JoinedStr | ast.Constant) and isinstance(getattr(n, "value", ""), str)
               for n in (node.left, node.right))  # fmt: skip


def _is_number(node: ast.AST) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _skipped(node: ast.AST) -> bool:
    """Errors' texts, imports, annotations, decorators' settings and log lines are not mutated."""
    if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.arg):
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return isinstance(node.func.value, ast.Name) and node.func.value.id in ("log", "logger", "logging", "warnings")
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _nodes(node: ast.AST, level: int = 0) -> Iterator[tuple[ast.AST, int]]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _skipped(child):
                yield child, level
                deeper = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda)
                yield from _nodes(child, level + deeper)


def mutants_of(package: str, path: Path) -> Iterator[Mutant]:
    """Every mutant of the module ``path``, in the order of its lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    before = ast.unparse(tree).splitlines()
    for k, (node, level) in enumerate(_nodes(tree)):
        for c, (kind, _) in enumerate(changes(node, level)):
            changed = copy.deepcopy(tree)
            target, _ = list(_nodes(changed))[k]
            list(changes(target, level))[c][1](target)
            source = ast.unparse(ast.fix_missing_locations(changed))
            pairs = [(a.strip(), b.strip()) for a, b in zip(before, source.splitlines(), strict=False) if a != b]
            if pairs:
                yield Mutant(package, path.stem, getattr(node, "lineno", 0), kind, *pairs[0], source)


def sample(package: str, count: int, seed: int) -> list[Mutant]:
    """At most ``count`` mutants of ``package``, drawn without replacement from all of its modules."""
    modules = sorted((ROOT / "src" / "mixfield" / package).glob("[!_]*.py"))
    every = [mutant for path in modules for mutant in mutants_of(package, path)]
    return random.Random(f"{package} {seed}").sample(every, min(count, len(every)))
