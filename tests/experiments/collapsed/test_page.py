"""The page: means, intervals, shares and medians of the measurements."""

from __future__ import annotations

from experiments.collapsed.page import write_page

MADE_BY = {"command": "python -m experiments collapsed", "versions": {"mixfield": "0"}}


def _row(kind, name, bound, control, log_z=None):
    return {
        "kind": kind, "name": name, "source": 100, "log_z": log_z, "bound": bound, "estimate": bound / 2,
        "one_mode": bound, "modes": 3, "nearest": 7, "seconds": 0.5, "control": control, "control_seconds": 0.25,
    }  # fmt: skip


def test_tables(tmp_path):
    rows = [
        _row("13 x 13", "mixed weller", 8.0, 4.0, 10.0),
        _row("13 x 13", "mixed weller", 9.0, 5.0, 10.0),
        _row("UAI", "Promedus_1", -1.25, -1.0, 0.0),
        _row("UAI", "Promedus_2", -0.25, -1.0, 0.0),
        _row("UAI", "Promedus_3", -0.75, float("inf"), 0.0),
        _row("64 x 64", "mixed mmmf", 12.0, 10.0),
    ]
    text = write_page(rows, MADE_BY, tmp_path).read_text()
    assert "| mixed weller | 2 | 1.500 | 1.000 to 2.000 | 5.50 | 0.50 |" in text
    assert "The bound is closer to log Z than BP, or within 0.001 nats of it, on 2 of 3 models." in text
    assert "on 2 of 3 models. Median error in nats: Promedus 0.750." in text
    assert "on 1 of 1 models. Median error in nats: Promedus 0.250." in text
    assert "on 3 of 3 models. Median error in nats: Promedus 0.375." in text
    assert "| Promedus_3 | 0.000 | -0.750 | -0.375 | fails | 3 | 0.50 | 0.25 |" in text
    assert "| mixed mmmf | 100 | +2.00 | 3 | 7 | 0.50 | 0.25 |" in text
    assert (tmp_path / "collapsed.json").exists()


def test_what_was_not_measured(tmp_path):
    text = write_page([_row("13 x 13", "mixed weller", 8.0, 4.0, 10.0)], MADE_BY, tmp_path).read_text()
    assert "Not measured in this run." in text
