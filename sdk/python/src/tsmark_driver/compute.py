"""Computes answers from rows, for databases that read rows and have no query language for the rest.

The driver reads the rows that a query selects and passes them to compute, which runs in its process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .model import (
    DAY, ActiveHours, ActiveShare, ActiveUnits, Activity, AnyRows, Buckets, Last, Means, NotSupported, Query, Rows, Sessions,
    Starts, Table, Totals, UnitMeans)
from .sql import wholes

_COMPARE: dict[str, Callable[..., Any]] = {
    ">": pc.greater, ">=": pc.greater_equal, "<": pc.less, "<=": pc.less_equal, "=": pc.equal}
_FUNCTIONS = {"avg": "mean", "max": "max", "min": "min", "sum": "sum", "count": "count"}


def needed_columns(query: Query) -> list[str]:
    """The columns of the rows that a query selects by and computes from: time is always the first."""
    s, names = query.shape, ["time", *query.demands]
    for member in ("group_by", "tag", "by", "unit", "over", "field"):
        names.append(getattr(s, member, ""))
    for member in ("group", "tags", "mean_tags", "fields"):
        names += getattr(s, member, ())
    having = getattr(s, "having", None)
    if having:
        names += [having.field, having.over]
    if query.tag_in:
        names.append(query.tag_in.key)
    if query.filter:
        names += query.filter.fields
    return [n for n in dict.fromkeys(names) if n]


def select(query: Query, table: Table, rows: pa.Table) -> pa.Table:
    """The rows that a query selects, if the database cannot do it."""
    conditions = [pc.is_valid(rows[k]) for k in query.demands]
    time = _integers(rows["time"])
    if query.start is not None:
        conditions.append(pc.greater_equal(time, query.start))
    if query.end is not None:
        conditions.append(pc.less(time, query.end))
    if query.tag_in:
        numeric, column = table.tag(query.tag_in.key).numeric, rows[query.tag_in.key]
        values = pa.array([float(v) for v in query.tag_in.values] if numeric else query.tag_in.values)
        conditions.append(pc.is_in(column.cast(values.type), value_set=values))
    if query.filter:
        for field in (table.field(name) for name in query.filter.fields):
            operator, bound = query.filter.compare, query.filter.value
            if field.integer:
                operator, bound = wholes(operator, bound, field.type)
            conditions.append(_COMPARE[operator](rows[field.name], bound))
    if isinstance(query.shape, Activity):
        conditions.append(pc.is_valid(rows[query.shape.field]))
    for condition in conditions:
        rows = rows.append_column(f"#{rows.num_columns}", condition)
    for _ in conditions:
        last = rows.column(rows.num_columns - 1)
        rows = rows.remove_column(rows.num_columns - 1).filter(last)
    return rows


def compute(query: Query, table: Table, rows: pa.Table) -> pa.Table:
    """The answer, from the rows that the query selects, in order of time, with its needed columns."""
    s = query.shape
    match s:
        case Buckets():
            keys = ["#bucket", *([s.group_by] if s.group_by else [])]
            out = _aggregate(s, rows.append_column("#bucket", _bucket(rows["time"], s.width)), keys)
            if s.order:
                out = _sort(out, keys, s.order)
            if s.limit:
                out = out.slice(0, s.limit)
        case Totals():
            out = _aggregate(s, rows, [s.group_by])
        case Rows() | AnyRows():
            out = rows.select(["time", *([s.tag] if s.tag else []), *s.fields])
            if isinstance(s, AnyRows):
                out = out.slice(0, s.limit)
            elif s.order:
                out = _sort(out, ["time", *([s.tag] if s.tag else [])], s.order)
        case Last():
            out = _last(s, rows)
        case Means():
            names = [*s.fields, *s.mean_tags, *([s.having.field] if s.having else [])]
            out = _group(rows, s.group, [(n, "mean") for n in names])
            if s.having:
                condition = _COMPARE[s.having.compare](out.column(out.num_columns - 1), s.having.value)
                out = out.remove_column(out.num_columns - 1).filter(condition)
        case UnitMeans():
            keys = list(dict.fromkeys([*s.group, s.unit, *([s.over] if s.over else [])]))
            units = _group(rows, keys, [(n, "mean") for n in s.fields])
            means = [units.column(len(keys) + i) for i in range(len(s.fields))]
            if s.over:
                means = [pc.divide(m, units[s.over]) for m in means]
            names = [f"#{i}" for i in range(len(means))]
            units = pa.table([*(units[g] for g in s.group), *means], [*s.group, *names])
            out = _group(units, s.group, [(n, "mean") for n in names])
        case Activity():
            out = _activity(s, rows)
        case _:
            raise NotSupported(f"tsmark_driver does not compute the shape {type(s).__name__}")
    return out.rename_columns([c.name for c in query.columns(table)])


def _integers(times: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times as nanoseconds since 1970."""
    if pa.types.is_timestamp(times.type):
        times = times.cast(pa.timestamp("ns", times.type.tz)).cast(pa.int64())
    return times


def _bucket(times: pa.ChunkedArray, width: int) -> pa.ChunkedArray:
    """The starts of the buckets of times."""
    times = _integers(times)
    rest = pc.subtract(times, pc.multiply(pc.divide(times, width), width))
    return pc.subtract(times, pc.if_else(pc.less(rest, 0), pc.add(rest, width), rest))


