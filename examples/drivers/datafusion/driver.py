"""A driver of tsmark for Apache DataFusion over Parquet files: each batch is a file in the folder of its table."""

from __future__ import annotations

import itertools
import os
import secrets
from collections.abc import Sequence
from typing import Any

import datafusion
import pyarrow as pa
import pyarrow.parquet as pq

from tsmark_driver import (
    Answer, Caps, Column, Description, Dialect, Driver, DriverError, Figures, Options, Profile, Schema, SqlDriver, Table,
    arrow_schema, serve)


class DataFusionDialect(Dialect):
    name = "DataFusion"
    types = {"bool": "Boolean", "int32": "Int32", "int": "Int64", "float32": "Float32", "float": "Float64", "text": "Utf8",
             "timestamp": "Timestamp(ns)", "date": "Date32", "blob": "Binary"}

    def ident(self, name: str) -> str:
        super().ident(name)
        return '"' + name.replace('"', '""') + '"'  # names fold to lower case, and many words are reserved

    def time(self, ns: int) -> str:
        return f"arrow_cast({ns}, 'Timestamp(Nanosecond, Some(\"UTC\"))')"

    def bucket(self, width: int, time: str) -> str:
        return f"date_bin(INTERVAL '{width} nanoseconds', {time})"

    def seconds(self, start: str, end: str) -> str:
        return f"CAST(CAST({end} AS BIGINT) - CAST({start} AS BIGINT) AS DOUBLE) / 1e9"

    def milliseconds(self, time: str) -> str:
        return f"CAST({time} AS BIGINT) / 1000000"

    def from_milliseconds(self, ms: str) -> str:
        return f"arrow_cast({ms} * 1000000, 'Timestamp(Nanosecond, Some(\"UTC\"))')"

    def matches(self, text: str, pattern: str) -> str:
        return f"regexp_like({text}, {pattern})"

    def figures(self, type: str, column: str) -> Figures:
        if type in ("time", "int", "timestamp", "date"):
            return Figures(self.whole(type, column), column)  # sums wrap around
        if type in ("int32", "float32"):
            return Figures(f"CAST({column} AS {'BIGINT' if type == 'int32' else 'DOUBLE'})", column)
        return super().figures(type, column)


class DataFusionDriver(SqlDriver):
    name = "datafusion"
    help = "Apache DataFusion in the driver's process, over Parquet files; a batch is a file"
    dialect = DataFusionDialect()
    durabilities = [Profile("as-shipped", "files that are not forced to disk", {})]
    # A table is a folder: everything but queries is that of Driver.
    objects, plan, drop, note, set_note = Driver.objects, Driver.plan, Driver.drop, Driver.note, Driver.set_note

    @classmethod
    def caps(cls, options: Options) -> Caps:
        c = super().caps(options)
        c.language = "DataFusion's SQL"  # by which tables are not made
        c.lacks = {"infinite floats": "DataFusion's min() and max() replace by the largest finite ones"}
        return c

    def open(self, create: bool) -> None:
        if not create and not self.objects():
            raise DriverError(f"there are no tables in {self.folder}: load them first")
        self.files = itertools.count()

    def describe(self) -> Description:
        return Description(datafusion.__version__, "the operating system decides when a file is on disk",
                           "in files that are not yet forced to disk", str(self.folder))

    def create(self, schema: Schema) -> None:
        Driver.create(self, schema)
        for table in schema.tables:
            pq.write_table(arrow_schema(table).empty_table(), self.table_folder(table.name) / "schema.parquet")

    def insert(self, connection: Any, table: Table, batch: pa.RecordBatch) -> None:
        folder = self.table_folder(table.name)
        name = f"{secrets.token_hex(4)}-{next(self.files)}.parquet"
        pq.write_table(pa.Table.from_batches([batch]), folder / f".{name}")
        os.rename(folder / f".{name}", folder / name)  # all of it or nothing

    def connect(self) -> _Session:
        return _Session(self)

    def disconnect(self, connection: _Session) -> None:
        pass

    def run(self, connection: _Session, sql: str, columns: Sequence[Column] | None) -> Answer:
        connection.refresh()
        return (b.to_pyarrow() for b in connection.context.sql(sql).execute_stream())


class _Session:
    """A session that knows the files of all tables."""

    def __init__(self, driver: DataFusionDriver) -> None:
        self.driver, self.context = driver, datafusion.SessionContext()
        self.known: dict[str, int] = {}

    def refresh(self) -> None:
        for table in self.driver.objects():
            if table.kind != "folder":
                continue
            folder = self.driver.table_folder(table.name)
            changed = os.stat(folder).st_mtime_ns
            if self.known.get(table.name) != changed:
                quoted = self.driver.dialect.ident(table.name)
                if table.name in self.known:
                    self.context.deregister_table(quoted)
                self.context.register_parquet(quoted, str(folder), file_extension=".parquet")
                self.known[table.name] = changed


if __name__ == "__main__":
    serve(DataFusionDriver)
