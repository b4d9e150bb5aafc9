"""The base class of drivers of databases with SQL."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from .census import rows_of, signed, text_sum
from .driver import NOTE, Answer, Driver
from .model import Caps, Census, Column, Content, InvalidInput, Object, Options, Query, Request, Schema, Stored, Table, value
from .sql import Dialect


class SqlDriver(Driver):
    """A driver of a database with SQL: tables, note, contents and queries come from its dialect.

    Write connect, run and insert, and set dialect and list_tables.
    """

    dialect: ClassVar[Dialect]
    list_tables: ClassVar[str]
    """The statement that lists everything in the place. Columns: kind ("table"), name, and a text that
    differs for a table that is made again, such as an identifier or the time of creation."""

    confinement = "the database explains it as a subquery first; its functions, and files that its queries name, stay within reach"

    def connect(self) -> Any:
        """A connection. Each worker has its own; one thread at a time uses it."""
        raise NotImplementedError

    def run(self, connection: Any, sql: str, columns: Sequence[Column] | None) -> Answer | None:
        """Runs a statement. The columns are those of its answer, None where tsmark does not know them.

        A statement without an answer returns None.
        """
        raise NotImplementedError

    def insert(self, connection: Any, table: Table, batch: pa.RecordBatch) -> None:
        """Stores a batch in a table: all of it or nothing."""
        raise NotImplementedError

    def disconnect(self, connection: Any) -> None:
        connection.close()

    def transact(self, connection: Any, statements: Sequence[str]) -> None:
        """Runs statements, in a transaction if the database has them for tables."""
        for statement in statements:
            self.run(connection, statement, None)

    # What follows needs no changes.

    def __init__(self, options: Options, folder: Path) -> None:
        super().__init__(options, folder)
        self._connections: dict[tuple[str, int], Any] = {}
        self._lock, self._own = threading.Lock(), threading.RLock()

    @classmethod
    def caps(cls, options: Options) -> Caps:
        types = {t: Stored(cls.dialect.types[t]) for t in _FIELD_TYPES if t in cls.dialect.types}
        return Caps(time_precision=f"{cls.dialect.precision}ns", types=types)

    @classmethod
    def check_schema(cls, options: Options, schema: Schema) -> None:
        super().check_schema(options, schema)
        for table in schema.tables:
            if table.name.lower() == NOTE:
                raise InvalidInput(f"no table may be called {NOTE}, which holds the mark of tsmark")
            for name in [table.name, *table.column_names]:
                cls.dialect.ident(name)

    @classmethod
    def render(cls, options: Options, schema: Schema, query: Query) -> Request:
        return Request(cls.dialect.render(query, schema))

    @classmethod
    def literal(cls, options: Options, kind: str, value: str | int) -> str:
        d = cls.dialect
        return d.time(-(-int(value) // d.precision) * d.precision) if kind == "time" else d.text(str(value))

    def check_text(self, text: str) -> None:
        """Only a query can be a subquery. Without a semicolon, the text cannot end the statement around it.

        Some databases ignore INTO in subqueries alone.
        """
        query = text.rstrip().removesuffix(";")
        if ";" in query or "\0" in query:
            raise InvalidInput("the text has a semicolon or a NUL character, and may be several statements; leave them out")
        if re.search(r"\binto\b", query, re.IGNORECASE):
            raise InvalidInput("the text has the word INTO, and may write its answer; leave it out")
        self.rows(f"EXPLAIN SELECT * FROM (\n{query}\n) AS tsmark_text")

    def connection(self, kind: str, worker: int) -> Any:
        """The connection of a worker."""
        with self._lock:
            found = self._connections.get((kind, worker))
        if found is None:
            found = self.connect()
            with self._lock:
                self._connections[kind, worker] = found
        return found

    def close_worker(self, worker: int, kind: str) -> None:
        with self._lock:
            found = self._connections.pop((kind, worker), None)
        if found is not None:
            self.disconnect(found)

    def close(self) -> None:
        with self._lock:
            open_ones, self._connections = list(self._connections.values()), {}
        for c in open_ones:
            self.disconnect(c)

    def rows(self, sql: str, columns: Sequence[Column] | None = None) -> list[tuple[Any, ...]]:
        """The rows of tsmark's own statement: times are nanoseconds since 1970, dates days."""
        with self._own:
            answer = self.run(self.connection("own", 0), sql, columns)
            return [] if answer is None else [row for batch in batches(answer) for row in rows_of(batch)]

    def execute(self, *statements: str) -> None:
        with self._own:
            self.transact(self.connection("own", 0), statements)

    def write(self, table: Table, batch: pa.RecordBatch, worker: int) -> int | None:
        self.insert(self.connection("writer", worker), table, batch)
        return None

    def query(self, request: Request, worker: int) -> Answer:
        return self.run(self.connection("querier", worker), request.text, request.columns or None) or ()

    def objects(self) -> list[Object]:
        return [Object(_text(name), _text(kind), _text(name).lower(), _text(identity), note=_text(name) == NOTE)
                for kind, name, identity in self.rows(self.list_tables)]

    def plan(self, schema: Schema) -> list[Object]:
        return [Object(t.name, key=t.name.lower()) for t in schema.tables]

    def create(self, schema: Schema) -> None:
        self.execute(*(s for t in schema.tables for s in self.dialect.create(t)))

    def drop(self, objects: Sequence[Object]) -> None:
        self.execute(*(f"DROP {o.kind.upper()} IF EXISTS {self.dialect.ident(o.name)}" for o in objects))

    def note(self) -> str:
        found = self.rows(f"SELECT content FROM {NOTE}", [Column("content", "text")])
        return _text(found[0][0]) if found else ""

    def set_note(self, text: str) -> None:
        self.execute(f"DROP TABLE IF EXISTS {NOTE}",
                     f"CREATE TABLE {NOTE} (content {self.dialect.types['text']})",
                     f"INSERT INTO {NOTE} VALUES ({self.dialect.text(text)})")

    def census(self, table: Table, distinct_rows: bool = False) -> Census:
        """One statement for at most 100 fields; texts of free fields are read one by one."""
        d, source = self.dialect, self._source(table, distinct_rows)
        census = Census(0, Content(), [])
        for start in range(0, max(len(table.fields), 1), 100):
            fields = table.fields[start:start + 100]
            parts = [("time", "time", d.figures("time", d.ident("time")))]
            parts += [(f.type, f.kind, d.figures(f.type, d.ident(f.name))) for f in fields]
            expressions, columns = ["count(*)"], [Column("rows", "int")]
            for i, (type_, kind, f) in enumerate(parts):
                names = [f"count({d.ident((['time'] + [x.name for x in fields])[i])})"]
                kinds = ["int"]
                for expression in (f.high, f.sum):
                    if expression:
                        names.append(f"sum({expression})")
                        kinds.append("float" if kind == "float" else "int")
                if f.order:
                    names += [f"min({f.order})", f"max({f.order})"]
                    kinds += [kind, kind]
                expressions += names
                columns += [Column(f"c{len(columns) + j}", k) for j, k in enumerate(kinds)]
            listed = ",\n  ".join(f"{e} AS {c.name}" for e, c in zip(expressions, [Column("c0", "int"), *columns[1:]]))
            row = iter(self.rows(f"SELECT {listed}\nFROM {source}", columns)[0])
            census.rows = int(next(row))
            contents = []
            for type_, kind, f in parts:
                content = Content(int(next(row)))
                if f.sum:
                    high = next(row) if f.high else 0
                    low = next(row)
                    if low is None or kind == "float":
                        content.sum = value(low, kind)
                    else:
                        content.sum = value(signed(((int(high) << 32) + int(low)) * f.unit), "int")
                if f.order:
                    content.min, content.max = value(next(row), kind), value(next(row), kind)
                contents.append(content)
            census.times = contents[0]
            census.fields += contents[1:]
        for field, content in zip(table.fields, census.fields):
            if field.textual and field.length == 0 and content.sum is None:
                column = d.ident(field.name)
                texts = self.rows(f"SELECT {column} FROM {source} WHERE {column} IS NOT NULL", [Column(field.name, "text")])
                content.sum = value(signed(sum(text_sum(t) for t, in texts)), "int")
        return census

    def _source(self, table: Table, distinct_rows: bool) -> str:
        name = self.dialect.ident(table.name)
        if not distinct_rows:
            return name
        columns = ", ".join(self.dialect.ident(c) for c in table.column_names)
        return f"(SELECT DISTINCT {columns} FROM {name}) AS distinct_rows"

    def count_rows(self, table: Table) -> int:
        return int(self.rows(f"SELECT count(*) AS n FROM {self.dialect.ident(table.name)}", [Column("n", "int")])[0][0])

    def list_series(self, table: Table) -> Iterable[pa.RecordBatch]:
        columns = [Column(t.key, "float" if t.numeric else "text") for t in table.tags]
        names = ", ".join(self.dialect.ident(c.name) for c in columns)
        with self._own:
            answer = self.run(self.connection("own", 0), f"SELECT DISTINCT {names} FROM {self.dialect.ident(table.name)}", columns)
            return list(batches(answer)) if answer is not None else []


_FIELD_TYPES = ("bool", "int32", "int", "float32", "float", "text", "timestamp", "date", "blob")


def _text(v: Any) -> str:
    return v.decode() if isinstance(v, bytes) else "" if v is None else str(v)


def batches(answer: Answer) -> Iterator[pa.RecordBatch]:
    """The batches of an answer."""
    return iter(answer.to_batches() if isinstance(answer, pa.Table) else answer)
