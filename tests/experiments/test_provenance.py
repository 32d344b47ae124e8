"""What a page states about how it was made."""

from __future__ import annotations

import mixfield as mf
from experiments.provenance import provenance, version_list


def test_provenance_has_command_versions_and_protocol():
    made_by = provenance("python -m experiments x", seeds="0")
    assert (made_by["command"], made_by["seeds"]) == ("python -m experiments x", "0")
    assert made_by["versions"]["mixfield"] == mf.__version__
    assert version_list(made_by).startswith(f"mixfield {mf.__version__}, python 3.")
