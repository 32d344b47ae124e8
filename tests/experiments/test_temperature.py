"""`python -m experiments temperature`: where dense CRFs and random graphs melt, against what the page says."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from experiments import fixed_point, photos, splitting, temperature
from experiments.__main__ import app
from experiments.synthetic import Family
from mixfield.io import read_label_map

GAMMA = temperature.GAMMA


def _heated(crf):
    return temperature.heat(crf, [1.0, 3.0, 4.5, 4.8, 4.9, 5.0, 5.1, 6.0])


@pytest.fixture(scope="module")
def photo():
    return photos.drawn_photo().reduced(40)


def test_model_1_melts_at_half_of_gamma(photo):
    path = _heated(temperature.models(photo)["model 1"])
    for where in path["melts_at"].values():
        assert where == pytest.approx(GAMMA / 2, rel=0.05)
    assert path["mean"][0] < 0.05


def test_model_2_melts_there_too_and_doubtful_regions_before(photo):
    path = _heated(temperature.models(photo)["model 2"])["melts_at"]
    assert path["lowest_decile"] == pytest.approx(GAMMA / 2, rel=0.05)
    assert path["highest_decile"] <= path["mean"] <= path["lowest_decile"]


def test_model_3_stays_certain_where_there_is_evidence(photo):
    path = _heated(temperature.models(photo)["model 3"])
    assert path["lowest_decile"][-1] < 0.75
    assert path["melts_at"]["lowest_decile"] is None


@pytest.mark.parametrize("unary", temperature.UNARIES)
def test_half_of_the_unary_belongs_inside_the_tanh(unary):
    """The mode against the unary vanishes where U / 2 says, not where the printed U says."""
    row = temperature.with_unaries(unary)
    assert row["measured"] == pytest.approx(row["predicted"], abs=0.02)
    if unary:
        assert abs(row["measured"] - row["predicted_as_printed"]) > 0.3


@pytest.mark.parametrize(("unary", "heat"), [(0.0, 2.5), (1.0, 2.5), (1.0, 3.7), (4.0, 7.0)])
def test_solutions_solve(unary, heat):
    found = fixed_point.solutions(GAMMA, unary, heat)
    for q in found:
        assert fixed_point.right_hand_side(q, GAMMA, unary, heat) == pytest.approx(q, abs=1e-9)
    assert len(found) == (3 if heat < fixed_point.splitting_temperature(GAMMA, unary) else 1)


def test_a_unary_as_strong_as_the_coupling_leaves_one_solution():
    assert fixed_point.splitting_temperature(GAMMA, GAMMA) == 0.0
    assert fixed_point.splitting_temperature(GAMMA, -1.0) == fixed_point.splitting_temperature(GAMMA, 1.0)


@pytest.mark.parametrize("attractive", [False, True])
@pytest.mark.parametrize("topology", ["grid", "random"])
def test_the_eigenvalue_bounds_the_splitting(attractive, topology):
    """Sharp without fields, a bound with them."""
    row = splitting.measure(Family(7, "mmmf", attractive, topology), 2)
    np.testing.assert_allclose(row["split_without_fields"], row["predicted"], rtol=0.01)
    assert (np.array(row["split"]) < row["predicted"]).all()


def test_without_fields_keeps_the_couplings():
    graph = Family(7, "mmmf", False, "grid").draw(0)
    bare = splitting.without_fields(graph)
    assert not bare.unary.any()
    x = np.random.default_rng(0).integers(0, 2, (2, graph.n))
    spins = 2 * x - 1
    fields = (graph.unary[:, 0] - graph.unary[:, 1]) / 2
    difference = graph.of(x.reshape(-1, *graph.shape)) - bare.of(x)
    assert np.ptp(difference + spins @ fields) < 1e-9


def test_melting_is_where_the_entropy_rises_through_the_threshold():
    heat = np.array([1.0, 2.0, 3.0])
    assert temperature.melting(heat, np.array([0.5, 0.98, 1.0])) == pytest.approx(2.5)
    assert temperature.melting(heat, np.array([0.1, 0.2, 0.3])) is None
    assert temperature.melting(heat, np.ones(3)) is None


def test_network_scores(data):
    folder = data / "segmentation" / "vocval7"
    if not folder.is_dir():
        pytest.skip(f"no scores in {folder}")
    photo = photos.network_photo(folder)
    assert photo.image.shape == (*photo.foreground.shape, 3)
    truth = np.asarray(read_label_map(folder / "gt" / "2007_000033.png"))
    known = truth != 255
    assert np.mean((photo.foreground > 0.5)[known] == (truth > 0)[known]) > 0.9


def test_command(tmp_path, monkeypatch):
    """Without data, a drawn photo; the page holds the verdicts."""
    monkeypatch.setattr(temperature, "temperatures", lambda **_: [1.0, 3.0, 4.0, 4.5, 4.9, 5.0, 5.1, 6.0])
    arguments = ["temperature", "--quick", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    arguments += ["--work", str(tmp_path / "work"), "--workers", "1"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    page = (tmp_path / "out" / "temperature.md").read_text()
    assert "a drawn photo with scribbles" in page
    claims = json.loads((tmp_path / "out" / "temperature.json").read_text())["claims"]
    assert [c["verdict"] for c in claims][:2] == ["confirmed", "confirmed"]
    for name in ("temperature", "temperature-tanh", "temperature-maps"):
        assert (tmp_path / "out" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / "out" / f"{name}.svg").stat().st_size > 5_000
