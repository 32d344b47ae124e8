"""What can go wrong, by name: errors for wrong input, warnings for doubtful answers."""

from __future__ import annotations

MAX_MESSAGE, FIRST, LAST = 1000, 600, 200  # characters; the first and last are kept of a longer message


class MixfieldError(ValueError):
    """Wrong input; the message names the argument, what was expected, what came and the way out."""


class FileFormatError(MixfieldError):
    """A file that cannot be read; the message names the file and the place in it.

    Messages quote the file: long ones are shortened, and characters that control a terminal are escaped.
    """

    def __init__(self, message: str) -> None:
        super().__init__(_printable(message))


class InfeasibleError(MixfieldError):
    """No state satisfies the hard constraints of the model or of a clamp."""


class TooLargeError(MixfieldError):
    """An exact answer, or the content of a file, needs more memory than allowed or than there is."""


class BatchError(MixfieldError):
    """A batch that had to stop; finished results are kept, and the same call goes on from there."""


def sentence(error: Exception) -> str:
    """An error in words, those of the system without their number, on one line."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return _printable(f"{error.filename}: {error.strerror.lower()}")
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {error}".rstrip(": ")
    return str(error) or type(error).__name__


def _printable(message: str) -> str:
    """The message on one line, without the middle of a long one."""
    escaped = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in _shortened(message))
    return _shortened(escaped)


def _shortened(message: str) -> str:
    return message if len(message) <= MAX_MESSAGE else f"{message[:FIRST]} ... {message[-LAST:]}"


class MixfieldWarning(UserWarning):
    """A doubtful answer; the same fact is a field of the result."""


class NotConvergedWarning(MixfieldWarning):
    """A mean field stopped at its iteration limit (``mode.converged`` is False)."""


class InfeasibleWarning(MixfieldWarning):
    """No mean field inside the hard constraints was found (``mode.log_z`` is -inf)."""


class NarrowedTablesWarning(MixfieldWarning):
    """Modes leave out most states that hard tables allow (``posterior.narrowed_tables``)."""


class ReducedDepthWarning(MixfieldWarning):
    """An image with more than 8 bits per channel was read with 8 (the array is ``uint8``)."""


class FewerModesWarning(MixfieldWarning):
    """Fewer modes than asked for could be separated (``len(posterior.modes)``)."""


class CalibrationWarning(MixfieldWarning):
    """A calibration was corrected when it was read."""
