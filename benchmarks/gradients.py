"""Gradients of the dense CRF layer: time and memory of 500x375x21 with ten updates, and unrolling in plain PyTorch.

    pip install 'mixfield[torch]'    (and crfseg and ConvCRF, for their rows)
    python benchmarks/gradients.py [--quick] [--only time,memory,peers]

Programs take turns; figures are medians.  Processor time, of all threads together, stands beside wall time: it tells
more where the machine is shared.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from scipy.ndimage import gaussian_filter

import mixfield as mf
from mixfield.torch import DenseCRF

UPDATES = 10
KERNELS = {
    "smooth_sxy": 3.0,
    "smooth_weight": 3.0,
    "sxy": 80.0,
    "srgb": 13.0,
    "weight": 10.0,
}  # of the README of the peer
Work = Callable[[], object]


def batch(height: int = 375, width: int = 500, n_labels: int = 21) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Smooth random logits, an image and labels."""
    rng = np.random.default_rng(0)
    logits = gaussian_filter(rng.normal(size=(n_labels, height, width)), (0, 8, 8))
    image = gaussian_filter(rng.normal(size=(3, height, width)), (0, 20, 20))
    image = np.clip(128 + 50 * image / image.std() + rng.normal(size=image.shape) * 3, 0, 255).astype(np.uint8)
    logits = torch.tensor(2 * logits / logits.std(), dtype=torch.float32)[None]
    return logits, torch.tensor(image)[None], torch.tensor(rng.integers(0, n_labels, (1, height, width)))


def layer_of(gradient: str, n_labels: int = 21) -> DenseCRF:
    return DenseCRF(n_labels, **KERNELS, updates=UPDATES, gradient=gradient)


def forward(layer: torch.nn.Module, logits: torch.Tensor, image: torch.Tensor) -> Work:
    """The layer without gradients."""

    def work() -> object:
        with torch.no_grad():
            return layer(logits, image)

    return work


def training(layer: torch.nn.Module, logits: torch.Tensor, image: torch.Tensor, labels: torch.Tensor) -> Work:
    """Forward, the likelihood of labels, and backward to the logits and all parameters."""

    def work() -> object:
        given = logits.detach().requires_grad_()
        layer.zero_grad(set_to_none=True)
        torch.nn.functional.nll_loss(layer(given, image), labels).backward()
        return given.grad

    return work


# ---------------------------------------------------------------- unrolling in plain PyTorch


