"""How the documentation is built: ``sphinx-build -W docs docs/_build``."""

from __future__ import annotations

import os
import re
import sys
import warnings
from glob import glob

import mixfield

sys.path.insert(0, os.path.abspath("."))
warnings.filterwarnings("ignore", message=".*Agg.*non-interactive.*")

project = "mixfield"
author = "The mixfield developers"
release = mixfield.__version__
copyright = "the mixfield developers, BSD-3 licence"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "Thumbs.db", "auto_examples/*.ipynb", "auto_examples/*.py"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache", "ref.python"]  # functions in settings; plain words that are also names

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings tell shapes, which types cannot
autodoc_member_order = "bysource"
napoleon_use_ivar = True
napoleon_use_rtype = False
default_role = "code"

templates_path = ["_templates"]
html_theme = "furo"
html_title = "mixfield"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": "plot_",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 60,
    "abort_on_example_error": True,
}

# pages that move with every release, or that refuse robots
linkcheck_ignore = [r"https://doi\.org/.*", r"https://sphinx-gallery\.github\.io.*"]
linkcheck_timeout = 10


def _plain_text(app, what, name, obj, options, lines):
    """Docstrings are plain text: ``*shape`` is no emphasis, and what follows a parameter's colon tells, not types."""
    told, section = [], ""
    for k, line in enumerate(lines):
        if k + 1 < len(lines) and set(lines[k + 1].strip()) == {"-"}:
            section = line.strip()
        parts = line.split("``")
        parts[::2] = [re.sub(r"(\*(?=shape))|(\|(?=\w)|(?<=\w)\|)", r"\\\g<0>", part) for part in parts[::2]]
        line = "``".join(parts)
        entry = re.match(r"([\w, ]+) : (.+)", line)
        told += [entry[1], f"    {entry[2]}"] if entry and section in ("Parameters", "Attributes") else [line]
    lines[:] = told


def _pages_that_are_there(app, name, source):
    """The list of pages names some that other branches bring."""
    if name == "index":
        wanted = [
            line for line in source[0].split("\n") if line != "reliability*" or glob(f"{app.srcdir}/reliability*")
        ]
        source[0] = "\n".join(wanted)


def setup(app):
    app.connect("autodoc-process-docstring", _plain_text, priority=400)
    app.connect("source-read", _pages_that_are_there)
