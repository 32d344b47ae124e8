"""The files of ``mixfield video``: label maps, a film and a page, written as the modes are chosen."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixfield import _files
from mixfield.cli.video_frames import PendingFrame

if TYPE_CHECKING:
    from mixfield.apps.mode_path import Choice
    from mixfield.apps.video import Decided
    from mixfield.reports.video_page import VideoFrame

DONE = "frames.json"  # written last
MAX_SHOWN = 100  # frames on the page, so that memory does not grow with the number of frames


class VideoOutput:
    """Writes frames in order; on an exception the film is discarded.

    Attributes
    ----------
    out : output folder.
    rows : facts of each frame written so far.
    """

    def __init__(self, out: Path, rate: float, *, title: str) -> None:
        from mixfield.io.video_writer import VideoWriter

        self.out, self.rows = out, list[dict[str, Any]]()
        self._rate, self._title, self._shown = rate, title, list["VideoFrame"]()
        self._film = VideoWriter(out / "video.mp4", rate)

    def __enter__(self) -> VideoOutput:
        for name in ("labels", "mean_field"):
            (self.out / name).mkdir(parents=True, exist_ok=True)
        (self.out / DONE).unlink(missing_ok=True)  # of an earlier run with other frames
        return self

    def __exit__(self, kind: object, *exc: object) -> None:
        if kind is None:
            self._film.close()
        else:
            self._film.abandon()

    def add(self, decided: Decided, frame: PendingFrame) -> None:
        """Write one frame."""
        row = {"frame": frame.name, "mode": None, "probability": None, "differs": 0.0, "common": None, "starts": False}
        if decided.choice is None:
            self._remove(frame.name)
        else:
            row |= self._write(decided, frame)
            self._show(decided.choice, frame)
        self.rows.append(row)

    def write_page(self) -> None:
        """The page of the first frames, and the file from which `mixfield report` makes it again."""
        from mixfield.reports.video_file import write_video
        from mixfield.reports.video_page import video_page

        write_video(self.out / "video.npz", self._shown)
        page = video_page(self._shown, frame_rate=self._rate, title=self._title)
        _files.write_text(self.out / "report.html", page)

    def _remove(self, name: str) -> None:
        """Results of an earlier run for a frame that is missing now."""
        for folder in ("labels", "mean_field"):
            (self.out / folder / f"{name}.png").unlink(missing_ok=True)

    def _write(self, decided: Decided, frame: PendingFrame) -> dict[str, Any]:
        from mixfield.io.images import write_label_map
        from mixfield.reports.segmentation_figure import side_by_side

        assert decided.labels is not None
        write_label_map(self.out / "labels" / f"{frame.name}.png", decided.labels)
        write_label_map(self.out / "mean_field" / f"{frame.name}.png", frame.mean_field)
        self._film.add(side_by_side(frame.image, frame.mean_field, decided.labels))
        return {
            "mode": decided.mode,
            "probability": decided.probability,
            "differs": float((decided.labels != frame.mean_field).mean()),
            "common": None if math.isnan(decided.common) else decided.common,
            "starts": decided.starts,
        }

    def _show(self, choice: Choice, frame: PendingFrame) -> None:
        """Keep a frame for the page."""
        from mixfield.reports.video_page import VideoFrame

        if len(self._shown) < MAX_SHOWN:
            modes = frame.labelings.astype("uint8" if frame.labelings.max() < 256 else "int32")
            number = len(self.rows)
            self._shown.append(
                VideoFrame(frame.image, frame.mean_field, modes, choice.probabilities, choice.mode, number=number)
            )