class PlainUnrolled(torch.nn.Module):
    """CRF-RNN in operators of PyTorch: our lattice as sparse matrices, the smoothness kernel as two convolutions."""

    def __init__(self, n_labels: int) -> None:
        super().__init__()
        self.weights = torch.nn.Parameter(torch.tensor([KERNELS["smooth_weight"], KERNELS["weight"]]))
        self.n_labels = n_labels

    def forward(self, logits: torch.Tensor, image: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            appearance, smooth = self._lattice(image), self._convolution(logits.shape[-2:])
        shape, q = logits.shape, torch.softmax(logits, 1)
        for _ in range(UPDATES):
            rows = appearance(q[0].flatten(1).T)
            support = self.weights[0] * smooth(q) + self.weights[1] * rows.T.reshape(shape)
            log_q = torch.log_softmax(logits + support, 1)
            q = log_q.exp()
        return log_q

    def _lattice(self, image: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
        array = image[0].movedim(0, -1).numpy()
        kernel = mf.Bilateral(array, KERNELS["sxy"], KERNELS["srgb"])
        lattice = kernel.filter(array.shape[:2], 1.0, symmetric=True)
        n, corners = lattice.corner.shape
        rows = np.repeat(np.arange(n), corners)
        slicing = _csr(rows, lattice.corner.ravel(), lattice.weight.ravel(), (n, lattice.size))
        weight = lattice.weight * lattice.ratio[:, None]
        splatting = _csr(lattice.corner.ravel(), rows, weight.ravel(), (lattice.size, n))
        blurs = [_blur(order, link, lattice.size) for order, link in lattice.chains]

        def apply(values: torch.Tensor) -> torch.Tensor:
            splatted = splatting @ values
            ways = []
            for chain in (blurs, blurs[::-1]):
                table = splatted
                for blur in chain:
                    table = blur @ table
                ways.append(table)
            return slicing @ ((ways[0] + ways[1]) / 2)

        return apply

    def _convolution(self, shape: torch.Size) -> Callable[[torch.Tensor], torch.Tensor]:
        radius = int(3.75 * KERNELS["smooth_sxy"])
        bell = torch.exp(-0.5 * (torch.arange(-radius, radius + 1) / KERNELS["smooth_sxy"]) ** 2)
        each = bell.expand(self.n_labels, 1, -1)
        columns, lines = each[:, :, None, :].contiguous(), each[:, :, :, None].contiguous()

        def blur(values: torch.Tensor) -> torch.Tensor:
            wide = torch.nn.functional.conv2d(values, columns, padding=(0, radius), groups=self.n_labels)
            return torch.nn.functional.conv2d(wide, lines, padding=(radius, 0), groups=self.n_labels)

        root = blur(torch.ones(1, self.n_labels, *shape)).rsqrt()
        return lambda values: root * blur(root * values)


def _csr(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]) -> torch.Tensor:
    index = torch.from_numpy(np.stack([rows, columns]).astype(np.int64))
    return torch.sparse_coo_tensor(index, torch.from_numpy(values), shape, check_invariants=False).to_sparse_csr()


def _blur(order: np.ndarray, link: np.ndarray, size: int) -> torch.Tensor:
    """I plus the links between neighbours along one direction."""
    first, second = order[: len(link)], order[1 : len(link) + 1]
    linked = link > 0
    a, b, w = first[linked], second[linked], link[linked]
    everyone = np.arange(size)
    return _csr(
        np.concatenate([everyone, a, b]),
        np.concatenate([everyone, b, a]),
        np.concatenate([np.ones(size, np.float32), w, w]),
        (size, size),
    )


# ---------------------------------------------------------------- sections


def medians(works: list[Work], repeats: int) -> np.ndarray:
    """(programs, 2) wall and processor seconds."""
    for work in works:
        work()
    taken = np.zeros((repeats, len(works), 2))
    for repeat in range(repeats):
        for k, work in enumerate(works):
            wall, cpu = time.perf_counter(), time.process_time()
            work()
            taken[repeat, k] = time.perf_counter() - wall, time.process_time() - cpu
    return np.median(taken, axis=0)


def show(name: str, taken: np.ndarray, base: np.ndarray, note: str = "") -> None:
    wall, cpu = taken / base
    seconds = f"{taken[0]:7.3f} s ({taken[1]:.3f} s of processors)"
    print(f"  {name:34s} {seconds}  {wall:5.2f}x, {cpu:5.2f}x in processors{note}")


def times(quick: bool) -> None:
    """Forward and backward of one image, set-up of the lattice included."""
    logits, image, labels = batch()
    plain = forward(layer_of("unrolled"), logits, image)
    works = [plain, *(training(layer_of(g), logits, image, labels) for g in ("unrolled", "implicit"))]
    base, *taken = medians(works, 3 if quick else 9)
    show("forward", base, base)
    for name, one in zip(("unrolled", "implicit"), taken, strict=True):
        show(f"forward and backward, {name}", one, base, "  (at most 3x)")


def memory(quick: bool) -> None:  # noqa: ARG001
    """Peak memory beyond the input, one process each, in multiples of the marginals."""
    marginals = 4 * 375 * 500 * 21
    peaks = {}
    for name in ("forward", "unrolled", "implicit", "plain"):
        folder = str(Path(__file__).parent)
        code = f"import sys; sys.path.insert(0, {folder!r}); import gradients; gradients.peak({name!r})"
        given = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, env=given)
        peaks[name] = int(done.stdout.split()[-1])
    for name, peak in peaks.items():
        beyond = (peak - peaks["forward"]) / marginals
        print(f"  {name:10s} {peak / 1e6:8.1f} MB, forward + {beyond:5.1f} times the marginals (at most 4)")


