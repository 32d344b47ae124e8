"""Code blocks and commands of the documentation run, and every name, link and path in it exists."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import mixfield
from mixfield.cli import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = {"_build", "auto_examples", "generated"}
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
PAGES = [page for page in PAGES if not GENERATED & set(page.parts)]
BRIDGES = DOCS / "bridges.md"  # of libraries that may be missing
SUBPACKAGES = ("apps", "constraints", "criteria", "energy", "io", "mixture", "scene", "solvers", "temporal")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text_of(page), re.DOTALL)


def commands(page: Path, *, console: bool = False) -> list[list[str]]:
    """The mixfield commands of the shell blocks of a page; with ``console`` also those after a ``$`` prompt."""
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    if console:
        lines += [line.removeprefix("$ ") for block in blocks(page, "console") for line in block.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("mixfield ")]


def run(block: str) -> None:
    """Run the commands of a block."""
    for line in block.splitlines():
        words = shlex.split(line, comments=True)
        assert words[0] == "mixfield"
        result = CliRunner().invoke(app, words[1:])
        assert result.exit_code == 0, (line, result.output)


def loaded(name: str) -> object:
    """The object with a dotted name, importing submodules on the way."""
    found = import_module("mixfield")
    for part in name.split(".")[1:]:
        found = getattr(found, part) if hasattr(found, part) else import_module(f"{found.__name__}.{part}")
    return found


# ---------------------------------------------------------------- code blocks and commands


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if blocks(page, "(?:python|sh)") and page.name != BRIDGES.name],
    ids=lambda page: page.name,
)
def test_blocks_run_in_order(page, tmp_path, monkeypatch):
    """Python blocks of all pages, and commands of all but README (see `test_readme`) and CONTRIBUTING."""
    if page.name == "gradients.md":
        pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'mixfield[torch]'")
    monkeypatch.chdir(tmp_path)
    session: dict[str, object] = {}
    for block in blocks(page, "(?:python|sh)"):
        if f"```python\n{block}" in text_of(page):
            exec(compile(block, page.name, "exec"), session)
        elif page.parent != ROOT:
            run(block)
    if page.name == "command-line.md":
        assert (tmp_path / "posterior.html").exists()


def sections(page: Path) -> dict[str, str]:
    """The Python block of each section that has one."""
    parts = [part.split("\n", 1) for part in text_of(page).split("\n## ")[1:]]
    return {title: found[0] for title, part in parts if (found := re.findall(r"```python\n(.*?)```", part, re.DOTALL))}


@pytest.mark.parametrize("title", sections(BRIDGES))
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")  # of the libraries
def test_examples_of_other_libraries(title, tmp_path, monkeypatch):
    """Each block by itself, skipped where its library is not installed."""
    block = sections(BRIDGES)[title]
    for library in re.findall(r"^import (\w+)$", block, re.MULTILINE):
        pytest.importorskip(library, reason=f"{library} is not installed")
    monkeypatch.chdir(tmp_path)
    exec(compile(block, title, "exec"), {})


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page, console=True)], ids=lambda page: page.name)
def test_commands_parse(page):
    program = typer.main.get_command(app)
    for words in commands(page, console=True):
        verb, rest = program.commands[words[0]], words[1:]
        while hasattr(verb, "commands") and rest:
            verb, rest = verb.commands[rest[0]], rest[1:]
        verb.make_context(words[0], rest)


# ---------------------------------------------------------------- names


def test_every_name_of_the_table_of_equations_exists():
    names = re.findall(r"\{py:\w+\}`([\w.]+)`", text_of(DOCS / "equations.md"))
    assert len(names) > 40
    for name in names:
        assert callable(loaded(name)), name


@pytest.mark.parametrize("page", [page for page in PAGES if "{py:" in text_of(page)], ids=lambda page: page.name)
def test_every_name_in_a_role_exists(page):
    for name in re.findall(r"\{py:\w+\}`~?([\w.]+)`", text_of(page)):
        assert loaded(name) is not None


def test_the_api_page_lists_every_public_name():
    listed = set(re.findall(r"^   ([\w.]+)$", text_of(DOCS / "api.md"), re.MULTILINE))
    top = {name for name in mixfield.__all__ if not hasattr(getattr(mixfield, name), "__path__")} - {
        "errors",
        "testing",
    }
    assert top <= listed
    for package in SUBPACKAGES:
        public = set(import_module(f"mixfield.{package}").__all__) - top
        assert {f"{package}.{name}" for name in public} <= listed
    for name in listed:
        assert loaded(f"mixfield.{name}") is not None


def test_new_names_of_the_migration_page_exist():
    table = [line.split("|")[2] for line in text_of(DOCS / "migration.md").splitlines() if line.startswith("| `")]
    names = re.findall(r"`(m(?:f|ixfield)\.[\w.]+)`", "".join(table))
    assert len(names) > 60
    for name in names:
        assert loaded(re.sub(r"^mf\.", "mixfield.", name)) is not None


# ---------------------------------------------------------------- links and paths


def test_links_between_pages_resolve():
    for page in PAGES:
        text = re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in target:
                assert (page.parent / target).exists(), (page.name, target)


def paths(text: str) -> list[str]:
    """Paths between backticks, relative to the checkout or to ``src/mixfield``."""
    return re.findall(r"`([\w.-]+(?:/[\w.-]+)*(?:\.(?:py|pyi|md|toml|txt)|/))`", text)


def missing(text: str) -> set[str]:
    bases = (ROOT, ROOT / "src" / "mixfield")
    return {path for path in paths(text) if not any((base / path).exists() for base in bases)}


@pytest.mark.parametrize("page", [ROOT / "CONTRIBUTING.md", DOCS / "architecture.md"], ids=lambda page: page.name)
def test_every_path_named_exists(page):
    assert len(paths(text_of(page))) > 10
    assert missing(text_of(page)) == set()


def test_paths_that_do_not_exist_are_found():
    assert missing("`criteria/leaf.py`, `tests/unit/`, `docs/conf.py`") == set()
    assert missing("`criteria/nothing.py` and `nowhere/`") == {"criteria/nothing.py", "nowhere/"}


def test_ten_changes_of_at_most_four_files():
    table = text_of(ROOT / "CONTRIBUTING.md").split("## Ten changes")[1].split("\n## ")[0]
    rows = [line for line in table.splitlines() if re.match(r"\| \d+ \|", line)]
    assert len(rows) == 10
    for row in rows:
        assert 1 <= len(paths(row)) <= 4, row


def test_the_layers_are_those_of_the_contract():
    contract = re.search(r"layers = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.DOTALL)[1]
    layers = [name for name in re.findall(r"mixfield\.(\w+)", contract) if not name.startswith("_")]
    picture = re.search(r"```text\n(.*?)```", text_of(DOCS / "architecture.md"), re.DOTALL)[1]
    drawn = re.findall(r"^ \| (\w+)  ", picture, re.MULTILINE)
    assert drawn == layers


def test_pictures_of_the_readme_are_small():
    for picture in (DOCS / "images").iterdir():
        assert picture.stat().st_size < 200_000, picture.name


# ---------------------------------------------------------------- versions


def test_changelog_and_citation_name_the_version():
    version = re.match(r"\d+\.\d+\.\d+", mixfield.__version__)[0]
    newest = re.search(r"^## (\S+)", text_of(ROOT / "CHANGELOG.md"), re.MULTILINE)[1]
    cited = re.search(r"^version: (\S+)", text_of(ROOT / "CITATION.cff"), re.MULTILINE)[1]
    assert newest == cited == version


def documented_keys(heading: str) -> list[dict[str, str]]:
    """The tables of a section of the page about scene files: key -> default."""
    section = text_of(DOCS / "scene-file.md").split(f"## {heading}\n")[1].split("\n## ")[0]
    tables: list[dict[str, str]] = []
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == "key":
            tables.append({})
        elif line.startswith("| `"):
            tables[-1][cells[0].strip("`")] = cells[2]
    return tables


def test_the_page_about_scene_files_has_every_key_of_the_reader():
    from mixfield.io import scene_file

    scene, person = documented_keys("Scene")
    (camera,) = documented_keys("Cameras")
    (pom,) = documented_keys("POM files")
    assert set(scene) == scene_file._SCENE_KEYS
    assert set(person) == scene_file._PERSON_KEYS
    assert set(camera) == scene_file._CAMERA_KEYS
    assert set(pom) | scene_file._FOOTAGE_KEYS == scene_file._POM_KEYS


def test_the_page_about_scene_files_has_the_defaults_of_the_reader():
    import inspect

    from mixfield.apps.heights import SPREAD
    from mixfield.scene.camera import Person

    scene, person = documented_keys("Scene")
    parameters = inspect.signature(mixfield.Scene.from_cameras).parameters
    for key in ("cell", "margin", "density"):
        assert float(scene[key]) == parameters[key].default
    assert {key: float(person[key]) for key in vars(Person())} == vars(Person())
    assert person["heights"] == "`height` alone"
    assert f"s.d. {SPREAD} m" in person["shares"]
