"""Sphinx configuration; build with ``sphinx-build -W docs docs/_build``."""

from __future__ import annotations

import os
import re
import sys
import warnings

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
suppress_warnings = ["config.cache", "ref.python"]  # functions in the settings; ambiguous names

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings give shapes
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

# addresses that change with every release, or that refuse automatic requests
linkcheck_ignore = [r"https://doi\.org/.*", r"https://sphinx-gallery\.github\.io.*"]
linkcheck_timeout = 10


def _escape_docstring(app, what, name, obj, options, lines):
    """Escape ``*shape`` and ``|x|``, and put the text after a parameter's colon below it: it is not a type."""
    result, section = [], ""
    for k, line in enumerate(lines):
        if k + 1 < len(lines) and set(lines[k + 1].strip()) == {"-"}:
            section = line.strip()
        parts = line.split("``")
        parts[::2] = [re.sub(r"(\*(?=shape))|(\|(?=\w)|(?<=\w)\|)", r"\\\g<0>", part) for part in parts[::2]]
        line = "``".join(parts)
        entry = re.match(r"([\w, ]+) : (.+)", line)
        result += [entry[1], f"    {entry[2]}"] if entry and section in ("Parameters", "Attributes") else [line]
    lines[:] = result


def setup(app):
    app.connect("autodoc-process-docstring", _escape_docstring, priority=400)
