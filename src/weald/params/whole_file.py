"""Files that appear as a whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to instead, whose file takes the place of the wanted one when it is complete.

    If the block fails, or is stopped, what was there before stays as it was.

    Parameters
    ----------
    path : path
        Where the file is wanted. A link stays a link; what is no file, such as a device, is written
        to directly.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/a.txt") as part:
    ...         _ = part.write_text("whole")
    ...     [(one.name, one.read_text()) for one in Path(folder).iterdir()]
    [('a.txt', 'whole')]
    """
    whole = Path(os.path.realpath(path))
    if whole.exists() and not whole.is_file() and not whole.is_dir():
        yield whole
        return
    # A letter takes up to four bytes, and a name may have 255.
    part = whole.with_name(f".{whole.name[:40]}.{secrets.token_hex(8)}.tmp")
    try:
        # Made here first, as some writers give no rights to others.
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    except OSError as error:  # about the file that was asked for, not about a part of it
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    usual = os.fstat(handle).st_mode
    os.close(handle)
    try:
        yield part
        # What was private stays so.
        part.chmod(stat.S_IMODE(whole.stat().st_mode if whole.exists() else usual))
        _sync(part)
        part.replace(whole)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if os.name != "nt":  # where folders cannot be opened
        _sync(whole.parent)


def _sync(path: Path) -> None:
    """Have the system write to the disk what it holds back."""
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
