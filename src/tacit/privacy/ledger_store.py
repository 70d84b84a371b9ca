"""Where a ledger is kept: an SQLite file or a PostgreSQL server, behind one small interface.

Invariants
----------
- What is committed survives the loss of power: every commit waits for the disk, whatever the database was told.
- One transaction at a time decides about a data set: SQLite by ``BEGIN IMMEDIATE``, PostgreSQL by a lock on its row.
- A reader sees one moment of the ledger and waits for no one.
- Only ``create`` makes anything, and never in a database that holds something else.
- Everything that can go wrong with a database becomes a ``LedgerError`` that is a sentence and holds no password.
"""

import os
import re
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar, Protocol
from urllib.parse import unquote

from .errors import LedgerError

__all__ = ["VERSION", "Execute", "Store", "canonical_url", "open_store", "shown_url", "url_without_password"]

VERSION = 2  # The format of the tables. Version 0.1 wrote format 1.

Execute = Callable[..., list[tuple[Any, ...]]]
"""``execute(statement, *values)`` returns all rows; ``?`` stands for a value."""

_PATIENCE_SECONDS = 60  # How long to wait for a lock that another process holds.

_TABLES = (
    "CREATE TABLE tacit_ledger (version INTEGER NOT NULL)",
    "CREATE TABLE tacit_dataset (name TEXT NOT NULL PRIMARY KEY, epsilon DOUBLE PRECISION NOT NULL, "
    "delta DOUBLE PRECISION NOT NULL, neighbors TEXT NOT NULL, opened TEXT NOT NULL, head TEXT NOT NULL)",
    "CREATE TABLE tacit_charge (dataset TEXT NOT NULL REFERENCES tacit_dataset (name), id INTEGER NOT NULL, "
    "time TEXT NOT NULL, purpose TEXT NOT NULL, plan TEXT NOT NULL, epsilon DOUBLE PRECISION NOT NULL, "
    "hash TEXT NOT NULL, seeded INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (dataset, id))",
    f"INSERT INTO tacit_ledger VALUES ({VERSION})",
)

_FROM_VERSION_1 = (
    "ALTER TABLE tacit_charge ADD COLUMN seeded INTEGER NOT NULL DEFAULT 0",
    f"UPDATE tacit_ledger SET version = {VERSION}",
)

_STAYED_LOCKED = "The ledger at {} stayed locked by another process. Nothing was charged; try again later."
_DAMAGED = "The ledger at {} is damaged: {}. Restore it from a copy that has every charge."
_FAILED = "The ledger at {} failed: {}. If this was a charge, release nothing; history() tells whether it was recorded."

_NO_PASSWORD = (
    ". A stored or pickled ledger keeps no password: set PGPASSWORD, write it to ~/.pgpass, or make the Ledger anew "
    "with the password in its URL"
)

# The pattern is strict, so that no part of a password with unencoded signs is taken for a host, a port or a name.
_HOST = r"(?:\[[^\]@/?]*\]|[^\[\]:@/?,]*)(?::\d*)?"
_POSTGRES_URL = re.compile(
    rf"(postgres(?:ql)?://)(?:([^:@/]*)(?::[^@/]*)?(@))?({_HOST}(?:,{_HOST})*(?:/[^@?]*)?)(?:\?(?P<options>.*))?"
)


class Store(Protocol):
    """A place for a ledger."""

    row_lock: ClassVar[str]
    """What to add to a SELECT so that its rows stay as they are until the end of a writing transaction."""

    name_lock: ClassVar[str]
    """A statement, or nothing, that lets one transaction at a time see all names and add one."""

    def create(self) -> None:
        """Make the tables, unless they are there."""

    def transaction(self, *, writing: bool = False) -> AbstractContextManager[Execute]:
        """Open a transaction on an existing ledger; it is committed at the end, and undone by an exception."""


def canonical_url(url: str | os.PathLike[str]) -> str:
    """Return the absolute path of a file, or the PostgreSQL URL, that ``url`` names.

    Examples
    --------
    >>> canonical_url("sqlite:////data/../study.db")
    '/study.db'
    """
    text = os.fspath(url)
    if isinstance(text, str) and text.startswith(("postgresql://", "postgres://")):
        shown_url(text)
        return text
    path = text.removeprefix("sqlite:///") if isinstance(text, str) else ""
    scheme, is_url, _ = path.partition("://")
    if path in ("", ":memory:") or "\0" in path or is_url:
        shown = f"{scheme}://..." if is_url else text  # What follows a scheme may hold a password.
        raise LedgerError(
            f"{shown!r} is neither a file's name, nor sqlite:///file, nor postgresql://user@host/database; "
            "a ledger is kept in one of these."
        )
    return os.path.abspath(path)


