"""A driver of tsmark for ArcticDB over LMDB: a table is a symbol with the time as its index, and each batch is appended.

ArcticDB's QueryBuilder selects the rows of each query, and aggregates them where it can: into buckets of
time, or for each value of a tag. Everything else is computed from these rows in the driver's process, as
users of ArcticDB do with dataframes.

Dataframes have no NULL in integers and booleans. A batch that has some gets a further column that marks
them ("usage is missing"), which ArcticDB's dynamic schema allows.
"""

from __future__ import annotations

import secrets
import threading
import urllib.parse
from collections.abc import Iterable, Sequence
from pathlib import Path

import arcticdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from arcticdb import LibraryOptions, OutputFormat, QueryBuilder

from tsmark_driver import (
    Activity, Answer, Buckets, Caps, Description, Driver, DriverError, NotSupported, Object, Options, Profile, PromQL, Query, Request, RowSet, Schema,
    Stored, Table, Totals, arrow_schema, compute, needed_columns, serve, wholes)

LIBRARY = "tsmark"
CHUNK = 1_000_000
MISSING = " is missing"
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
        self.library = self.arctic.get_library(LIBRARY, True, LibraryOptions(dynamic_schema=True))
        self.writing = threading.Lock()
        self.markers: dict[str, set[str]] = {}

    def marked(self, symbol: str) -> set[str]:
        """The fields with NULLs that a column marks."""
        if symbol not in self.markers:
            names = [c.name for c in self.library.get_description(symbol).columns]
            self.markers[symbol] = {n.removesuffix(MISSING) for n in names if n.endswith(MISSING)}
        return self.markers[symbol]


