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
suppress_warnings = ["config.cache"]  # sphinx-gallery keeps functions in its settings

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings tell shapes, which types cannot
autodoc_member_order = "bysource"
napoleon_use_ivar = True
napoleon_use_rtype = False
default_role = "code"

html_theme = "furo"
html_title = "mixfield"
html_static_path = ["_static"]

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
linkcheck_ignore = [r"https://doi\.org/.*"]
linkcheck_timeout = 10


def _plain_stars(app, what, name, obj, options, lines):
    """Docstrings are plain text: ``*shape`` and ``|W|`` in them are neither emphasis nor substitutions."""
    for k, line in enumerate(lines):
        parts = line.split("``")
        parts[::2] = [re.sub(r"(\*(?=shape))|(\|(?=\w)|(?<=\w)\|)", r"\\\g<0>", part) for part in parts[::2]]
        lines[k] = "``".join(parts)


def _pages_that_are_there(app, name, source):
    """The list of pages names some that other branches bring."""
    if name == "index":
        wanted = [
            line for line in source[0].split("\n") if line != "reliability*" or glob(f"{app.srcdir}/reliability*")
        ]
        source[0] = "\n".join(wanted)


def setup(app):
    app.connect("autodoc-process-docstring", _plain_stars, priority=400)
    app.connect("source-read", _pages_that_are_there)
