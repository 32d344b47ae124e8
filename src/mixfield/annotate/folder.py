"""A folder of images with one set of labels, its saved annotations, and which image comes next."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from mixfield import _files
from mixfield.annotate.open_image import OpenImage
from mixfield.apps.annotation import Annotation
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.io.folders import by_stem
from mixfield.io.images import SUFFIXES, read_image
from mixfield.io.scores import SUFFIXES as SCORE_SUFFIXES
from mixfield.io.scores import read_scores

PROGRESS = "progress.json"
FORMAT, VERSION = "mixfield-annotate", 1
LARGEST_PROGRESS = 64 << 20  # bytes
MOST_OPEN = 4  # images in memory
MOST_LABELS = 256  # of an indexed PNG


@dataclass(frozen=True)
class Source:
    """The files of one image.

    Attributes
    ----------
    image : the image.
    scores : probabilities or a label map to start from; None without.
    saved : the annotation, written after every action.
    """

    image: Path
    scores: Path | None
    saved: Path


class AnnotationFolder:
    """The images of a folder, annotated with one set of labels.

    Methods may be called from several threads.

    Parameters
    ----------
    images : folder of the images.
    names : of the labels.
    saved : folder of the annotations, made if it is missing.
    scores : folder with probabilities or label maps of the same file names as the images.
    logits : the scores are logits or log-probabilities.
    """

    def __init__(
        self, images: Path, names: Sequence[str], saved: Path, scores: Path | None = None, *, logits: bool = False
    ) -> None:
        if not 2 <= len(names) <= MOST_LABELS or len(set(names)) < len(names) or not all(names):
            raise MixfieldError(f"labels must be 2 to {MOST_LABELS} different names, one a line, got {len(names)}")
        self.names, self.saved = tuple(names), saved
        self.sources = _sources(images, saved, scores)
        self.lock = threading.RLock()
        self._logits = logits
        self._open: OrderedDict[int, OpenImage] = OrderedDict()
        self._doubts: dict[int, float] = {}
        saved.mkdir(parents=True, exist_ok=True)

    @cached_property
    def _done(self) -> set[str]:
        return _read_progress(self.saved / PROGRESS)

    # ------------------------------------------------------------------ one image

    def picture(self, index: int) -> NDArray[Any]:
        """The image as it is in its file."""
        return read_image(self._source(index).image)

    def annotation(self, index: int) -> Annotation:
        """The annotation of an image as it is on disk, or a new one."""
        source = self._source(index)
        image = read_image(source.image)
        scores = None if source.scores is None else read_scores(source.scores)
        if not source.saved.exists():
            return Annotation(image, self.names, scores, logits=self._logits)
        annotation = Annotation.load(source.saved, image, scores, logits=self._logits)
        if annotation.names != self.names:
            raise MixfieldError(
                f"{source.saved} has the labels {', '.join(annotation.names)}, not those that were given; "
                "give the same labels or another folder with --out"
            )
        return annotation

    def open(self, index: int) -> OpenImage:
        """The image that is annotated now, from memory if it was open."""
        with self.lock:
            if index not in self._open:
                self._open[index] = OpenImage(self.annotation(index), self._source(index).saved)
            self._open.move_to_end(index)
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
            return self._open[index]

    def close(self, index: int) -> None:
        """Forget an image that is open; the next `open` reads its file."""
        with self.lock:
            self._open.pop(index, None)

    def _source(self, index: int) -> Source:
        if not 0 <= index < len(self.sources):
            raise MixfieldError(f"the images have the numbers 0 to {len(self.sources) - 1}, got {index}")
        return self.sources[index]

    # ------------------------------------------------------------------ progress

    def is_started(self, index: int) -> bool:
        """Whether there is a saved annotation."""
        return self._source(index).saved.exists()

    def is_done(self, index: int) -> bool:
        """Whether the image is marked as finished."""
        return self._source(index).image.name in self._done

    def mark_done(self, index: int, done: bool) -> None:
        """Remember, also on disk, whether an image is finished."""
        name = self._source(index).image.name
        with self.lock:
            marked = self._done | {name} if done else self._done - {name}
            document = {"format": FORMAT, "version": VERSION, "done": sorted(marked)}
            _files.write_text(self.saved / PROGRESS, json.dumps(document) + "\n")
            self._done.clear()
            self._done.update(marked)

    def set_doubt(self, index: int, doubt: float) -> None:
        """Remember the doubt of an image, see `mixfield.annotate.doubt`."""
        self._doubts[index] = doubt

    def doubt(self, index: int) -> float | None:
        """The doubt of an image; 1 if nothing is known of it, None if it was not computed yet."""
        source = self._source(index)
        is_blank = source.scores is None and not source.saved.exists()
        return 1.0 if is_blank else self._doubts.get(index)

    def next_image(self, current: int | None = None) -> int | None:
        """The image with the largest doubt that is not finished and not ``current``; None if there is none."""
        left = [k for k in range(len(self.sources)) if not self.is_done(k) and k != current]
        return max(left, key=lambda k: self.doubt(k) or 0.0, default=None)


def _sources(images: Path, saved: Path, scores: Path | None) -> tuple[Source, ...]:
    files = sorted(file for found in by_stem(images, SUFFIXES).values() for file in found)
    if not files:
        raise MixfieldError(f"no images in {images} ({', '.join(SUFFIXES)})")
    evidence = {} if scores is None else by_stem(scores, SCORE_SUFFIXES)
    for file in files:
        if len(evidence.get(file.stem, [])) > 1:
            raise MixfieldError(f"several scores are called {file.stem} in {scores}; keep one")
    return tuple(
        Source(file, next(iter(evidence.get(file.stem, [])), None), saved / f"{file.name}.json") for file in files
    )


def _read_progress(path: Path) -> set[str]:
    if not path.exists():
        return set()
    try:
        document = json.loads(_files.read_bytes(path, LARGEST_PROGRESS))
        if document["format"] != FORMAT or document["version"] != VERSION:
            raise ValueError(f"it is not {FORMAT} of version {VERSION}")
        return {str(name) for name in document["done"]}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileFormatError(f"{path} does not hold the progress of mixfield annotate: {error!r}") from None