def shown_url(url: str) -> str:
    """Return a canonical URL without what must not be shown.

    Examples
    --------
    >>> shown_url("postgresql://ana:secret@host/study?sslpassword=secret")
    'postgresql://ana@host/study'
    """
    if not url.startswith(("postgresql://", "postgres://")):
        return url
    found = _POSTGRES_URL.fullmatch(url)
    if found is None:
        raise _unreadable_url()
    return "".join(part or "" for part in found.groups()[:4])


def url_without_password(url: str) -> str:
    """Return a canonical URL that may be stored: without passwords, and else the same.

    Examples
    --------
    >>> url_without_password("postgresql://ana:secret@host/study?sslpassword=secret&connect_timeout=2")
    'postgresql://ana@host/study?connect_timeout=2'
    """
    shown, found = shown_url(url), _POSTGRES_URL.fullmatch(url)
    options = (found["options"] or "").split("&") if found else []
    kept = [option for option in options if option and "pass" not in unquote(option.partition("=")[0]).lower()]
    return f"{shown}?{'&'.join(kept)}" if kept else shown


def open_store(url: str) -> Store:
    """Return the place that a canonical URL names; nothing is opened yet."""
    return _Postgres(url) if url.startswith(("postgresql://", "postgres://")) else _SQLite(Path(url))


