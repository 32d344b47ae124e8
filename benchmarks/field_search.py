"""Whether gradients fit the field of `mf.fit` better or faster than its search over settings.

    MIXFIELD_DATA=shared/data PYTHONPATH=. python benchmarks/field_search.py [--every 4] [--epochs 8]

Exponent and weights of the kernels, chosen on every second photograph (a third of the size, both networks): by the
search, and by Adam through `mixfield.torch.DenseCRF` from the first setting of the search and from the best one.  The
losses are those of the converged mean field, blended with the scores as is best where it was chosen.  CPU seconds of
the choice beside.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from experiments.annotated import VOID, AnnotatedFolder
from mixfield import Kernels, mean_field
from mixfield.apps.field_choice import BLENDS, SETTINGS, Setting
from mixfield.apps.field_model import FieldModel
from mixfield.apps.fitting import example
from mixfield.apps.mode_calibration import NEUTRAL, Example, log_loss
from mixfield.mixture.calibration import label_frequencies
from mixfield.torch import DenseCRF

DATA = Path(os.environ.get("MIXFIELD_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "segmentation"
STEP = 3
A, C = 0.2, 0.7  # first exponents of the blend


def photographs(every: int) -> list[Example]:
    """Annotated examples of both networks."""
    found = []
    for subset in ("voc", "coco"):
        for network in ("dl513", "dl257"):
            folder = AnnotatedFolder(DATA / subset, network)
            for name in folder.names[::every]:
                one = folder.load(name).reduced(STEP)
                found.append(example(one.image, one.probs, one.truth, VOID, False, np.random.default_rng(0)))
    return found


def losses(setting: Setting, images: Sequence[Example]) -> NDArray[np.float64]:
    """Mean loss of the pixels with each of `BLENDS`; the last one is the scores alone."""
    model = FieldModel(*setting, NEUTRAL, NEUTRAL, BLENDS[0])
    rows = []
    for image in images:
        q = image.sampled(mean_field(model.energy(image.probs, image.picture)).marginals)
        evidence, shares = image.sampled(image.probs), label_frequencies(image.probs)
        rows.append([log_loss(blend.of(q, evidence, shares), image.labels) for blend in BLENDS])
    return np.mean(rows, 0)


def learned(setting: Setting, images: Sequence[Example], epochs: int) -> Setting:
    """Exponent and weights after some epochs of Adam, one image a step."""
    exponent, k = setting
    layer = DenseCRF(
        images[0].probs.shape[-1],
        smooth_sxy=k.smooth_sxy, smooth_weight=k.smooth_weight, sxy=k.sxy, srgb=k.srgb, weight=k.weight,
        exponent=exponent, gradient="implicit",
    )  # fmt: skip
    blend = torch.tensor([A, C], requires_grad=True)
    optimizer = torch.optim.Adam([*layer.parameters(), blend], lr=0.05)
    for _ in range(epochs):
        for image in images:
            logs = torch.as_tensor(np.log(np.maximum(image.probs, 1e-8)).transpose(2, 0, 1)[None].copy())
            picture = torch.as_tensor(np.asarray(image.picture, np.float32).transpose(2, 0, 1)[None].copy())
            both = blend[0] * layer(logs, picture) + blend[1] * logs
            picked = both[0].flatten(1).T[torch.as_tensor(image.pixels)]
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(picked, torch.as_tensor(image.labels)).backward()
            optimizer.step()
    weights = layer.log_weights.detach().exp().tolist()
    return float(layer.log_exponent.detach().exp()), Kernels(k.smooth_sxy, weights[0], k.sxy, k.srgb, weights[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=8)
    options = parser.parse_args()
    torch.manual_seed(0)
    images = photographs(options.every)
    train, test = images[::2], images[1::2]
    settings = [(exponent, kernels.reduced(STEP)) for exponent, kernels in SETTINGS]
    losses(settings[0], train[:1])  # compiles
    began = time.process_time()
    best = min(settings, key=lambda one: losses(one, train).min())
    rows = [("search over settings", time.process_time() - began, best)]
    for name, start in (("gradients from the first setting", settings[0]), ("... from the best one", best)):
        began = time.process_time()
        found = learned(start, train, options.epochs)
        rows.append((name, time.process_time() - began, found))
    print(f"{len(train)} photographs to choose on, {len(test)} others")
    print(f"{'':34s}{'CPU s':>8s}{'loss':>9s}{'others':>9s}")
    for name, seconds, found in rows:
        chosen, others = losses(found, train), losses(found, test)
        print(f"{name:34s}{seconds:8.1f}{chosen.min():9.4f}{others[chosen.argmin()]:9.4f}  {found}")
    print(f"{'scores alone':42s}{chosen[-1]:9.4f}{others[-1]:9.4f}")


if __name__ == "__main__":
    main()
