"""A driver of tsmark for Databend in the driver's process. Batches arrive as Parquet files, which one statement stores."""

from __future__ import annotations

import datetime
import hashlib
import os
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from databend import SessionContext

from tsmark_driver import (
    Answer, Caps, Column, Description, Dialect, DriverError, Figures, Footprint, NotSupported, Options, Query, RowSet, Schema, SqlDriver,
    Table, serve)

SECOND = 1_000_000_000


class DatabendDialect(Dialect):
    name = "Databend"
    precision = 1000
    types = {name: kind + " NULL" for name, kind in {
        "time": "TIMESTAMP", "tag": "VARCHAR", "number": "DOUBLE", "bool": "BOOLEAN", "int32": "INT", "int": "BIGINT", "float32": "FLOAT",
        "float": "DOUBLE", "text": "VARCHAR", "timestamp": "TIMESTAMP", "date": "DATE", "blob": "BINARY"}.items()}
    set_all = False

    def ident(self, name: str) -> str:
        super().ident(name)
        return '"' + name.replace('"', '""') + '"'

    def text(self, value: str) -> str:
        return super().text(value).replace("\\", "\\\\").replace("\n", "\\n")

    def double(self, value: float) -> str:
        return f"CAST({value!r} AS DOUBLE)"  # literals are decimals

    def time(self, ns: int) -> str:
        at = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=ns // 1000)
        return f"CAST('{at.isoformat(' ')}' AS TIMESTAMP)"

    def bucket(self, width: int, time: str) -> str:
        if width % SECOND:
            raise NotSupported(f"Databend has no function that adds microseconds to a time, as buckets of {width} ns need")
        us, whole = width // 1000, f"to_int64({time})"
        seconds = f"({whole} - ({whole} % {us} + {us}) % {us}) DIV 1000000"
        return f"add_seconds(CAST('1970-01-01' AS TIMESTAMP), {seconds})"  # to_timestamp guesses the unit of an integer

    def seconds(self, start: str, end: str) -> str:
        return f"(to_int64({end}) - to_int64({start})) / CAST(1000000 AS DOUBLE)"

    def operand(self, type: str, column: str) -> str:
        return f"CAST({column} AS DOUBLE)" if type == "float32" else column  # else it rounds the double

    def whole(self, type: str, column: str) -> str:
        return f"to_int64({column})"

    def render(self, query: Query, schema: Schema) -> str:
        if isinstance(query.shape, RowSet) and query.shape.operation != "union":
            raise NotSupported("Databend's INTERSECT and EXCEPT take no NULL for equal to another, so they lose rows or keep them")
        return super().render(query, schema)

    def figures(self, type: str, column: str) -> Figures:
        f = super().figures(type, column)
        f.unit = 1000 if type in ("time", "timestamp") else 1
        if type == "float32":
            f.sum = f"CAST({column} AS DOUBLE)"
        return f


class DatabendDriver(SqlDriver):
    name = "databend"
    help = "Databend in the driver's process; batches arrive as Parquet files"
    dialect = DatabendDialect()
    list_tables = "SELECT 'table', name, table_id FROM system.tables WHERE database = 'default'"

    @classmethod
    def caps(cls, options: Options) -> Caps:
        c = super().caps(options)
        c.lacks = {"NaN": "Databend cannot aggregate", "infinite floats": "Databend cannot aggregate where their sum is NaN",
                   "fields with times that are not multiples of 1 µs": "Databend rounds to microseconds"}
        return c

    def open(self, create: bool) -> None:
        # The library keeps all data in .databend of its working folder, apart by tenant.
        self.tenant = "tsmark" + hashlib.sha256(str(self.folder.resolve()).encode()).hexdigest()[:12]
        if not create and not self.objects():
            raise DriverError(f"{Path('.databend').resolve()} has no tables for {self.folder}: load them first")

    def describe(self) -> Description:
        return Description(version("databend"), "the operating system decides when a file is on disk",
                           "in files that are not yet forced to disk", f"{Path('.databend').resolve()}, tenant {self.tenant}")

    def connect(self) -> SessionContext:
        return SessionContext(self.tenant)

    def disconnect(self, connection: SessionContext) -> None:
        pass

    def run(self, connection: SessionContext, sql: str, columns: Sequence[Column] | None) -> Answer:
        try:
            return iter(connection.sql(sql).to_py_arrow())
        except RuntimeError as e:
            raise DriverError(str(e).splitlines()[0]) from None

    def insert(self, connection: SessionContext, table: Table, batch: pa.RecordBatch) -> None:
        columns = []
        for column in batch.columns:
            if pa.types.is_dictionary(column.type):
                column = column.dictionary_decode()
            if pa.types.is_timestamp(column.type):
                column = column.cast(pa.timestamp("us"), safe=False)
            columns.append(column)
        handle, path = tempfile.mkstemp(suffix=".parquet")
        os.close(handle)
        try:
            pq.write_table(pa.Table.from_arrays(columns, table.column_names), path)
            source = f"SELECT * FROM 'fs://{path}' (file_format => 'parquet')"
            self.run(connection, f"INSERT INTO {self.dialect.ident(table.name)} {source}", None)
        finally:
            os.unlink(path)

    def footprint(self) -> Footprint:
        sizes = self.rows("SELECT data_compressed_size + index_size FROM system.tables WHERE database = 'default' AND name <> 'tsmark_mark'")
        return Footprint(sum(size or 0 for size, in sizes), without="snapshots and earlier versions of tables")


if __name__ == "__main__":
    serve(DatabendDriver)