class _SQLite:
    row_lock: ClassVar[str] = ""  # BEGIN IMMEDIATE locks out all other writers.
    name_lock: ClassVar[str] = ""

    def __init__(self, path: Path) -> None:
        self.path, self.place = path, repr(str(path))

    def create(self) -> None:
        if not os.path.isdir(self.path.parent):
            raise LedgerError(f"The folder {str(self.path.parent)!r} does not exist; create it first.")
        with self._connect("rwc") as connection:
            if self._is_ledger(connection):
                return
            self._use_wal(connection)
            connection.execute("BEGIN IMMEDIATE")
            if not self._is_ledger(connection):  # Another process may have been quicker.
                for statement in _TABLES:
                    connection.execute(statement)
            connection.execute("COMMIT")

    @contextmanager
    def transaction(self, *, writing: bool = False) -> Iterator[Execute]:
        # Reading needs the right to write, too: SQLite keeps its locks in a file, and may have to finish the work of
        # a process that was killed.
        with self._connect("rw") as connection:

            def execute(statement: str, *values: Any) -> list[tuple[Any, ...]]:
                return connection.execute(statement, values).fetchall()

            execute("BEGIN IMMEDIATE" if writing else "BEGIN")
            if not self._is_ledger(connection):
                raise _missing(self.place)
            version = _check_version(execute("SELECT version FROM tacit_ledger"), self.place)
            if writing and version < VERSION:
                _upgrade(execute)
            yield execute
            execute("COMMIT")

    @contextmanager
    def _connect(self, mode: str) -> Iterator[sqlite3.Connection]:
        try:
            uri = f"{self.path.as_uri()}?mode={mode}"
            with closing(sqlite3.connect(uri, uri=True, timeout=_PATIENCE_SECONDS, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous=EXTRA")
                connection.execute("PRAGMA fullfsync=1")
                yield connection  # Closing undoes what was not committed.
        except (sqlite3.Error, UnicodeDecodeError) as error:  # A damaged schema raises the latter.
            raise self._sentence(error, creating=mode == "rwc") from error

    def _is_ledger(self, connection: sqlite3.Connection) -> bool:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if tables and "tacit_ledger" not in tables:
            raise LedgerError(f"{self.place} is a database, but not a ledger; choose another file.")
        return bool(tables)

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        """Let readers read while one writes. SQLite itself does not wait for the lock that this change needs."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if not _code(error).startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)

    def _sentence(self, error: Exception, creating: bool) -> LedgerError:
        place, code = self.place, _code(error)
        if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")):
            return LedgerError(_STAYED_LOCKED.format(place))
        if code.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH")):
            try:
                if stat.S_ISDIR(os.stat(self.path).st_mode):
                    return LedgerError(f"{place} is a folder; name a file in it.")
            except OSError as reason:
                if not creating and not isinstance(reason, PermissionError):
                    return _missing(place)
            return LedgerError(
                f"The ledger at {place} cannot be opened for writing. Nothing was charged. Give this account the right "
                "to write the file and its folder."
            )
        if code.startswith(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_NOMEM")):
            return LedgerError(_FAILED.format(place, _first_line(error)))
        return LedgerError(_DAMAGED.format(place, _first_line(error)))


class _Postgres:
    row_lock: ClassVar[str] = " FOR UPDATE"

    _CREATION_LOCK: ClassVar[int] = 0x7461636974  # These are the letters "tacit".
    name_lock: ClassVar[str] = f"SELECT pg_advisory_xact_lock({_CREATION_LOCK})"

    def __init__(self, url: str) -> None:
        self.url, self.place = url, repr(shown_url(url))

    def create(self) -> None:
        with self._connect(writing=True) as execute:
            # One process at a time creates tables. A look before the lock would be remembered after it, and be wrong.
            execute("SELECT pg_advisory_xact_lock(?)", self._CREATION_LOCK)
            if not self._is_ledger(execute):
                for statement in _TABLES:
                    execute(statement)

    @contextmanager
    def transaction(self, *, writing: bool = False) -> Iterator[Execute]:
        with self._connect(writing) as execute:
            if not self._is_ledger(execute):
                raise _missing(self.place)
            version = _check_version(execute("SELECT version FROM tacit_ledger"), self.place)
            if writing and version < VERSION:
                execute(self.name_lock)  # One process at a time upgrades. Another may have done so in the meantime.
                if _check_version(execute("SELECT version FROM tacit_ledger"), self.place) < VERSION:
                    _upgrade(execute)
            yield execute

    @contextmanager
    def _connect(self, writing: bool) -> Iterator[Execute]:
        psycopg = _psycopg()
        try:
            connection = psycopg.connect(self.url, client_encoding="utf8")
        except psycopg.ProgrammingError:
            raise _unreadable_url() from None  # The driver's message repeats the password.
        except psycopg.Error as error:
            reason = _first_line(error)
            hint = "" if "password" not in reason else _NO_PASSWORD
            raise LedgerError(f"The ledger at {self.place} could not be reached: {reason}{hint}") from None
        # A writer must see what was committed while it waited for the row. A reader must see all tables at one moment.
        levels = psycopg.IsolationLevel
        connection.isolation_level = levels.READ_COMMITTED if writing else levels.REPEATABLE_READ
        connection.read_only = not writing

        def execute(statement: str, *values: Any) -> list[tuple[Any, ...]]:
            # Binary, because a server may be set to write fewer digits of a float than it has.
            cursor = connection.execute(statement.replace("?", "%s"), values or None, binary=True)
            return cursor.fetchall() if cursor.description else []

        try:
            with closing(connection):  # Closing undoes what was not committed.
                if writing:
                    execute(f"SET LOCAL lock_timeout = {round(1000 * _PATIENCE_SECONDS)}")
                    if execute("SHOW synchronous_commit") == [("off",)]:
                        execute("SET LOCAL synchronous_commit = on")
                yield execute
                connection.commit()
        except psycopg.Error as error:
            raise self._sentence(error) from error

    @staticmethod
    def _is_ledger(execute: Execute) -> bool:
        return execute("SELECT to_regclass('tacit_ledger') IS NOT NULL") == [(True,)]

    def _sentence(self, error: Exception) -> LedgerError:
        code = _code(error)
        if code == "55P03":
            return LedgerError(_STAYED_LOCKED.format(self.place))
        if code in ("42501", "25006"):  # These mean insufficient privilege and a read-only transaction.
            return LedgerError(
                f"The ledger at {self.place} refused: {_first_line(error)}. Nothing was charged. Give this account the "
                "right to SELECT, INSERT and UPDATE in the tables tacit_*, and to CREATE them if they are not there. "
                "(The first charge to a ledger of version 0.1 adds a column: let the owner of the tables make it.)"
            )
        if code.startswith(
            ("42", "23", "XX")
        ):  # These mean a missing table or column, a broken constraint, corrupt data.
            return LedgerError(_DAMAGED.format(self.place, _first_line(error)))
        return LedgerError(_FAILED.format(self.place, _first_line(error)))


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise LedgerError("A ledger on PostgreSQL needs psycopg: pip install 'tacit[postgres]'.") from error
    return psycopg


def _check_version(found: list[tuple[Any, ...]], place: str) -> int:
    if len(found) != 1 or not isinstance(found[0][0], int):
        raise LedgerError(f"The ledger at {place} does not say its format; restore it from a copy.")
    version = int(found[0][0])
    if not 1 <= version <= VERSION:
        raise LedgerError(f"The ledger at {place} was written by a newer tacit; upgrade tacit to use it.")
    return version


def _upgrade(execute: Execute) -> None:
    for statement in _FROM_VERSION_1:
        execute(statement)


def _missing(place: str) -> LedgerError:
    return LedgerError(
        f"There is no ledger at {place}. Make one: tacit budget create, or Ledger(...).create('data set', Budget(...))."
    )


def _unreadable_url() -> LedgerError:
    return LedgerError(
        "The ledger's URL cannot be read; write postgresql://user:password@host/database, and any of / @ : % ? in the "
        "password as %2F %40 %3A %25 %3F."
    )


def _code(error: Exception) -> str:
    return str(getattr(error, "sqlite_errorname", None) or getattr(error, "sqlstate", None) or "")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
