"""How much of an image is in doubt, computed in advance for images that were not opened yet."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from mixfield.annotate.folder import AnnotationFolder
from mixfield.apps.annotation import Suggestion
from mixfield.errors import MixfieldError
from mixfield.reports.doubt import expected_error_of_modes

logger = logging.getLogger(__name__)


def expected_error(suggestions: Sequence[Suggestion]) -> float:
    """Share of the pixels that are expected to be wrong if the first suggestion is taken."""
    return expected_error_of_modes([one.weight for one in suggestions], [one.differs.mean() for one in suggestions])


def rank_images(folder: AnnotationFolder, stopped: threading.Event) -> None:
    """Compute the doubt of every image that has scores or a saved annotation, until it is ``stopped``."""
    for index in range(len(folder.sources)):
        if stopped.is_set():
            return
        if folder.doubt(index) is None and not folder.is_done(index):
            _rank(folder, index)


def _rank(folder: AnnotationFolder, index: int) -> None:
    try:
        folder.set_doubt(index, expected_error(folder.annotation(index).suggest()))
    except (MixfieldError, OSError) as error:  # the page shows it when the image is opened
        logger.info("no doubt of %s: %s", folder.sources[index].image.name, error)
