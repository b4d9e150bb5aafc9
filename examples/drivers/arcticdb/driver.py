"""A driver of tsmark for ArcticDB over LMDB: a table is a symbol with the time as its index, and each batch is appended.

ArcticDB's QueryBuilder selects the rows of each query, and aggregates them where it can: into buckets of
time, or for each value of a tag. Everything else is computed from these rows in the driver's process, as
users of ArcticDB do with dataframes.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import arcticdb
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from arcticdb import OutputFormat, QueryBuilder

from tsmark_driver import (
    Answer, Buckets, Caps, Description, Driver, DriverError, NotSupported, Object, Options, Profile, PromQL, Query, Request, RowSet, Schema,
    Stored, Table, Totals, arrow_schema, compute, needed_columns, serve, wholes)

LIBRARY = "tsmark"
CHUNK = 1_000_000
FUNCTIONS = {"avg": "mean", "max": "max", "min": "min", "sum": "sum", "count": "count"}


class Store:
    """The library in a folder. LMDB must not open a folder twice in one process."""

    stores: dict[Path, Store] = {}
    lock = threading.Lock()

    @classmethod
    def of(cls, folder: Path) -> Store:
        with cls.lock:
            if folder not in cls.stores:
                cls.stores[folder] = cls(folder)
            return cls.stores[folder]

    def __init__(self, folder: Path) -> None:
        self.arctic = arcticdb.Arctic(f"lmdb://{folder}", output_format=OutputFormat.PYARROW)
        self.library = self.arctic.get_library(LIBRARY, create_if_missing=True)
        self.library._nvs._set_allow_arrow_input()
        self.writing = threading.Lock()


class ArcticDriver(Driver):
    name = "arcticdb"
    help = "ArcticDB in the driver's process, in files of LMDB; a table is a symbol, to which batches are appended"
    durabilities = [Profile("as-shipped", "LMDB, which forces each version to disk", {})]
    steps = {"defragment": "merge the small segments that appends leave"}

    @classmethod
    def caps(cls, options: Options) -> Caps:
        return Caps(
            language="ArcticDB's QueryBuilder", max_writers=1, in_order="1ns",
            lacks={"NaN": "ArcticDB takes for missing values"},
            types={"bool": Stored("bool"), "int32": Stored("int32"), "int": Stored("int64"), "float32": Stored("float32"),
                   "float": Stored("float64"), "text": Stored("string"), "timestamp": Stored("datetime64[ns]"),
                   "date": Stored("int32", "days since 1970")})

    @classmethod
    def render(cls, options: Options, schema: Schema, query: Query) -> Request:
        if isinstance(query.shape, PromQL):
            raise NotSupported("ArcticDB has no functions over time of metrics")
        if isinstance(query.shape, RowSet):
            raise NotSupported("ArcticDB has no set operations")
        table = schema.table(query.table)
        date_range, builder, aggregated = reading(query, table)
        text = f"lib.read({table.name!r}, date_range={date_range}, columns={needed_columns(query)[1:]}, query_builder={builder})"
        if not aggregated:
            text += f"\nand, in the driver's process: {query.shape}"
        return Request(text, {"query": query.stored, "table": table.stored})

    def open(self, create: bool) -> None:
        path = self.folder.resolve() / "arcticdb"
        if not create and not path.exists():
            raise DriverError(f"there is no {path}: load it first")
        self.store = Store.of(path)
        self.library = self.store.library

    def describe(self) -> Description:
        return Description(arcticdb.__version__, "an acknowledged row is in a new version of its symbol, which LMDB has forced to disk",
                           "on disk", str(self.folder / "arcticdb"))

    def objects(self) -> list[Object]:
        found = [o for o in super().objects() if o.note]
        found += [Object(n, "library") for n in self.store.arctic.list_libraries() if n != LIBRARY]
        return found + [Object(n, "symbol", identity=str(self.library.read_metadata(n).metadata)) for n in sorted(self.library.list_symbols())]

    def plan(self, schema: Schema) -> list[Object]:
        return [Object(t.name, "symbol") for t in schema.tables]

    def create(self, schema: Schema) -> None:
        for table in schema.tables:
            self.library.write(table.name, stored(arrow_schema(table).empty_table()), metadata=secrets.token_hex(8), index_column=True)

    def drop(self, objects: Sequence[Object]) -> None:
        super().drop([o for o in objects if o.note])
        for o in objects:
            if not o.note:
                self.library.delete(o.name)

    def write(self, table: Table, batch: pa.RecordBatch, worker: int) -> None:
        rows = stored(pa.Table.from_batches([batch])).sort_by("time")
        first = pd.Timestamp(rows["time"][0].value)
        with self.store.writing:
            newest = self.library.get_description(table.name).date_range[1]
            token = self.library.read_metadata(table.name).metadata
            if pd.isna(newest) or first.value >= newest.value:
                self.library.append(table.name, rows, metadata=token, index_column=True, prune_previous_versions=True)
                return
            later = self.library.read(table.name, date_range=(first, None)).data  # late rows replace all rows from theirs on
            rows = pa.concat_tables([later.cast(rows.schema), rows]).sort_by("time")
            self.library.update(table.name, rows, metadata=token, index_column=True, prune_previous_versions=True)

    def step(self, name: str) -> None:
        for symbol in self.library.list_symbols():
            if self.library.is_symbol_fragmented(symbol):
                self.library.defragment_symbol_data(symbol, prune_previous_versions=True)

    def query(self, request: Request, worker: int) -> Answer:
        query, table = Query.of(request.plan["query"]), Table.of(request.plan["table"])
        date_range, builder, aggregated = reading(query, table)
        if query.start is not None and query.end is not None and query.start >= query.end:
            return ()
        rows = self.library.read(table.name, date_range=date_range, columns=needed_columns(query)[1:], query_builder=builder).data
        return ordered(query, table, rows) if aggregated else compute(query, table, rows)

    def scan(self, table: Table, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        for start in range(0, self.count_rows(table), CHUNK):
            rows = self.library.read(table.name, columns=[c for c in columns if c != "time"], row_range=(start, start + CHUNK)).data
            yield from rows.select(columns).to_batches()

    def count_rows(self, table: Table) -> int:
        return self.library.get_description(table.name).row_count


def stored(rows: pa.Table) -> pa.Table:
    """The rows in the types that ArcticDB has."""
    columns = []
    for c in rows.columns:
        if pa.types.is_dictionary(c.type):
            c = c.cast(c.type.value_type)
        if pa.types.is_timestamp(c.type):
            c = c.cast(pa.timestamp("ns"))
        if pa.types.is_date(c.type):
            c = c.cast(pa.int32())
        if pa.types.is_string(c.type):
            c = c.cast(pa.large_string())
        columns.append(c)
    return pa.table(columns, rows.column_names)


def reading(query: Query, table: Table) -> tuple[Any, QueryBuilder | None, bool]:
    """What ArcticDB reads for a query: the times, the rows, and whether it aggregates them."""
    conditions, column = [], QueryBuilder()
    if query.tag_in:
        numeric = table.tag(query.tag_in.key).numeric
        conditions.append(column[query.tag_in.key].isin([float(v) if numeric else v for v in query.tag_in.values]))
    conditions += [column[k].notnull() for k in query.demands if not query.tag_in or k != query.tag_in.key]
    if query.filter:
        for field in map(table.field, query.filter.fields):
            operator, bound = wholes(query.filter.compare, query.filter.value, field.type) if field.integer else (
                query.filter.compare, query.filter.value)
            c = column[field.name]
            conditions.append({">": c > bound, ">=": c >= bound, "<": c < bound, "<=": c <= bound, "=": c == bound}[operator])
    if hasattr(query.shape, "field"):
        conditions.append(column[query.shape.field].notnull())
    builder = QueryBuilder()
    for condition in conditions:
        builder = builder[condition]
    aggregated = isinstance(query.shape, Buckets | Totals) and aggregates(query.shape, table)
    if aggregated:
        names = [c.name for c in query.columns(table)][-len(query.shape.fields):]
        wanted = {n: (f, FUNCTIONS[query.shape.aggregate]) for n, f in zip(names, query.shape.fields)}
        if isinstance(query.shape, Buckets):
            builder = builder.resample(pd.Timedelta(query.shape.width), origin="epoch")
        else:
            builder = builder.groupby(query.shape.group_by)
        builder = builder.agg(wanted)
    date_range = None
    if query.start is not None or query.end is not None:
        date_range = (None if query.start is None else pd.Timestamp(query.start), None if query.end is None else pd.Timestamp(query.end - 1))
    return date_range, builder if conditions or aggregated else None, aggregated


def aggregates(shape: Buckets | Totals, table: Table) -> bool:
    """Whether ArcticDB has the aggregation. Its sums of integers overflow, and it groups by one key."""
    types = {table.field(f).type for f in shape.fields}
    exact = {"float", "float32"} if shape.aggregate in ("sum", "avg") else {"int", "int32", "float", "float32"}
    return types <= exact and not (isinstance(shape, Buckets) and shape.group_by)


def ordered(query: Query, table: Table, rows: pa.Table) -> pa.Table:
    """ArcticDB's aggregates as an answer."""
    columns = [c.name for c in query.columns(table)]
    shape = query.shape
    assert isinstance(shape, Buckets | Totals)
    if isinstance(shape, Buckets):
        if shape.order == "desc":
            rows = rows.sort_by([("time", "descending")])
        if shape.limit:
            rows = rows.slice(0, shape.limit)
    out = rows.select(columns)
    if shape.aggregate == "count":
        out = pa.table([out[0], *(pc.fill_null(c, 0).cast(pa.int64()) for c in out.columns[1:])], columns)
    return out


if __name__ == "__main__":
    serve(ArcticDriver)
