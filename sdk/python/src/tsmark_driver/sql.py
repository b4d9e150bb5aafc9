"""Renders queries as SQL over wide tables: a column time, a column per tag, a column per field.

What differs between databases is a Dialect; what a query means is written once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from .model import (
    DAY, ActiveHours, ActiveShare, ActiveUnits, Activity, AnyRows, Buckets, Field, Filter, Last, Means,
    NotSupported, PromQL, Query, Rows, RowSet, Schema, Sessions, Starts, Table, Totals, UnitMeans)

_LEAST, _MOST = {"int": -(1 << 63), "int32": -(1 << 31)}, {"int": (1 << 63) - 1, "int32": (1 << 31) - 1}


class Dialect:
    """The SQL of one database. Override the functions and attributes that differ.

    time, bucket and seconds have no default, and types must have all types that tables can have.
    """

    name = "the database"
    """Its name in messages."""
    precision = 1
    """The finest step of its timestamps, in nanoseconds."""
    types: ClassVar[dict[str, str]] = {
        "int": "BIGINT", "int32": "INTEGER", "float": "DOUBLE", "float32": "REAL", "text": "VARCHAR", "bool": "BOOLEAN",
        "timestamp": "TIMESTAMP", "date": "DATE", "blob": "BLOB", "time": "TIMESTAMP", "tag": "VARCHAR", "number": "DOUBLE"}
    """The column types: of fields by their types, and of time, tags, and numeric tags."""
    reserved: frozenset[str] = frozenset()
    """Lower-case words that must be quoted as names."""
    decimal_means = False
    """Means of integers are decimals, or made of sums that overflow."""
    set_all = True
    """It has INTERSECT ALL and EXCEPT ALL."""
    windows = True
    """It has WITH and window functions."""

    def time(self, ns: int) -> str:
        """The literal of a time, in nanoseconds since 1970: a multiple of precision."""
        raise NotImplementedError

    def bucket(self, width: int, time: str) -> str:
        """The expression of the start of the bucket that holds a time. Buckets start at multiples of
        the width, in nanoseconds, since 1970, before 1970 as well."""
        raise NotImplementedError

    def seconds(self, start: str, end: str) -> str:
        """The expression of the seconds from one time to a later one, as a double."""
        raise NotImplementedError

    def ident(self, name: str) -> str:
        """A name as SQL writes it: quoted where it must be."""
        plain = name[:1].isalpha() or name[:1] == "_"
        if plain and name.isascii() and name.replace("_", "a").isalnum() and name == name.lower() and name not in self.reserved:
            return name
        if "\0" in name:
            raise NotSupported(f"SQL text cannot hold the NUL character in {name!r}")
        return '"' + name.replace('"', '""') + '"'

    def text(self, value: str) -> str:
        """The literal of a text."""
        if "\0" in value:
            raise NotSupported(f"SQL text cannot hold the NUL character in {value!r}")
        return "'" + value.replace("'", "''") + "'"

    def double(self, value: float) -> str:
        """The literal of a finite double."""
        text = repr(float(value))
        return text if "e" in text else text.removesuffix(".0") + "e0"

    def operand(self, type: str, column: str) -> str:
        """A numeric field in a comparison with a double or an integer, which must not be rounded."""
        return column

    def whole(self, type: str, column: str) -> str:
        """The integer of a column of a field type: itself, nanoseconds since 1970, or days since 1970."""
        return column if type == "int" else f"CAST({column} AS BIGINT)"

    def figures(self, type: str, column: str) -> Figures:
        """The expressions for the figures of a column of a field type; "time" is the column of times."""
        if type in ("int", "time", "timestamp", "date"):
            whole = self.whole(type, column)
            return Figures(f"{whole} & 4294967295", column, f"{whole} >> 32")
        if type in ("text", "blob"):
            return Figures("", column)
        if type == "bool":
            return Figures(f"CASE WHEN {column} THEN 1 ELSE 0 END", "")
        return Figures(column, column)

    # The expressions for functions over time of metrics, in milliseconds since 1970.

    double_type = "DOUBLE"
    """The type of doubles in a CAST."""

    def milliseconds(self, time: str) -> str:
        """The milliseconds of a time, as an integer."""
        raise NotSupported(f"the driver has no SQL of {self.name} for functions over time of metrics")

    def from_milliseconds(self, ms: str) -> str:
        """The time of milliseconds."""
        raise NotSupported(f"the driver has no SQL of {self.name} for functions over time of metrics")

    def numbers(self, count: int) -> str:
        """A source of rows called numbers, whose only column n has the numbers from 0 to before count."""
        values = ", ".join(f"({i})" for i in range(count))
        return f"(VALUES {values}) AS numbers(n)"

    def matches(self, text: str, pattern: str) -> str:
        """The condition that a text matches a regular expression, which has anchors."""
        raise NotSupported(f"{self.name} has no regular expressions")

    def render(self, query: Query, schema: Schema) -> str:
        """The query as one SELECT. It raises NotSupported with the reason if the database cannot answer it."""
        if isinstance(query.shape, PromQL) and query.shape.over is None:  # such a query is of no table
            raise NotSupported(f"SQL cannot express the PromQL {query.shape.expression}")
        return _Renderer(self, query, schema.table(query.table)).render()

    def create(self, table: Table) -> list[str]:
        """The statements that create a table."""
        types = [self.types["time"], *(self.types["number" if t.numeric else "tag"] for t in table.tags),
                 *(self.types[f.type] for f in table.fields)]
        columns = ", ".join(f"{self.ident(n)} {t}" for n, t in zip(table.column_names, types))
        return [f"CREATE TABLE {self.ident(table.name)} ({columns})"]


class Figures:
    """Expressions for a census: the summands, the values to order, and the upper 32 bits of each summand.

    With high, sum are the lower 32 bits: a sum of whole integers could overflow. An empty expression
    is a figure that the database cannot compute. Sums of int, int32, bool, timestamp and date are whole
    numbers, in units of the given size (1000: microseconds).
    """

    def __init__(self, sum: str, order: str, high: str = "", unit: int = 1) -> None:
        self.sum, self.order, self.high, self.unit = sum, order, high, unit


class _Renderer:
    def __init__(self, dialect: Dialect, query: Query, table: Table) -> None:
        self.d, self.q, self.table = dialect, query, table
        self.rows, self.time = dialect.ident(query.table), dialect.ident("time")
        self.lines: list[str] = []

    # The shapes.

    def render(self) -> str:
        q, s = self.q, self.q.shape
        if isinstance(s, Buckets | Activity) and s.width % self.d.precision:
            raise NotSupported(f"{self.d.name} cannot have buckets of {s.width} ns, its times are multiples of {self.d.precision} ns")
        match s:
            case Buckets():
                keys = [f"{self.d.bucket(s.width, self.time)} AS {self.time}", *self.idents(s.group_by)]
                self.scan(keys + self.aggregates(s), len(keys), s.order, s.limit)
            case Totals():
                self.scan([self.d.ident(s.group_by), *self.aggregates(s)], 1)
            case Rows():
                self.scan(self.row_columns(s), order=s.order)
            case AnyRows():
                self.scan(self.row_columns(s), limit=s.limit)
            case RowSet():
                self.row_set(s)
            case Last():
                self.last(s)
            case Means():
                self.means(s)
            case UnitMeans():
                self.unit_means(s)
            case Activity():
                self.activity(s)
            case PromQL():
                from . import metrics
                return metrics.render(self.d, self.q, s, self.table)
            case _:
                raise NotSupported(f"tsmark_driver has no SQL for the shape {type(s).__name__}")
        return "\n".join(self.lines)

    def scan(self, columns: Sequence[str], groups: int = 0, order: str = "", limit: int = 0) -> None:
        self.select("", columns)
        self.source("")
        if groups:
            self.line(f"GROUP BY {_numbers(groups)}")
        keys = groups or (2 if isinstance(self.q.shape, Rows) and self.q.shape.tag else 1)
        if order:
            suffix = " DESC" if order == "desc" else ""
            self.line("ORDER BY " + ", ".join(f"{i}{suffix}" for i in range(1, keys + 1)))
        if limit:
            self.line(f"LIMIT {limit}")

    def row_columns(self, s: Rows | AnyRows | RowSet) -> list[str]:
        return [self.time, *self.idents(s.tag, *s.fields)]

    def row_set(self, s: RowSet) -> None:
        if s.all and s.operation != "union" and not self.d.set_all:
            raise NotSupported(f"{self.d.name} has no {s.operation.upper()} ALL")
        self.scan(self.row_columns(s))
        operand = list(self.lines)
        for _ in range(s.operands - 1):
            self.line(s.operation.upper() + (" ALL" if s.all else ""))
            self.lines += operand

    def last(self, s: Last) -> None:
        """An inner query finds the newest time of each value, which is cheaper than to sort whole rows."""
        by, over = self.d.ident(s.by), s.having.over if s.having else ""
        names = [self.time, by, *self.idents(*s.tags, *s.fields)]
        self.line("SELECT " + ", ".join(names))
        self.line("FROM (")
        inner = names + ([f"{self.d.ident(over)} AS divisor"] if over else [])
        self.select("  ", [*inner, f"row_number() OVER (PARTITION BY {by} ORDER BY {self.time} DESC) AS place"])
        self.line(f"  FROM {self.rows}")
        self.line("  JOIN (")
        self.line(f"    SELECT {by} AS newest_tag, max({self.time}) AS newest_time")
        self.source("    ")
        self.line("    GROUP BY 1")
        self.line(f"  ) AS newest ON newest_tag = {by} AND newest_time = {self.time}")
        self.where("  ")
        self.line(") AS newest_rows")
        self.line("WHERE place = 1")
        if s.having:
            value = self.d.ident(s.having.field) + (" / divisor" if over else "")
            self.line("  AND " + self.compare(value, s.having.compare, s.having.value))

    def means(self, s: Means) -> None:
        group = self.idents(*s.group)
        values = [self.mean(f) for f in s.fields] + [f"avg({self.d.ident(k)})" for k in s.mean_tags]
        self.select("", group + _alias(values, self.names(len(values))))
        self.source("")
        self.line(f"GROUP BY {_numbers(len(group))}")
        if s.having:
            self.line("HAVING " + self.compare(self.mean(s.having.field), s.having.compare, s.having.value))

    def unit_means(self, s: UnitMeans) -> None:
        group, names = self.idents(*s.group), self.names(len(s.fields))
        over = f" / {self.d.ident(s.over)}" if s.over else ""
        self.select("", group + [f"avg({n}) AS {n}" for n in names])
        self.line("FROM (")
        self.select("  ", group + _alias([self.mean(f) + over for f in s.fields], names))
        self.source("  ")
        self.line(f"  GROUP BY {', '.join([*(str(i + 1) for i in range(len(group))), self.d.ident(s.unit)])}")
        self.line(") AS units")
        self.line(f"GROUP BY {_numbers(len(group))}")

    def activity(self, s: Activity) -> None:
        """First whether each unit's buckets are active, then what the shape makes of that."""
        if not self.d.windows and isinstance(s, Sessions | Starts):
            raise NotSupported(f"{self.d.name} has no window functions, which look from a bucket to the one before it")
        unit, day = self.d.ident(s.unit), self.d.bucket(DAY, "bucket")
        group = self.idents(*s.group) if isinstance(s, ActiveShare | Starts) else []
        measure = self.mean(s.field)
        if s.zeros:
            measure = f"avg(CASE WHEN {self.d.ident(s.field)} = 0 THEN {self.d.double(1)} ELSE {self.d.double(0)} END)"
        keys = [*group, unit, f"{self.d.bucket(s.width, self.time)} AS bucket"]
        self.line("WITH buckets AS (")
        self.select("  ", [*keys, self.compare(measure, s.compare, s.value) + " AS active"])
        self.source("  ")
        self.line(f"  GROUP BY {_numbers(len(keys))}")
        if isinstance(s, Sessions | Starts):
            partition = ", ".join([*group, unit])
            self.line("), changes AS (")
            self.select("  ", [*group, unit, "bucket", "active",
                               f"lag(active) OVER (PARTITION BY {partition} ORDER BY bucket) AS was_active"])
            self.line("  FROM buckets")
        if isinstance(s, Sessions):
            self.line("), sessions AS (")
            self.select("  ", [unit, "bucket AS session_start", "active",
                               f"lead(bucket) OVER (PARTITION BY {unit} ORDER BY bucket) AS session_end"])
            self.line("  FROM changes")
            self.line("  WHERE active <> was_active")
        self.line(")")
        match s:
            case ActiveUnits():
                self.select("", [unit])
                self.line("FROM buckets\nWHERE active\nGROUP BY 1")
                self.line(f"HAVING count(*) > {s.more}")
            case ActiveHours():
                hours = self.d.double(s.width / 3_600_000_000_000)
                self.select("", [unit, f"count(*) * {hours} / count(DISTINCT {day}) AS hours"])
                self.line("FROM buckets\nWHERE active\nGROUP BY 1")
            case ActiveShare():
                keys = [f"{day} AS day", *group]
                self.select("", [*keys, f"count(*) / {self.d.double(DAY / s.width)} AS share"])
                self.line("FROM buckets\nWHERE active")
                self.line(f"GROUP BY {_numbers(len(keys))}\nORDER BY {_numbers(len(keys))}")
            case Starts():
                self.select("", [*group, "count(*) AS starts"])
                self.line("FROM changes\nWHERE active AND NOT was_active")
                self.line(f"GROUP BY {_numbers(len(group))}")
            case Sessions():
                day = self.d.bucket(DAY, "session_start")
                self.select("", [f"{day} AS day", unit, f"avg({self.d.seconds('session_start', 'session_end')}) AS seconds"])
                self.line("FROM sessions\nWHERE active AND session_end IS NOT NULL\nGROUP BY 1, 2\nORDER BY 1, 2")

    # The parts of a statement.

    def line(self, text: str) -> None:
        self.lines.append(text)

    def select(self, indent: str, columns: Sequence[str]) -> None:
        self.line(f"{indent}SELECT")
        self.line(",\n".join(f"{indent}  {c}" for c in columns))

    def source(self, indent: str) -> None:
        self.line(f"{indent}FROM {self.rows}")
        self.where(indent)

    def where(self, indent: str) -> None:
        for i, condition in enumerate(self.conditions()):
            self.line(f"{indent}{'  AND' if i else 'WHERE'} {condition}")

    def conditions(self) -> list[str]:
        q, d, out = self.q, self.d, []
        if q.tag_in:
            numeric = self.table.tag(q.tag_in.key).numeric
            values = [d.double(float(v)) if numeric else d.text(v) for v in q.tag_in.values]
            out.append(f"{d.ident(q.tag_in.key)} IN ({', '.join(values)})")
        out += [f"{d.ident(k)} IS NOT NULL" for k in q.demands if not q.tag_in or k != q.tag_in.key]
        if q.filter:
            fields = [self.table.field(name) for name in q.filter.fields]
            out += [d.operand(f.type, d.ident(f.name)) + self.compare_field(q.filter, f) for f in fields]
        if isinstance(q.shape, Activity):
            out.append(f"{d.ident(q.shape.field)} IS NOT NULL")
        start, end = self.round_up(q.start), self.round_up(q.end)
        if start is not None and end is not None and end - start == d.precision:
            return [*out, f"{self.time} = {d.time(start)}"]
        if start is not None:
            out.append(f"{self.time} >= {d.time(start)}")
        if end is not None:
            out.append(f"{self.time} < {d.time(end)}")
        return out

    def round_up(self, ns: int | None) -> int | None:
        """The first time at or after ns that the database can name."""
        return None if ns is None else -(-ns // self.d.precision) * self.d.precision

    def compare_field(self, f: Filter, field: Field) -> str:
        if not field.integer:
            return f" {f.compare} {self.d.double(f.value)}"
        operator, bound = wholes(f.compare, f.value, field.type)
        return " IS NOT NULL" if (operator, bound) == (">=", _LEAST[field.type]) else f" {operator} {bound}"

    def compare(self, expression: str, operator: str, value: float) -> str:
        return f"{expression} {operator} {self.d.double(value)}"

    def idents(self, *names: str) -> list[str]:
        return [self.d.ident(n) for n in names if n]

    def names(self, n: int) -> list[str]:
        """The names of the last n columns of the answer."""
        return self.idents(*(c.name for c in self.q.columns(self.table)[-n:]))

    def mean(self, field: str) -> str:
        decimal = self.d.decimal_means and self.table.field(field).integer
        return f"avg({self.d.ident(field)}{' * ' + self.d.double(1) if decimal else ''})"

    def aggregates(self, s: Buckets | Totals) -> list[str]:
        out = []
        for name, field in zip(self.names(len(s.fields)), s.fields):
            column = self.d.ident(field)
            if s.aggregate == "avg":
                out.append(f"{self.mean(field)} AS {name}")
                continue
            if s.aggregate == "sum" and self.table.field(field).type != "float":
                column += f" * {self.d.double(1)}"  # sums of integers have types of their own, and bounds
            out.append(f"{s.aggregate}({column}) AS {name}")
        return out


def _numbers(n: int) -> str:
    return ", ".join(str(i + 1) for i in range(n))


def _alias(expressions: Sequence[str], names: Sequence[str]) -> list[str]:
    return [f"{e} AS {n}" for e, n in zip(expressions, names)]


def wholes(operator: str, bound: float, type: str) -> tuple[str, int]:
    """The comparison of integers of a type that means the comparison with a bound, with an integer of the type.

    If all integers fulfill it, it is >= the least one; if none does, it is > the largest one.
    """
    least, most = _LEAST[type], _MOST[type]
    down, up = math.floor(bound), math.ceil(bound)
    if operator == ">" and down >= most or operator == ">=" and up > most or operator == "<" and up <= least or \
            operator == "=" and (down != up or not least <= down <= most):
        return ">", most
    if operator == ">" and down < least or operator == ">=" and up <= least or operator == "<" and up > most:
        return ">=", least
    return (operator, down) if operator in (">", "=") else (operator, up)