class ArcticDriver(Driver):
    name = "arcticdb"
    help = "ArcticDB in the driver's process, in files of LMDB; a table is a symbol, to which batches are appended"
    durabilities = [Profile("as-shipped", "LMDB, which forces each version to disk", {})]
    steps = {"defragment": "merge the small segments that appends leave"}

    @classmethod
    def caps(cls, options: Options) -> Caps:
        return Caps(
            language="ArcticDB's QueryBuilder", max_writers=1, in_order="1ns",
            lacks={"NaN": "dataframes take for missing values"},
            types={"bool": Stored("bool"), "int32": Stored("int32"), "int": Stored("int64"), "float32": Stored("float32"),
                   "float": Stored("float64"), "text": Stored("str"), "timestamp": Stored("datetime64[ns]"),
                   "date": Stored("int32", "days since 1970")})

    @classmethod
    def render(cls, options: Options, schema: Schema, query: Query) -> Request:
        if isinstance(query.shape, PromQL):
            raise NotSupported("ArcticDB has no functions over time of metrics")
        if isinstance(query.shape, RowSet):
            raise NotSupported("ArcticDB has no set operations")
        table = schema.table(query.table)
        reading = Reading(query, table, set())
        text = f"lib.read({symbol(table.name)!r}, date_range={reading.date_range}, columns={reading.columns}, query_builder={reading.builder})"
        if not reading.aggregated:
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
        return found + [Object(urllib.parse.unquote(s), "symbol", identity=str(self.library.read_metadata(s).metadata))
                        for s in sorted(self.library.list_symbols())]

    def plan(self, schema: Schema) -> list[Object]:
        return [Object(t.name, "symbol") for t in schema.tables]

    def create(self, schema: Schema) -> None:
        for table in schema.tables:
            types = arrow_schema(table)
            empty = pa.record_batch([pa.array([], t) for t in types.types], schema=types)
            self.library.write(symbol(table.name), frame(stored(empty), table), metadata=secrets.token_hex(8))

    def drop(self, objects: Sequence[Object]) -> None:
        super().drop([o for o in objects if o.note])
        for o in objects:
            if not o.note:
                self.library.delete(symbol(o.name))

    def write(self, table: Table, batch: pa.RecordBatch, worker: int) -> None:
        rows = stored(batch)
        if not sorted_by_time(rows):
            rows = rows.sort_by("time")
        first = pd.Timestamp(rows["time"][0].value)
        with self.store.writing:
            newest = self.library.get_description(symbol(table.name)).date_range[1]
            token = self.library.read_metadata(symbol(table.name)).metadata
            if pd.isna(newest) or first.value >= newest.value:
                write = self.library.append
            else:  # late rows replace everything from the first of them on
                write = self.library.update
                later = self.library.read(symbol(table.name), date_range=(first, None)).data
                rows = pa.concat_tables([self.present(table, later).select(rows.column_names).cast(rows.schema), rows]).sort_by("time")
            marked = self.store.marked(symbol(table.name)) | nulls_of(rows, table)
            write(symbol(table.name), frame(rows, table), metadata=token, prune_previous_versions=True)
            self.store.markers[symbol(table.name)] = marked

    def present(self, table: Table, rows: pa.Table) -> pa.Table:
        """The rows that ArcticDB returned, with NULLs."""
        for i, name in enumerate(rows.column_names):
            c = rows.column(i)
            if pa.types.is_floating(c.type):
                rows = rows.set_column(i, name, pc.if_else(pc.is_nan(c), pa.scalar(None, c.type), c))
            elif name + MISSING in rows.column_names:
                missing = pc.fill_null(rows[name + MISSING], False)
                rows = rows.set_column(i, name, pc.if_else(missing, pa.scalar(None, c.type), c))
        return rows

    def step(self, name: str) -> None:
        for s in self.library.list_symbols():
            if self.library.is_symbol_fragmented(s):
                self.library.defragment_symbol_data(s, prune_previous_versions=True)

    def query(self, request: Request, worker: int) -> Answer:
        query, table = Query.of(request.plan["query"]), Table.of(request.plan["table"])
        if query.start is not None and query.end is not None and query.start >= query.end:
            return ()
        r = Reading(query, table, self.store.marked(symbol(table.name)))
        rows = self.library.read(symbol(table.name), date_range=r.date_range, columns=r.columns, query_builder=r.builder).data
        rows = self.present(table, rows)
        return ordered(query, table, rows) if r.aggregated else compute(query, table, rows)

    def scan(self, table: Table, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        wanted = [c for c in columns if c != "time"]
        wanted += [c + MISSING for c in wanted if c in self.store.marked(symbol(table.name))]
        for start in range(0, self.count_rows(table), CHUNK):
            rows = self.library.read(symbol(table.name), columns=wanted, row_range=(start, start + CHUNK)).data
            yield from self.present(table, rows).select(columns).to_batches()

    def count_rows(self, table: Table) -> int:
        return int(self.library.get_description(symbol(table.name)).row_count)


def stored(batch: pa.RecordBatch) -> pa.Table:
    """The rows in the types that ArcticDB has."""
    columns = []
    for c in batch.columns:
        if pa.types.is_dictionary(c.type):
            c = c.dictionary_decode()
        if pa.types.is_timestamp(c.type):
            c = c.cast(pa.timestamp("ns"))
        elif pa.types.is_date(c.type):
            c = c.cast(pa.int32())
        elif pa.types.is_string(c.type):
            c = c.cast(pa.large_string())
        columns.append(c)
    return pa.table(columns, batch.schema.names)


def symbol(name: str) -> str:
    """The symbol of a table. Symbols have printable ASCII characters only."""
    return urllib.parse.quote(name, safe=" ")


def sorted_by_time(rows: pa.Table) -> bool:
    times = rows["time"].cast(pa.int64()).to_numpy()
    return bool((times[1:] >= times[:-1]).all())


def nulls_of(rows: pa.Table, table: Table) -> set[str]:
    """The fields with NULLs that dataframes cannot hold."""
    return {f.name for f in table.fields if f.type in ("bool", "int", "int32", "date") and rows[f.name].null_count}


def frame(rows: pa.Table, table: Table) -> pd.DataFrame:
    """The rows as a dataframe with the time as its index."""
    columns = {}
    for name in rows.column_names[1:]:
        c = rows[name]
        if name in nulls_of(rows, table):
            columns[name + MISSING] = pc.is_null(c).to_numpy()
            c = pc.fill_null(c, pa.scalar(0).cast(c.type))
        if pa.types.is_large_string(c.type):
            columns[name] = c.to_numpy(zero_copy_only=False)
        else:
            columns[name] = c.to_pandas()
    index = pd.DatetimeIndex(rows["time"].cast(pa.int64()).to_numpy().view("datetime64[ns]"), name="time")
    return pd.DataFrame({n: np.asarray(c) for n, c in columns.items()}, index=index)


class Reading:
    """What ArcticDB reads for a query: the times, the columns, the rows, and whether it aggregates them."""

    def __init__(self, query: Query, table: Table, marked: set[str]) -> None:
        self.date_range = None
        if query.start is not None or query.end is not None:
            self.date_range = tuple(None if t is None else pd.Timestamp(t) for t in (query.start, None if query.end is None else query.end - 1))
        column, conditions = QueryBuilder(), []
        if query.tag_in:
            numeric = table.tag(query.tag_in.key).numeric
            conditions.append(column[query.tag_in.key].isin([np.float64(v) if numeric else v for v in query.tag_in.values]))
        present = [k for k in query.demands if not query.tag_in or k != query.tag_in.key]
        if query.filter:
            present += [n for n in query.filter.fields if n in marked]
        if isinstance(query.shape, Activity):
            present.append(query.shape.field)
        conditions += [~column[n + MISSING] if n in marked else column[n].notnull() for n in dict.fromkeys(present)]
        if query.filter:
            for field in map(table.field, query.filter.fields):
                # A float of Python would be rounded to 32 bits.
                operator, bound = query.filter.compare, np.float64(query.filter.value)
                if field.integer:
                    operator, bound = wholes(operator, query.filter.value, field.type)
                c = column[field.name]
                conditions.append({">": c > bound, ">=": c >= bound, "<": c < bound, "<=": c <= bound, "=": c == bound}[operator])
        builder = QueryBuilder()
        for condition in conditions:
            builder = builder[condition]
        shape = query.shape
        self.aggregated = isinstance(shape, Buckets | Totals) and aggregates(shape, table) and not marked & set(shape.fields)
        if self.aggregated:
            names = [c.name for c in query.columns(table)][-len(shape.fields):]
            if isinstance(shape, Buckets):
                builder = builder.resample(f"{shape.width}ns", origin="epoch")
            else:
                builder = builder.groupby(shape.group_by)
            builder = builder.agg({n: (f, FUNCTIONS[shape.aggregate]) for n, f in zip(names, shape.fields)})
        needed = needed_columns(query)[1:]
        self.columns = None if self.aggregated else needed + [n + MISSING for n in needed if n in marked]
        self.builder = builder if conditions or self.aggregated else None


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
