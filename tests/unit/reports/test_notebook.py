"""A posterior in a notebook."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from page_examples import random_posterior
from page_reading import HOSTILE, escaped_count

import mixfield as mf
from mixfield.errors import MixfieldError
from mixfield.mixture.calibration import Blend, Calibration
from mixfield.reports.about import TWO_PROBABILITIES
from mixfield.reports.notebook import MAX_MODES, pyplot


def test_card_has_a_picture_and_a_weight_for_each_mode():
    post = mf.infer(mf.datasets.four_zones(8), 2)
    text = post._repr_html_()
    assert text.count("<img") == 2
    for weight in post.weights:
        assert f"{100 * weight:.1f} %" in text
    first, second = post.labelings()
    assert f"{(first != second).sum()} differ" in text


def test_a_calibrated_card_asks_and_has_nats_on_demand():
    post, _ = random_posterior()
    evidence = np.full(post.modes[0].marginals.shape, 1 / 3)
    calibration = Calibration(np.array([0.7, 0.3]), np.array([np.nan, 0.38]), evidence, Blend(0.3, 0.7))
    text = replace(post, calibration=calibration)._repr_html_()
    for words in ("70.0 %", "mean field", "? 62 : 38, ", TWO_PROBABILITIES):
        assert words in text
    assert text.index("<details>") < text.index("Nats below mode 1")


def test_card_of_a_chain_has_no_pictures():
    post = mf.infer(mf.FactorGraph.ising([0.0, 0.1, 0.0], [(0, 1), (1, 2)], 2.0), 2)
    assert "<img" not in post._repr_html_()
    assert "2 modes of 3 variables" in post._repr_html_()


def test_card_needs_no_pillow_and_shows_twelve_modes(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    text = random_posterior(modes=14)[0]._repr_html_()
    assert text.count("<img") == MAX_MODES
    assert "and 2 more" in text


def test_plot_draws_one_panel_per_mode():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    post, image = random_posterior()
    for drawn in (post, mf.infer(mf.datasets.four_zones(6), 2)):
        figure = drawn.plot()
        assert [axis.get_title().split(":")[0] for axis in figure.axes] == ["mode 1", "mode 2"]
    assert len(post.plot(image).axes[0].images) == 2
    evidence = np.full(post.modes[0].marginals.shape, 1 / 3)
    calibration = Calibration(np.array([0.7, 0.3]), np.array([np.nan, 0.38]), evidence, Blend(0.3, 0.7))
    titles = [axis.get_title() for axis in replace(post, calibration=calibration).plot().axes]
    assert titles[0] == "mode 1: 70.0 % best by IoU"
    assert titles[1].startswith("mode 2: 30.0 % best by IoU\n")
    axes = pyplot.subplots(1, 2)[1]
    assert post.plot(axes=axes) is axes[0].figure
    with pytest.raises(MixfieldError, match="one per mode"):
        post.plot(axes=axes[:1])
    pyplot.close("all")


def test_volumes_are_not_drawn():
    post = mf.MixturePosterior((mf.Mode(np.full((2, 2, 2, 2), 0.5), 0.0),))
    with pytest.raises(MixfieldError, match="one or two dimensions"):
        post.plot()


def test_notes_are_escaped():
    post = mf.MixturePosterior((mf.Mode(np.full((2, 2), 0.5), 0.0),), notes=(HOSTILE,))
    assert escaped_count(post._repr_html_()) == 1


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MixfieldError, match=r"mixfield\[plot\]"):
        pyplot()
