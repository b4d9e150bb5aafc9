"""The contents of tables, computed from record batches."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .model import NULL, Census, Column, Content, Field, Table, value


def text_sum(text: bytes | str) -> int:
    """The summand of a text in a census."""
    if isinstance(text, str):
        text = text.encode()
    return int.from_bytes(hashlib.md5(text, usedforsecurity=False).digest()[:8], "big")


def signed(n: int) -> int:
    """An integer modulo 2^64, in two's complement."""
    n &= (1 << 64) - 1
    return n - (1 << 64) if n >> 63 else n


_ARROW = {"int": pa.int64(), "int32": pa.int32(), "float": pa.float64(), "float32": pa.float32(), "bool": pa.bool_(), "text": pa.utf8(),
          "timestamp": pa.timestamp("ns", "UTC"), "date": pa.date32(), "blob": pa.binary()}


def arrow_schema(table: Table) -> pa.Schema:
    """The Arrow schema of the batches of a table."""
    text = pa.dictionary(pa.int32(), pa.utf8())
    types = [_ARROW["timestamp"], *(pa.float64() if t.numeric else text for t in table.tags), *(_ARROW[f.type] for f in table.fields)]
    return pa.schema(list(zip(table.column_names, types)))


def plain(array: pa.Array) -> pa.Array:
    """The array without dictionaries; times are integers of nanoseconds, dates of days."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_timestamp(array.type):
        return array.cast(pa.timestamp("ns", array.type.tz)).cast(pa.int64())
    if pa.types.is_date(array.type):
        return array.cast(pa.date32()).cast(pa.int32())
    return array


def rows_of(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    """The rows of a batch as Python values: times are integers of nanoseconds since 1970, dates of days."""
    return zip(*(plain(c).to_pylist() for c in batch.columns))


def batches_of(rows: Iterable[Sequence[Any]], columns: Sequence[Column], size: int = 10_000) -> Iterator[pa.RecordBatch]:
    """Record batches of rows of Python values, as cursors return them.

    Times are integers of nanoseconds, dates of days, and booleans may be 0 and 1.
    """
    types = {"int": pa.int64(), "float": pa.float64(), "time": pa.int64(), "date": pa.int32(), "bool": pa.bool_(), "text": pa.binary()}
    convert = {"float": float, "bool": bool}
    names = [c.name for c in columns]
    source = iter(rows)
    while part := list(itertools.islice(source, size)):
        arrays = []
        for column, values in zip(columns, zip(*part)):
            f = convert.get(column.kind)
            arrays.append(pa.array([v if v is None or f is None else f(v) for v in values], types[column.kind]))
        yield pa.RecordBatch.from_arrays(arrays, names)


class _Fold:
    def __init__(self, kind: str) -> None:
        self.kind, self.count, self.sum = kind, 0, 0.0 if kind == "float" else 0
        self.min: Any = None
        self.max: Any = None

    def add(self, array: pa.Array) -> None:
        array = plain(array)
        self.count += len(array) - array.null_count
        if array.null_count == len(array):
            return
        if self.kind == "text":
            for text, n in ((s["values"], s["counts"]) for s in pc.value_counts(array.drop_null()).to_pylist()):
                self.sum += n * text_sum(text)
        else:
            if self.kind == "float":
                array = array.cast(pa.float64())
            self.sum += pc.sum(array).as_py()
        if self.kind == "bool":
            return
        least, most = (v.as_py() for v in pc.min_max(array).values())
        self.min = least if self.min is None or least < self.min else self.min
        self.max = most if self.max is None or most > self.max else self.max

    def content(self) -> Content:
        if self.count == 0:
            return Content(0, NULL, NULL, NULL)
        total = value(self.sum, "float") if self.kind == "float" else value(signed(int(self.sum)), "int")
        if self.kind == "bool":
            return Content(self.count, total)
        return Content(self.count, total, value(self.min, self.kind), value(self.max, self.kind))


def fold(table: Table, batches: Iterable[pa.RecordBatch]) -> Census:
    """The census of batches with the columns of the table in their order."""
    fields: Sequence[Field] = table.fields
    times, folds, rows = _Fold("time"), [_Fold(f.kind) for f in fields], 0
    for batch in batches:
        rows += batch.num_rows
        times.add(batch.column(0))
        for f, column in zip(folds, batch.columns[1 + len(table.tags):]):
            f.add(column)
    return Census(rows, times.content(), [f.content() for f in folds])


def distinct(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The distinct rows of batches."""
    decoded = []
    for b in batches:
        columns = [c.dictionary_decode() if pa.types.is_dictionary(c.type) else c for c in b.columns]
        decoded.append(pa.Table.from_arrays(columns, [str(i) for i in range(b.num_columns)]))
    if decoded:
        together = pa.concat_tables(decoded)
        yield from together.group_by(together.column_names).aggregate([]).to_batches()