def peak(name: str) -> None:
    """Print the peak memory of one program beyond what it began with."""
    small, large = batch(60, 80), batch()
    layer = PlainUnrolled(21) if name == "plain" else layer_of("unrolled" if name == "forward" else name)
    for logits, image, labels in (small, large):
        work = forward(layer, logits, image) if name == "forward" else training(layer, logits, image, labels)
        before = _status("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")
        work()
    print(_status("VmHWM") - before)


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(field))


class Peer(torch.nn.Module):
    """Another layer, called as ours."""

    def __init__(self, layer: torch.nn.Module, call: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.layer, self.call = layer, call

    def forward(self, logits: torch.Tensor, image: torch.Tensor) -> torch.Tensor:
        return self.call(self.layer, logits, image)


def local_crf(shape: torch.Size) -> tuple[str, Peer]:  # noqa: ARG001
    """Of crfseg; it reads no image."""
    from crfseg import CRF

    layer = CRF(n_spatial_dims=2, filter_size=11, n_iter=UPDATES, returns="log-proba")
    return "crfseg, 11x11 window, no image", Peer(layer, lambda crf, logits, image: crf(logits))  # noqa: ARG005


def convolutional_crf(shape: torch.Size) -> tuple[str, Peer]:
    """ConvCRF, with its default settings: a window of 11 x 11 on every fourth pixel."""
    from convcrf.convcrf import GaussCRF, get_default_conf

    layer = GaussCRF(get_default_conf() | {"final_softmax": False}, shape[2:], shape[1], use_gpu=False)
    call = lambda crf, logits, image: torch.log_softmax(crf(logits, image.float(), num_iter=UPDATES), 1)  # noqa: E731
    return "ConvCRF, 11x11 window at a quarter", Peer(layer, call)


def peers(quick: bool) -> None:
    """Forward and backward against other layers on this CPU."""
    logits, image, labels = batch()
    works = {
        "mixfield, unrolled": training(layer_of("unrolled"), logits, image, labels),
        "plain PyTorch, the same lattice": training(PlainUnrolled(21), logits, image, labels),
    }
    for name, made in (("crfseg", local_crf), ("convcrf", convolutional_crf)):
        if importlib.util.find_spec(name) is None:
            print(f"  ({name} is not installed: no row)")
        else:
            row, layer = made(logits.shape)
            works[row] = training(layer, logits, image, labels)
    base, *others = medians(list(works.values()), 1 if quick else 3)
    for name, taken in zip(works, (base, *others), strict=True):
        show(name, taken, base, "" if taken is base else "  (at least 5x)")
    ours, theirs = (forward(one, logits, image)() for one in (layer_of("unrolled"), PlainUnrolled(21)))
    print(
        f"  the same label in plain PyTorch at {100 * float((ours.argmax(1) == theirs.argmax(1)).float().mean()):.2f} %"
    )


SECTIONS = {"time": times, "memory": memory, "peers": peers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--only", default="", help="sections, separated by commas")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(SECTIONS)
    if unknown := set(chosen) - set(SECTIONS):
        parser.exit(2, f"--only knows {', '.join(SECTIONS)}, got {', '.join(sorted(unknown))}\n")
    warnings.simplefilter("ignore", UserWarning)  # sparse matrices of PyTorch are in beta state
    print(
        f"mixfield, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, torch with {torch.get_num_threads()} threads"
    )
    for name in chosen:
        print(f"\n{name}: {SECTIONS[name].__doc__}")
        SECTIONS[name](options.quick)


if __name__ == "__main__":
    main()