def _group(rows: pa.Table, keys: Sequence[str], values: Sequence[tuple[str, str]]) -> pa.Table:
    """The rows grouped by keys: the keys, and a column for each pair of a column and a function."""
    columns = [rows[k] for k in keys]
    for name, function in values:
        column = rows[name]
        if function in ("mean", "sum") and not pa.types.is_float64(column.type):
            column = column.cast(pa.float64())  # sums of integers overflow
        columns.append(column)
    names = [f"k{i}" for i in range(len(keys))] + [f"v{i}" for i in range(len(values))]
    grouped = pa.table(columns, names).group_by(names[:len(keys)], use_threads=False)
    out = grouped.aggregate([(n, f) for n, (_, f) in zip(names[len(keys):], values)])
    aggregates = [out[f"{n}_{f}"] for n, (_, f) in zip(names[len(keys):], values)]
    return pa.table([*(out[n] for n in names[:len(keys)]), *aggregates], [*keys, *names[len(keys):]])


def _aggregate(s: Buckets | Totals, rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    return _group(rows, keys, [(f, _FUNCTIONS[s.aggregate]) for f in s.fields])


def _sort(rows: pa.Table, keys: Sequence[str], order: str) -> pa.Table:
    return rows.sort_by([(k, "descending" if order == "desc" else "ascending") for k in keys])


def _last(s: Last, rows: pa.Table) -> pa.Table:
    numbered = pa.table([rows[s.by], pa.array(range(rows.num_rows), pa.int64())], ["by", "number"])
    rows = rows.take(numbered.group_by("by", use_threads=False).aggregate([("number", "max")])["number_max"])
    if s.having:
        value = rows[s.having.field]
        if s.having.over:
            value = pc.divide(value.cast(pa.float64()), rows[s.having.over])
        rows = rows.filter(_COMPARE[s.having.compare](value, s.having.value))
    return rows.select(["time", s.by, *s.tags, *s.fields])


def _activity(s: Activity, rows: pa.Table) -> pa.Table:
    """First whether each unit's buckets are active, then what the shape makes of that."""
    group = [g for g in getattr(s, "group", ()) if g != s.unit]
    measure = rows[s.field]
    if s.zeros:
        measure = pc.equal(measure, pa.scalar(0).cast(measure.type))
    rows = pa.table([*(rows[g] for g in group), rows[s.unit], _bucket(rows["time"], s.width), measure], [*group, s.unit, "#at", "#measure"])
    buckets = _group(rows, [*group, s.unit, "#at"], [("#measure", "mean")])
    buckets = buckets.append_column("#active", _COMPARE[s.compare](buckets["v0"], s.value))
    if isinstance(s, Sessions | Starts):
        return _changes(s, group, buckets)
    buckets = buckets.filter(buckets["#active"])
    buckets = buckets.append_column("#day", _bucket(buckets["#at"], DAY))
    match s:
        case ActiveUnits():
            out = _group(buckets, [s.unit], [("#at", "count")])
            return out.filter(pc.greater(out["v0"], s.more)).select([s.unit])
        case ActiveHours():
            out = _group(buckets, [s.unit], [("#at", "count"), ("#day", "count_distinct")])
            hours = pc.divide(pc.multiply(out["v0"].cast(pa.float64()), s.width / 3_600_000_000_000), out["v1"].cast(pa.float64()))
            return pa.table([out[s.unit], hours], [s.unit, "hours"])
        case ActiveShare():
            keys = ["#day", *s.group]
            out = _group(buckets, keys, [("#at", "count")])
            share = pc.divide(out["v0"].cast(pa.float64()), DAY / s.width)
            return _sort(pa.table([*(out[k] for k in keys), share], [*keys, "#share"]), keys, "asc")
    raise NotSupported(f"tsmark_driver does not compute the shape {type(s).__name__}")


def _changes(s: Sessions | Starts, group: Sequence[str], buckets: pa.Table) -> pa.Table:
    """The shapes that look from a bucket to its unit's bucket before it."""
    keys = [*group, s.unit]
    buckets = _sort(buckets, [*keys, "#at"], "asc").combine_chunks()
    was = _neighbor(buckets, keys, "#active", -1)
    if isinstance(s, Starts):
        started = pc.and_(buckets["#active"], pc.invert(was))
        return _group(buckets.filter(started), s.group, [("#at", "count")])
    changes = buckets.filter(pc.not_equal(buckets["#active"], was)).combine_chunks()
    length = pc.subtract(_neighbor(changes, keys, "#at", 1), changes["#at"])
    seconds = pc.divide(length.cast(pa.float64()), 1e9)
    sessions = pa.table([_bucket(changes["#at"], DAY), changes[s.unit], seconds], ["#day", s.unit, "#seconds"])
    sessions = sessions.filter(pc.and_(changes["#active"], pc.is_valid(seconds)))
    return _sort(_group(sessions, ["#day", s.unit], [("#seconds", "mean")]), ["#day", s.unit], "asc")


def _neighbor(rows: pa.Table, keys: Sequence[str], name: str, step: int) -> pa.Array:
    """The value of a column in the next row, or with step -1 the one before, of the same keys; else NULL."""
    def shift(column: pa.ChunkedArray) -> pa.Array:
        values = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        none = pa.nulls(min(1, len(values)), values.type)
        parts = [none, values[:-1]] if step < 0 else [values[1:], none]
        return pa.concat_arrays(parts)

    value = shift(rows[name])
    for key in keys:
        same = pc.fill_null(pc.equal(rows[key], shift(rows[key])), False)
        value = pc.if_else(same, value, pa.nulls(len(value), value.type))
    return value
