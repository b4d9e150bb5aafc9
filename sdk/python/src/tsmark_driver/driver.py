"""The base class of drivers."""

from __future__ import annotations

import os
import secrets
import shutil
import urllib.parse
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, TypeAlias

import pyarrow as pa

from .census import distinct, fold
from .model import (
    Caps, Census, Description, Footprint, InvalidInput, NotSupported, Object, Option, Options, Profile, Query, Request,
    Schema, Table)

NOTE = "tsmark_mark"
"""The name of the object with the note."""

Answer: TypeAlias = "pa.Table | pa.RecordBatchReader | Iterable[pa.RecordBatch]"
"""Arrow data: the answer to a query."""


class Driver:
    """A driver: the class says what tsmark needs to know beforehand, an instance is an open database.

    Write at least open, write, query, render, and scan or census. By default each table is a folder in
    the target's own folder, for drivers whose data is files. Methods may be called from several threads
    at once; calls for one worker may not. Raise NotSupported for everything that the database cannot do.
    """

    name: ClassVar[str]
    help: ClassVar[str]
    """One line: the system, and how rows are written to it."""
    version: ClassVar[str] = "0.1.0"
    """Of the driver."""
    options: ClassVar[Sequence[Option]] = ()
    profiles: ClassVar[Sequence[Profile]] = ()
    durabilities: ClassVar[Sequence[Profile]] = ()
    """Profiles named as-shipped, relaxed and strict."""
    steps: ClassVar[Mapping[str, str]] = {}
    """Work after a load on request, with help texts. The method step does it."""
    confinement: ClassVar[str] = ""
    """What keeps a query text of a user's from changing anything; empty: the driver runs no such texts."""
    text_language: ClassVar[str] = "sql"
    """The language of such texts: users write them for it or for the driver."""

    # Without a database.

    @classmethod
    def caps(cls, options: Options) -> Caps:
        """What the system can do with the options."""
        return Caps()

    @classmethod
    def check_schema(cls, options: Options, schema: Schema) -> None:
        """Raises InvalidInput for a schema that the system cannot store."""
        types = cls.caps(options).types
        for table in schema.tables:
            for f in table.fields:
                if types and f.type not in types:
                    raise InvalidInput(f"{cls.name} has no type for field {f.name} of table {table.name}, whose type is {f.type}")
            names = [n.lower() for n in table.column_names]
            for name in names:
                if names.count(name) > 1:
                    raise InvalidInput(f"table {table.name} needs the column {name} twice")

    @classmethod
    def render(cls, options: Options, schema: Schema, query: Query) -> Request:
        """The query in the system's language. It contacts no database."""
        raise NotSupported(f"{cls.name} answers no queries")

    @classmethod
    def literal(cls, options: Options, kind: str, value: str | int) -> str:
        """A value in a user's text. Its kind is text, or time: nanoseconds since 1970, to be rounded up."""
        raise NotSupported(f"{cls.name} has no literals for users' texts")

    # An open database.

    def __init__(self, options: Options, folder: Path) -> None:
        self.option = options
        self.folder = folder
        """The target's own folder, which exists."""

    def open(self, create: bool) -> None:
        """Connects. Without create, a missing database is an error; with it, it may be created."""

    def close(self) -> None:
        """Releases everything. The data stays."""

    def describe(self) -> Description:
        return Description(location=str(self.folder))

    address = ""
    """host:port of the database's server, which tsmark then watches; empty: there is none."""

    def objects(self) -> list[Object]:
        """Everything in the place, also what others created."""
        found = []
        for entry in sorted(self.folder.iterdir()):
            if entry.name == NOTE:
                found.append(Object(NOTE, "file", data=False, note=True))
            elif entry.is_dir():
                token = entry / _TOKEN
                identity = token.read_text() if token.exists() else ""
                found.append(Object(urllib.parse.unquote(entry.name), "folder", identity=identity))
        return found

    def plan(self, schema: Schema) -> list[Object]:
        """The objects that create would create."""
        return [Object(t.name, "folder") for t in schema.tables]

    def create(self, schema: Schema) -> None:
        for table in schema.tables:
            folder = self.table_folder(table.name)
            folder.mkdir()
            (folder / _TOKEN).write_text(secrets.token_hex(8))

    def drop(self, objects: Sequence[Object]) -> None:
        """Drops objects; one that is missing is no error."""
        for o in objects:
            if o.note:
                (self.folder / NOTE).unlink(missing_ok=True)
            else:
                shutil.rmtree(self.table_folder(o.name), ignore_errors=True)

    def note(self) -> str:
        """The text that set_note stored; empty: none."""
        path = self.folder / NOTE
        return path.read_text() if path.exists() else ""

    def set_note(self, text: str) -> None:
        """Replaces the text at once."""
        path = self.folder / (NOTE + ".new")
        path.write_text(text)
        os.replace(path, self.folder / NOTE)

    def write(self, table: Table, batch: pa.RecordBatch, worker: int) -> int | None:
        """Stores a batch: time, the tags (as dictionaries), the fields, as in table.

        It returns when the database has accepted the rows. A driver that buffers returns how many rows
        of this and earlier batches were accepted, and writes the rest in flush.
        """
        raise NotImplementedError

    def flush(self, worker: int) -> int:
        """Writes what write buffered, and returns the number of rows."""
        return 0

    def query(self, request: Request, worker: int) -> Answer:
        """The answer to a rendered query, as Arrow data with the columns of the request in their order.

        Dictionaries, any unit of time and any width of integer are fine; times may be integers of
        nanoseconds, dates integers of days, booleans 0 and 1.
        """
        raise NotImplementedError

    def close_worker(self, worker: int, kind: str) -> None:
        """Releases what a worker used; kind is writer or querier."""

    def settle(self) -> None:
        """Returns when all rows are visible to queries and background work is idle."""

    def scan(self, table: Table, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        """All rows with the named columns, in this order; the census and the list of series are computed from it."""
        raise NotSupported(f"{self.name} cannot list rows")

    def census(self, table: Table, distinct_rows: bool = False) -> Census:
        """The contents of a table, of all rows or of distinct rows."""
        batches = self.scan(table, table.column_names)
        return fold(table, distinct(batches) if distinct_rows else batches)

    def count_rows(self, table: Table) -> int:
        return sum(b.num_rows for b in self.scan(table, ["time"]))

    def list_series(self, table: Table) -> Iterable[pa.RecordBatch]:
        """The tags of each series with rows; the same ones may come more than once."""
        for batch in self.scan(table, [t.key for t in table.tags]):
            yield from distinct([batch])

    def footprint(self) -> Footprint:
        """The size of what create created."""
        total = 0
        for root, _, files in os.walk(self.folder):
            total += sum(os.lstat(os.path.join(root, f)).st_blocks * 512 for f in files if os.path.exists(os.path.join(root, f)))
        return Footprint(total)

    def check_text(self, text: str) -> None:
        """Raises an error unless a user's text is one statement that only reads.

        The database's own parser decides, or a read-only mode. Nothing is executed.
        """
        raise NotSupported(f"{self.name} cannot tell whether a text only reads")

    def step(self, name: str) -> None:
        """Does one of the steps."""
        raise NotSupported(f"{self.name} has no step {name}")

    # Optional: tsmark reports less without them.

    clock: Callable[[], tuple[int, str]] | None = None
    """The clock of the server: nanoseconds since 1970, and the unit in which it counts ("1ms")."""
    explain: Callable[[Request], str] | None = None
    """The plan of a query as text."""
    metrics: Callable[[], Mapping[str, float]] | None = None
    """The system's own metrics; those that only rise end in _total."""
    flush_memory: Callable[[], None] | None = None
    """Writes rows that settle leaves in memory to files."""
    free_space: Callable[[], tuple[str, int | None]] | None = None
    """The folder of the data on the server's host, and the bytes that are free there; None: unknown."""
    processes: Callable[[], Sequence[str]] | None = None
    """host:port of further processes that work for the server at address, such as data nodes."""

    # For the default methods.

    def table_folder(self, name: str) -> Path:
        """The folder of a table."""
        return self.folder / urllib.parse.quote(name, safe=" ").replace(".", "%2E")


_TOKEN = "tsmark_token"
