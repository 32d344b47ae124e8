"""What can go wrong, by name: errors for wrong input, warnings for doubtful answers."""

from __future__ import annotations


class MixfieldError(ValueError):
    """Wrong input; the message names the argument, what was expected, what came and the way out."""


class FileFormatError(MixfieldError):
    """A file that cannot be read; the message names the file and the place in it."""


class InfeasibleError(MixfieldError):
    """No state satisfies the hard constraints of the model or of a clamp."""


class TooLargeError(MixfieldError):
    """The exact answer would need more memory than allowed."""


class BatchError(MixfieldError):
    """A batch that had to stop; finished results are kept, and the same call goes on from there."""


def sentence(error: Exception) -> str:
    """An error in words, those of the system without their number."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}"
    return str(error) or type(error).__name__


class MixfieldWarning(UserWarning):
    """A doubtful answer; the same fact is a field of the result."""


class NotConvergedWarning(MixfieldWarning):
    """A mean field stopped at its iteration limit (``mode.converged`` is False)."""


class InfeasibleWarning(MixfieldWarning):
    """No mean field inside the hard constraints was found (``mode.log_z`` is -inf)."""


class FewerModesWarning(MixfieldWarning):
    """Fewer modes than asked for could be separated (``len(posterior.modes)``)."""
