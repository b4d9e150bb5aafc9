"""A driver of tsmark for NAME. As generated it drives SQLite: replace it function by function."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Sequence

import pyarrow as pa

from tsmark_driver import (
    Answer, Caps, Column, Description, Dialect, DriverError, Options, Profile, SqlDriver, Table, batches_of, rows_of, serve)


class NameDialect(Dialect):
    """The SQL of the database: how it writes what tsmark computes."""

    name = "NAME"
    precision = 1  # times are nanoseconds
    types = {
        "time": "INTEGER NOT NULL", "tag": "TEXT", "number": "REAL", "bool": "INTEGER", "int32": "INTEGER", "int": "INTEGER",
        "float32": "REAL", "float": "REAL", "text": "TEXT", "timestamp": "INTEGER", "date": "INTEGER", "blob": "BLOB"}
    reserved = frozenset(
        "add all alter and as autoincrement between case check collate commit constraint create current_date current_time "
        "current_timestamp default deferrable delete distinct drop else escape except exists foreign from group having if in "
        "index insert intersect into is isnull join limit not nothing notnull null on or order primary references returning "
        "select set table then to transaction union unique update using values when where".split())
    set_all = False  # it has no INTERSECT ALL

    def time(self, ns: int) -> str:
        return str(ns)

    def bucket(self, width: int, time: str) -> str:
        return f"{time} - ({time} % {width} + {width}) % {width}"

    def seconds(self, start: str, end: str) -> str:
        return f"({end} - {start}) / 1e9"

    def whole(self, type: str, column: str) -> str:
        return column  # times and dates are integers

    def milliseconds(self, time: str) -> str:
        return f"{time} / 1000000"

    def from_milliseconds(self, ms: str) -> str:
        return f"{ms} * 1000000"

    def numbers(self, count: int) -> str:
        recursion = f"SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count - 1}"
        return f"(WITH RECURSIVE numbers(n) AS ({recursion}) SELECT n FROM numbers) AS numbers"

    def create(self, table: Table) -> list[str]:
        # The token tells a table of tsmark from one that somebody else makes under its name later.
        statement = super().create(table)[0].replace("(", f"(/* {secrets.token_hex(8)} */ ", 1)
        by = ", ".join([*(self.ident(t.key) for t in table.tags[:1]), "time"])
        return [statement, f"CREATE INDEX {self.ident(table.name + '_by_tag_time')} ON {self.ident(table.name)} ({by})"]


class NameDriver(SqlDriver):
    name = "NAME"
    help = "one line: the system, and how rows are written to it"
    dialect = NameDialect()
    list_tables = "SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    durabilities = [Profile("as-shipped", "a write-ahead log, forced to disk at each commit", {})]

    @classmethod
    def caps(cls, options: Options) -> Caps:
        """What the database can do, and what becomes of values that it cannot store."""
        c = super().caps(options)
        c.max_writers = 1
        c.lacks = {"NaN": "SQLite holds as NULL"}
        return c

    def open(self, create: bool) -> None:
        self.path = self.folder / "data.db"
        if not create and not self.path.exists():
            raise DriverError(f"there is no database {self.path}: load it first")
        self.rows("SELECT 1 AS works")

    def describe(self) -> Description:
        return Description(sqlite3.sqlite_version, "an acknowledged row is on disk", "on disk", str(self.path))

    def connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=10, check_same_thread=False, isolation_level=None)
        connection.text_factory = bytes
        connection.execute("PRAGMA journal_mode = wal")
        return connection

    def run(self, connection: sqlite3.Connection, sql: str, columns: Sequence[Column] | None) -> Answer | None:
        cursor = connection.execute(sql)
        if cursor.description is None:
            return None
        if columns is None:  # tsmark's own statements, with few rows, and users' texts
            rows = cursor.fetchall()
            values = [pa.array([row[i] for row in rows]) for i in range(len(cursor.description))]
            return pa.Table.from_arrays(values, [d[0] for d in cursor.description])
        return batches_of(cursor, columns)

    def insert(self, connection: sqlite3.Connection, table: Table, batch: pa.RecordBatch) -> None:
        places = ", ".join("?" * batch.num_columns)
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.executemany(f"INSERT INTO {self.dialect.ident(table.name)} VALUES ({places})", rows_of(batch))
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    def transact(self, connection: sqlite3.Connection, statements: Sequence[str]) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            super().transact(connection, statements)
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    def settle(self) -> None:
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")


if __name__ == "__main__":
    serve(NameDriver)
