"""`python -m experiments collapsed`: names of fields."""

from __future__ import annotations

from typer.testing import CliRunner

from experiments.__main__ import app


def test_unknown_fields_are_refused(tmp_path):
    done = CliRunner().invoke(app, ["collapsed", "--only", "nothing", "--data", str(tmp_path), "--work", str(tmp_path)])
    assert "--only must be part of a name such as '13 x 13 mixed weller 100', got ['nothing']" in str(done.exception)
