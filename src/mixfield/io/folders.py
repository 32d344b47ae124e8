"""Folders of images, of their scores and of their true labels, matched by the names of the files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from mixfield.errors import MixfieldError
from mixfield.io import images as image_files
from mixfield.io import scores as score_files

Arrays = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def pairs(images: Path, scores: Path) -> tuple[list[tuple[Path, Path]], dict[str, str]]:
    """Images with their scores, and why other images have none, by name."""
    found: list[tuple[Path, Path]] = []
    wrong: dict[str, str] = {}
    evidence = by_stem(scores, score_files.SUFFIXES)
    for stem, files in sorted(by_stem(images, image_files.SUFFIXES).items()):
        matches = evidence.get(stem, [])
        if len(files) > 1:
            wrong |= {file.name: f"several images are called {stem}" for file in files}
        elif len(matches) == 1:
            found.append((files[0], matches[0]))
        else:
            several = f"several scores are called {stem} in {scores}"
            wrong[files[0].name] = several if matches else f"no scores {stem}.npy, .npz or .png in {scores}"
    if not found:
        reason = next(iter(wrong.values()), f"no images in {images} ({', '.join(image_files.SUFFIXES)})")
        raise MixfieldError(f"nothing to do: {reason}")
    return found, wrong


def annotated(folder: Path) -> tuple[int, Iterator[Arrays]]:
    """Number of annotated images in a folder with ``images/``, ``scores/`` and ``truth/``, and a reader of them."""
    for name in ("images", "scores", "truth"):
        if not (folder / name).is_dir():
            raise MixfieldError(f"{folder} must hold the folders images, scores and truth, {name} is missing")
    found, wrong = pairs(folder / "images", folder / "scores")
    truths = by_stem(folder / "truth", image_files.SUFFIXES)
    wrong |= {image.name: f"no labels {image.stem}.png in truth" for image, _ in found if image.stem not in truths}
    if wrong:
        name, reason = next(iter(wrong.items()))
        raise MixfieldError(f"{folder}: {name}: {reason}")
    return len(found), _read([(image, scores, truths[image.stem][0]) for image, scores in found])


def _read(files: Sequence[tuple[Path, Path, Path]]) -> Iterator[Arrays]:
    for image, scores, truth in files:
        picture, labels = image_files.read_image(image), image_files.read_label_map(truth)
        if labels.shape != picture.shape[:2]:
            raise MixfieldError(f"{truth} must have the size of {image}, {picture.shape[:2]}, got {labels.shape}")
        yield picture, score_files.read_scores(scores), labels


def by_stem(folder: Path, suffixes: tuple[str, ...]) -> dict[str, list[Path]]:
    """Files of a folder by their name without suffix."""
    if not folder.is_dir():
        raise MixfieldError(f"{folder} must be a folder, as the images are")
    files: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in suffixes and not path.name.startswith("."):
            files[path.stem].append(path)
    return files
