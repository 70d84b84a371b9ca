"""Where results go: checked before anything is spent, and written whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tacit.lazy import former_names

__all__ = ["check_destination", "write_whole"]

__getattr__ = former_names(__name__, {"written_whole": "write_whole"})


def check_destination(path: Path, *, endings: Sequence[str] = (), replace: bool = True) -> None:
    """Refuse, in a sentence, a path at which nothing could be written.

    Parameters
    ----------
    path : Path
    endings : sequence of str
        The endings that a name may have; by default any.
    replace : bool, default True
        Whether a file that is there already may be replaced.

    Examples
    --------
    >>> check_destination(Path("synthetic.xlsx"), endings=(".csv", ".parquet"))
    Traceback (most recent call last):
    ValueError: The file synthetic.xlsx must be named .csv or .parquet, so that it is known how to write it.
    """
    if endings and not path.name.lower().endswith(tuple(endings)):
        raise ValueError(f"The file {path} must be named {' or '.join(endings)}, so that it is known how to write it.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} does not exist; create it first.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"Nothing can be written in the folder {path.parent}; choose another one.")
    if path.exists() and not replace:
        raise FileExistsError(f"There is already a file {path}. Choose another name with -o, or pass --force.")


@contextmanager
def write_whole(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its place at the end; an exception leaves `path` as it was.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with write_whole(folder / "result.txt") as temporary:
    ...     _ = temporary.write_text("done")
    >>> [file.name for file in folder.iterdir()]
    ['result.txt']
    """
    check_destination(path)
    path = path.resolve()  # A link keeps pointing to the file.
    if path.exists() and not path.is_file():
        yield path  # A device such as /dev/null is written to, and not replaced.
        return
    temporary = path.with_name(f".{uuid.uuid4().hex}{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
