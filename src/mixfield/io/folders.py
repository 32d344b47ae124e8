"""Folders of images, of their scores and of their true labels, matched by file name."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from mixfield.errors import MixfieldError
from mixfield.io.images import SUFFIXES as IMAGE_SUFFIXES
from mixfield.io.scores import SUFFIXES as SCORE_SUFFIXES


def pairs(images: Path, scores: Path) -> tuple[list[tuple[Path, Path]], dict[str, str]]:
    """The images of a folder with their scores, and for each image without exactly one the reason, by name."""
    found: list[tuple[Path, Path]] = []
    failures: dict[str, str] = {}
    scores_by_stem = by_stem(scores, SCORE_SUFFIXES)
    for stem, files in sorted(by_stem(images, IMAGE_SUFFIXES).items()):
        matches = scores_by_stem.get(stem, [])
        if len(files) > 1:
            failures |= {file.name: f"several images are called {stem}" for file in files}
        elif len(matches) == 1:
            found.append((files[0], matches[0]))
        else:
            several = f"several scores are called {stem} in {scores}"
            failures[files[0].name] = several if matches else f"no scores {stem}.npy, .npz or .png in {scores}"
    if not found:
        reason = next(iter(failures.values()), f"no images in {images} ({', '.join(IMAGE_SUFFIXES)})")
        raise MixfieldError(f"nothing to do: {reason}")
    return found, failures


def annotated(folder: Path) -> list[tuple[Path, Path, Path]]:
    """The files of the annotated images of a folder with ``images/``, ``scores/`` and ``truth/``, in this order."""
    for name in ("images", "scores", "truth"):
        if not (folder / name).is_dir():
            raise MixfieldError(
                f"{folder} must hold the folders images, scores and truth, with the same file names; {name} is missing"
            )
    found, failures = pairs(folder / "images", folder / "scores")
    truths = by_stem(folder / "truth", IMAGE_SUFFIXES)
    failures |= {image.name: f"no labels {image.stem}.png in truth" for image, _ in found if image.stem not in truths}
    if failures:
        name, reason = next(iter(failures.items()))
        raise MixfieldError(f"{folder}: {name}: {reason}")
    return [(image, scores, truths[image.stem][0]) for image, scores in found]


def by_stem(folder: Path, suffixes: tuple[str, ...]) -> dict[str, list[Path]]:
    """The files of a folder with one of the suffixes, by file name without suffix; hidden files are left out."""
    if not folder.is_dir():
        raise MixfieldError(f"{folder} must be a folder, as the images are")
    files: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in suffixes and not path.name.startswith("."):
            files[path.stem].append(path)
    return files
