"""Weighted mixtures of mean fields for discrete random fields.

>>> import mixfield as mf
>>> graph = mf.FactorGraph.ising([0.0, 0.1, 0.0], [(0, 1), (1, 2)], 2.0)
>>> posterior = mf.infer(graph, n_modes=2)
>>> posterior.labelings().tolist()
[[1, 1, 1], [0, 0, 0]]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mixfield.apps.detection import detect as detect
    from mixfield.apps.ranking import ModeRanking as ModeRanking
    from mixfield.apps.ranking import Tempering as Tempering
    from mixfield.apps.ranking import fit_ranking as fit_ranking
    from mixfield.apps.ranking import mode_features as mode_features
    from mixfield.apps.segmentation import Kernels as Kernels
    from mixfield.apps.segmentation import entropy_gap as entropy_gap
    from mixfield.apps.segmentation import segment as segment
    from mixfield.apps.segmentation import segmentation_energy as segmentation_energy
    from mixfield.apps.superpixels import as_pixels as as_pixels
    from mixfield.apps.superpixels import superpixel_energy as superpixel_energy
    from mixfield.apps.tracking import Tracks as Tracks
    from mixfield.apps.tracking import track as track
    from mixfield.apps.tuning import Tuning as Tuning
    from mixfield.apps.tuning import tune as tune
    from mixfield.apps.video import Consistency as Consistency
    from mixfield.apps.video import ModePath as ModePath
    from mixfield.apps.video import VideoSegmentation as VideoSegmentation
    from mixfield.apps.video import segment_video as segment_video
    from mixfield.clamping.constraint import Cardinality as Cardinality
    from mixfield.clamping.field_ranked import FieldRanked as FieldRanked
    from mixfield.clamping.firm import FirmClamp as FirmClamp
    from mixfield.clamping.leaf import Leaf as Leaf
    from mixfield.clamping.leaf import Proposal as Proposal
    from mixfield.clamping.lookahead import Lookahead as Lookahead
    from mixfield.clamping.multiplier import Clamp as Clamp
    from mixfield.clamping.neighbourhood import NeighbourhoodEntropy as NeighbourhoodEntropy
    from mixfield.clamping.plausible import MostPlausible as MostPlausible
    from mixfield.clamping.regions import DoubtedRegions as DoubtedRegions
    from mixfield.clamping.regions import SuppressedRegions as SuppressedRegions
    from mixfield.clamping.regions import SuppressedWindows as SuppressedWindows
    from mixfield.clamping.selection import DensestWindow as DensestWindow
    from mixfield.clamping.selection import EntropyGap as EntropyGap
    from mixfield.clamping.selection import MaxW as MaxW
    from mixfield.clamping.selection import PhaseTransition as PhaseTransition
    from mixfield.clamping.selection import RandomGroup as RandomGroup
    from mixfield.clamping.tail import ExactTail as ExactTail
    from mixfield.clamping.tail import GaussianTail as GaussianTail
    from mixfield.clamping.temperature import critical_temperature as critical_temperature
    from mixfield.clamping.whole import WholeLabels as WholeLabels
    from mixfield.clamping.windows import MeltingWindows as MeltingWindows
    from mixfield.energy.active_labels import active_labels as active_labels
    from mixfield.energy.dense_crf import DenseCRF as DenseCRF
    from mixfield.energy.energy import Energy as Energy
    from mixfield.energy.factor_graph import FactorGraph as FactorGraph
    from mixfield.energy.factor_graph import grid_edges as grid_edges
    from mixfield.energy.gaussian import Bilateral as Bilateral
    from mixfield.energy.gaussian import Features as Features
    from mixfield.energy.gaussian import Gaussian as Gaussian
    from mixfield.energy.occupancy import Occupancy as Occupancy
    from mixfield.io.images import read_image as read_image
    from mixfield.io.images import read_label_map as read_label_map
    from mixfield.io.images import write_label_map as write_label_map
    from mixfield.io.pom import read_pom as read_pom
    from mixfield.io.pom import write_pom as write_pom
    from mixfield.io.scene_file import read_scene as read_scene
    from mixfield.io.scores import read_scores as read_scores
    from mixfield.io.uai import read_uai as read_uai
    from mixfield.io.uai import write_uai as write_uai
    from mixfield.junction_tree import exact as exact
    from mixfield.meanfield.mode import Mode as Mode
    from mixfield.meanfield.solver import Solver as Solver
    from mixfield.meanfield.solver import mean_field as mean_field
    from mixfield.mixture.annealing import Search as Search
    from mixfield.mixture.posterior import MixturePosterior as MixturePosterior
    from mixfield.mixture.posterior import load as load
    from mixfield.mixture.tree import best_first as best_first
    from mixfield.mixture.tree import breadth_first as breadth_first
    from mixfield.mixture.tree import infer as infer
    from mixfield.scene.camera import Person as Person
    from mixfield.scene.ground import Ground as Ground
    from mixfield.scene.scene import Scene as Scene
    from mixfield.temporal.costs import posterior_price as posterior_price
    from mixfield.temporal.costs import printed_price as printed_price
    from mixfield.temporal.windows import Windows as Windows

# Module -> public names in it.  Loaded at first use: ``import mixfield`` itself loads neither Numba nor SciPy.
_CONTENTS = {
    "apps.detection": ["detect"],
    "apps.ranking": ["ModeRanking", "Tempering", "fit_ranking", "mode_features"],
    "apps.segmentation": ["Kernels", "entropy_gap", "segment", "segmentation_energy"],
    "apps.superpixels": ["as_pixels", "superpixel_energy"],
    "apps.tuning": ["Tuning", "tune"],
    "apps.tracking": ["Tracks", "track"],
    "apps.video": ["Consistency", "ModePath", "VideoSegmentation", "segment_video"],
    "clamping.constraint": ["Cardinality"],
    "clamping.firm": ["FirmClamp"],
    "clamping.field_ranked": ["FieldRanked"],
    "clamping.leaf": ["Leaf", "Proposal"],
    "clamping.lookahead": ["Lookahead"],
    "clamping.multiplier": ["Clamp"],
    "clamping.neighbourhood": ["NeighbourhoodEntropy"],
    "clamping.plausible": ["MostPlausible"],
    "clamping.regions": ["DoubtedRegions", "SuppressedRegions", "SuppressedWindows"],
    "clamping.selection": ["DensestWindow", "EntropyGap", "MaxW", "PhaseTransition", "RandomGroup"],
    "clamping.tail": ["ExactTail", "GaussianTail"],
    "clamping.temperature": ["critical_temperature"],
    "clamping.whole": ["WholeLabels"],
    "clamping.windows": ["MeltingWindows"],
    "energy.active_labels": ["active_labels"],
    "energy.dense_crf": ["DenseCRF"],
    "energy.energy": ["Energy"],
    "energy.factor_graph": ["FactorGraph", "grid_edges"],
    "energy.gaussian": ["Bilateral", "Features", "Gaussian"],
    "energy.occupancy": ["Occupancy"],
    "io.pom": ["read_pom", "write_pom"],
    "io.scene_file": ["read_scene"],
    "io.images": ["read_image", "read_label_map", "write_label_map"],
    "io.scores": ["read_scores"],
    "io.uai": ["read_uai", "write_uai"],
    "junction_tree": ["exact"],
    "meanfield.mode": ["Mode"],
    "meanfield.solver": ["Solver", "mean_field"],
    "mixture.posterior": ["MixturePosterior", "load"],
    "mixture.annealing": ["Search"],
    "mixture.tree": ["best_first", "breadth_first", "infer"],
    "scene.camera": ["Person"],
    "scene.ground": ["Ground"],
    "scene.scene": ["Scene"],
    "temporal.costs": ["posterior_price", "printed_price"],
    "temporal.windows": ["Windows"],
}
_HOMES = {name: module for module, names in _CONTENTS.items() for name in names}
_SUBMODULES = ["baselines", "datasets", "errors", "metrics", "pydensecrf"]

__all__ = ["__version__", *sorted(_HOMES), *_SUBMODULES]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"mixfield.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'mixfield' has no attribute {name!r}")
    return getattr(import_module(f"mixfield.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
