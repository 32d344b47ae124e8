"""Every code block of the documentation runs, every command in it is understood, every function it names exists."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from mixfield.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if not {"_build", "auto_examples", "generated"} & set(page.parts)]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def commands(page: Path, *, console: bool = False) -> list[list[str]]:
    """The mixfield commands of the shell blocks of a page, and of those that only show them after a ``$``."""
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    if console:
        lines += [line.removeprefix("$ ") for block in blocks(page, "console") for line in block.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("mixfield ")]


def run(block: str) -> None:
    """Run the commands of a block."""
    for line in block.splitlines():
        words = shlex.split(line, comments=True)
        assert words[0] == "mixfield"
        answer = CliRunner().invoke(app, words[1:])
        assert answer.exit_code == 0, (line, answer.output)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "(?:python|sh)")], ids=lambda page: page.name)
def test_blocks_run_in_order(page, tmp_path, monkeypatch):
    """Python, and on every page but the README, whose commands need files (see `test_readme`), commands."""
    monkeypatch.chdir(tmp_path)
    session: dict[str, object] = {}
    for block in blocks(page, "(?:python|sh)"):
        if f"```python\n{block}" in page.read_text(encoding="utf-8"):
            exec(compile(block, page.name, "exec"), session)
        elif page.name != "README.md":
            run(block)
    if page.name == "command-line.md":
        assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page, console=True)], ids=lambda page: page.name)
def test_commands_are_understood(page):
    program = typer.main.get_command(app)
    for words in commands(page, console=True):
        verb, rest = program.commands[words[0]], words[1:]
        while hasattr(verb, "commands") and rest:
            verb, rest = verb.commands[rest[0]], rest[1:]
        verb.make_context(words[0], rest)


def test_every_name_of_the_table_of_equations_exists():
    text = (ROOT / "docs" / "equations.md").read_text(encoding="utf-8")
    names = re.findall(r"\{py:\w+\}`([\w.]+)`", text)
    assert len(names) > 40
    for name in names:
        found = import_module("mixfield")
        for part in name.split(".")[1:]:
            found = getattr(found, part) if hasattr(found, part) else import_module(f"{found.__name__}.{part}")
        assert callable(found), name


def test_the_api_page_lists_every_public_name():
    import mixfield

    listed = set(re.findall(r"^   ([\w.]+)$", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), re.MULTILINE))
    public = set(mixfield.__all__) - {"__version__", *mixfield._SUBMODULES}
    assert public <= listed


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in target:
                assert (page.parent / target).exists(), (page.name, target)


def test_pictures_of_the_readme_are_small():
    for picture in (ROOT / "docs" / "images").iterdir():
        assert picture.stat().st_size < 200_000, picture.name
