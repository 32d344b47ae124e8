"""Numbered frames of video files and image files."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from mixfield.errors import FileFormatError, MixfieldError
from mixfield.io.frame_source import ImageSequence, VideoFile, open_frames

cv2 = pytest.importorskip("cv2")


def test_video_frames_in_any_order(tmp_path):
    path = tmp_path / "v.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 10, (64, 48))
    for k in range(8):
        writer.write(np.full((48, 64, 3), 30 * k, np.uint8))
    writer.release()
    video = open_frames(tmp_path, "v.avi")
    assert isinstance(video, VideoFile)
    assert len(video) == 8
    for k in (5, 2, 3, 7, 0):
        assert abs(int(video.frame(k).mean()) - 30 * k) <= 3
    with pytest.raises(MixfieldError, match="has no frame 9"):
        video.frame(9)
    with pytest.raises(FileNotFoundError):
        open_frames(tmp_path, "absent.avi").frame(0)
    (tmp_path / "text.avi").write_text("no video")
    with pytest.raises(FileFormatError, match="not a video"):
        open_frames(tmp_path, "text.avi").frame(0)


def test_images_and_their_mistakes(tmp_path):
    for k in (4, 6, 8):
        cv2.imwrite(str(tmp_path / f"i{k:02d}.png"), np.full((5, 6), k, np.uint8))
    images = open_frames(tmp_path, "i{frame:02d}.png")
    assert isinstance(images, ImageSequence)
    assert len(images) == 9
    assert images.sample(2) == [4, 8]
    assert images.frame(6)[0, 0] == 6
    with pytest.raises(FileNotFoundError, match="i05"):
        images.frame(5)
    with pytest.raises(FileNotFoundError, match="for any frame"):
        len(open_frames(tmp_path, "j{frame}.png"))
    with pytest.raises(FileFormatError, match="must hold the frame"):
        open_frames(tmp_path, "i{number}.png")
    (tmp_path / "i10.png").write_text("no image")
    with pytest.raises(FileFormatError, match="not an 8-bit image"):
        images.frame(10)


@pytest.mark.parametrize(
    "name", ["i00.png", "%04d.png", "i%d.jpg", "{{a}}.png", "{}.png", "{frame", "i.PNG", "v{{}}.avi"]
)
def test_a_name_without_the_frame_is_one_sentence(tmp_path, name):
    with pytest.raises(FileFormatError, match=r"must hold the frame as \{frame\} or \{frame:04d\}.*a video file"):
        open_frames(tmp_path, name)


def test_the_frame_rate_of_a_video(tmp_path):
    writer = cv2.VideoWriter(str(tmp_path / "v.avi"), cv2.VideoWriter_fourcc(*"MJPG"), 12.5, (64, 48))
    writer.write(np.zeros((48, 64, 3), np.uint8))
    writer.release()
    assert open_frames(tmp_path, "v.avi").frame_rate == pytest.approx(12.5)
    assert open_frames(tmp_path, "i{frame}.png").frame_rate is None


@pytest.mark.parametrize(
    "content",
    [
        b"ffconcat version 1.0\nfile v.avi\n",
        b"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:1.0,\nv.avi\n#EXT-X-ENDLIST\n",
        b"\x89PNG\r\n\x1a\n" + bytes(300),
        b"",
    ],
    ids=["list of files", "playlist", "image", "nothing"],
)
def test_files_that_name_others_are_no_videos(tmp_path, monkeypatch, content):
    """FFmpeg would open the files, or the addresses, that they name."""
    _write_video(tmp_path / "v.avi")
    (tmp_path / "x.avi").write_bytes(content)
    monkeypatch.setattr(cv2, "VideoCapture", lambda _: pytest.fail("OpenCV was asked"))
    with pytest.raises(FileFormatError, match=r"x\.avi is not a video that OpenCV can read"):
        VideoFile(tmp_path / "x.avi").frame(0)


@pytest.mark.parametrize(
    ("suffix", "codec"), [(".avi", "MJPG"), (".avi", "XVID"), (".mp4", "mp4v"), (".mkv", "MJPG"), (".mpg", "MPG2")]
)
def test_containers_that_are_read(tmp_path, suffix, codec):
    _write_video(tmp_path / f"v{suffix}", codec)
    assert VideoFile(tmp_path / f"v{suffix}").frame(2).shape == (48, 64, 3)


@pytest.mark.parametrize("length", [-1.9e14, 0.0, 1e12, float("nan")])
def test_lengths_that_a_file_cannot_have(tmp_path, monkeypatch, length):
    _write_video(tmp_path / "v.avi")
    monkeypatch.setattr(VideoFile, "_open", lambda _: SimpleNamespace(get=lambda _: length))
    with pytest.raises(FileFormatError, match=r"v\.avi is a damaged video: it cannot have .* frames"):
        len(VideoFile(tmp_path / "v.avi"))


def _write_video(path, codec="MJPG"):
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*codec), 25, (64, 48))
    for k in range(8):
        writer.write(np.full((48, 64, 3), 30 * k, np.uint8))
    writer.release()
