"""The data of the protocol: schemas, queries, options, capabilities, contents and errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

Options = Mapping[str, str]
"""The value of every option of a driver, by name. tsmark has checked them and added the defaults."""

DAY = 86_400_000_000_000
"""Nanoseconds of a day."""


class DriverError(Exception):
    """An error of the driver. Its message is one line: what failed, and how to fix it."""


class NotSupported(DriverError):
    """The database cannot do it. tsmark reports n/a with the message as the reason."""


class InvalidInput(DriverError):
    """The user gave an option or a schema that cannot work."""


class Unreachable(DriverError):
    """The database does not answer, or the rows may be sent again: some of them may be stored."""


class Refused(DriverError):
    """The database takes no rows for now, and stored none of these."""


class Denied(DriverError):
    """The user lacks a right. The message names it."""


class ExistingData(DriverError):
    """The place holds data that tsmark did not create."""


@dataclass(frozen=True)
class Tag:
    """A tag of a table. Its values are texts, or with type "float" numbers. A series may lack it."""

    key: str
    type: str = "text"

    @property
    def numeric(self) -> bool:
        return self.type == "float"


@dataclass(frozen=True)
class Field:
    """A field of a table. Its type is int, float, text, bool, int32, float32, timestamp, date or blob."""

    name: str
    type: str
    length: int = 0
    """Number of characters of each text; 0: texts have any length."""
    longest: int = 0

    @property
    def integer(self) -> bool:
        return self.type in ("int", "int32")

    @property
    def textual(self) -> bool:
        return self.type in ("text", "blob")

    @property
    def kind(self) -> str:
        """The kind of the values in answers."""
        return {"int": "int", "int32": "int", "float": "float", "float32": "float", "bool": "bool",
                "timestamp": "time", "date": "date"}.get(self.type, "text")


@dataclass(frozen=True)
class Table:
    """A table: a column time, then the tags, then the fields, in this order in record batches."""

    name: str
    tags: tuple[Tag, ...]
    fields: tuple[Field, ...]
    ragged: bool = False
    dense: bool = False
    metric: Mapping[str, Any] | None = None
    stored: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)
    """What Table.of made it from: a part of plans."""

    def tag(self, key: str) -> Tag:
        return next(t for t in self.tags if t.key == key)

    def has_tag(self, key: str) -> bool:
        return any(t.key == key for t in self.tags)

    def field(self, name: str) -> Field:
        return next(f for f in self.fields if f.name == name)

    @property
    def column_names(self) -> list[str]:
        return ["time", *(t.key for t in self.tags), *(f.name for f in self.fields)]

    @classmethod
    def of(cls, o: Mapping[str, Any]) -> Table:
        return cls(
            o["name"],
            tuple(Tag(t["key"], t.get("type") or "text") for t in o.get("tags") or ()),
            tuple(Field(f["name"], f["type"], f.get("length", 0), f.get("longest", 0)) for f in o.get("fields") or ()),
            bool(o.get("ragged")), bool(o.get("dense")), o.get("metric"), o)


@dataclass(frozen=True)
class Schema:
    """All tables of a dataset, and its number of series."""

    tables: tuple[Table, ...]
    series: int = 0

    def table(self, name: str) -> Table:
        for t in self.tables:
            if t.name == name:
                return t
        raise InvalidInput(f'there is no table "{name}"')

    @classmethod
    def of(cls, o: Mapping[str, Any]) -> Schema:
        return cls(tuple(Table.of(t) for t in o.get("tables") or ()), o.get("series", 0))


@dataclass(frozen=True)
class Column:
    """A column of an answer. Its kind is time, int, float, text, bool or date."""

    name: str
    kind: str


@dataclass(frozen=True)
class Condition:
    """A comparison that keeps a row of an answer, of a field that is first divided by the tag over."""

    field: str
    compare: str
    value: float
    over: str = ""


@dataclass(frozen=True)
class Filter:
    """Keeps rows in which all the fields compare with the value. NULL and NaN do not."""

    fields: tuple[str, ...]
    compare: str
    value: float


@dataclass(frozen=True)
class TagIn:
    """Keeps rows whose tag has one of the values. Those of a numeric tag are decimal numbers."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Shape:
    """What a query computes from its rows: one of the classes below."""


@dataclass(frozen=True)
class Buckets(Shape):
    """Aggregates per time bucket and value of group_by; an empty bucket has no row.

    The aggregate is max, min, avg, sum or count; avg and sum are doubles. Buckets start at multiples
    of the width since 1970. Columns: time, group_by, the aggregates.
    """

    aggregate: str
    fields: tuple[str, ...]
    width: int
    """In nanoseconds."""
    group_by: str = ""
    order: str = ""
    """"asc" or "desc", by time and group_by; empty: any."""
    limit: int = 0
    """Rows at most, of the order; 0: all."""


@dataclass(frozen=True)
class Totals(Shape):
    """Aggregates over all rows of each value of a tag. Columns: group_by, the aggregates."""

    aggregate: str
    fields: tuple[str, ...]
    group_by: str


@dataclass(frozen=True)
class Rows(Shape):
    """The rows themselves. Columns: time, tag, the fields."""

    fields: tuple[str, ...]
    tag: str = ""
    order: str = ""


@dataclass(frozen=True)
class AnyRows(Shape):
    """Any of the rows, up to the limit. Columns as of Rows."""

    fields: tuple[str, ...]
    tag: str
    limit: int


@dataclass(frozen=True)
class RowSet(Shape):
    """A set operation (union, intersect, except) on copies of the rows. Columns as of Rows."""

    fields: tuple[str, ...]
    tag: str
    operation: str
    all: bool
    operands: int


@dataclass(frozen=True)
class Last(Shape):
    """The newest row of each value of a tag, with its NULLs, if it fulfills having.

    Only rows that match compete. Columns: time, by, the tags, the fields.
    """

    by: str
    tags: tuple[str, ...]
    fields: tuple[str, ...]
    having: Condition | None = None


@dataclass(frozen=True)
class Means(Shape):
    """Means of fields and numeric tags for each combination of the group's tags. Columns: group, the means."""

    group: tuple[str, ...]
    fields: tuple[str, ...]
    mean_tags: tuple[str, ...] = ()
    having: Condition | None = None


@dataclass(frozen=True)
class UnitMeans(Shape):
    """Means of the means of each unit, which are first divided by the tag over. Columns: group, the means."""

    group: tuple[str, ...]
    unit: str
    fields: tuple[str, ...]
    over: str = ""


@dataclass(frozen=True)
class Activity(Shape):
    """Common to the shapes below: a bucket of a unit is active if its mean of the field compares with the value.

    With zeros, the share of rows in which the field is 0 is compared instead. Rows without a value do
    not count.
    """

    unit: str
    width: int
    field: str
    zeros: bool
    compare: str
    value: float


@dataclass(frozen=True)
class ActiveUnits(Activity):
    """The units that have more active buckets. Column: unit."""

    more: int = 0


@dataclass(frozen=True)
class ActiveHours(Activity):
    """For each unit, the mean hours of active buckets per day that has one. Columns: unit, hours."""


@dataclass(frozen=True)
class Sessions(Activity):
    """For each unit and day, the mean seconds of the sessions that begin on it. Columns: day, unit, seconds; ascending.

    A session begins with an active bucket behind one that is not, and ends at the next one that is
    not; buckets without a row are passed over. One that has not ended does not count.
    """


@dataclass(frozen=True)
class ActiveShare(Activity):
    """For each day and group, the active buckets of all units, divided by the buckets of a day.

    Columns: day, group, share; ascending.
    """

    group: tuple[str, ...] = ()


@dataclass(frozen=True)
class Starts(Activity):
    """For each group, how often a unit's active bucket follows one that is not. Columns: group, starts."""

    group: tuple[str, ...] = ()


@dataclass(frozen=True)
class PromQL(Shape):
    """A PromQL expression at each step (nanoseconds) from start to end, both inclusive; step 0: at end."""

    expression: str
    step: int = 0
    over: Mapping[str, Any] | None = None
    """Its meaning as a function over time of one metric; None: only PromQL can express it."""


@dataclass(frozen=True)
class Query:
    """Selects rows of a table; its shape computes the answer from them."""

    table: str
    shape: Shape
    start: int | None = None
    """Rows at or after, in nanoseconds since 1970; None: no bound."""
    end: int | None = None
    """Rows before."""
    tag_in: TagIn | None = None
    filter: Filter | None = None
    present: tuple[str, ...] = ()
    """Tags that a row must have, in addition to those that the shape demands: see demands."""
    type: str = ""
    id: int = 0
    stored: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)
    """What Query.of made it from: a part of plans."""

    @property
    def demands(self) -> list[str]:
        """The tags that a row must have: those of present, and those that the shape groups or orders by."""
        s, tags = self.shape, list(self.present)
        match s:
            case Buckets() | Totals():
                tags.append(s.group_by)
            case Rows() if s.order:
                tags.append(s.tag)
            case Last():
                tags.append(s.by)
            case Means():
                tags += s.group
            case UnitMeans():
                tags += [*s.group, s.unit]
            case ActiveShare() | Starts():
                tags += [*s.group, s.unit]
            case Activity():
                tags.append(s.unit)
        return [t for t in dict.fromkeys(tags) if t]

    def columns(self, table: Table) -> list[Column]:
        """The columns of the answer: time, tags, values."""
        def tags(*keys: str) -> list[Column]:
            return [Column(k, "float" if table.tag(k).numeric else "text") for k in keys if k]

        def raw(names: Iterable[str]) -> list[Column]:
            return [Column(n, table.field(n).kind) for n in names]

        def aggregates(aggregate: str, names: Iterable[str]) -> list[Column]:
            if aggregate == "avg":
                return means(names)
            kinds = {"sum": "float", "count": "int"}
            return [Column(f"{aggregate}_{n}", kinds.get(aggregate) or table.field(n).kind) for n in names]

        def means(names: Iterable[str]) -> list[Column]:
            return [Column("mean_" + n, "float") for n in names]

        time, day = [Column("time", "time")], [Column("day", "time")]
        match self.shape:
            case Buckets() as s:
                return time + tags(s.group_by) + aggregates(s.aggregate, s.fields)
            case Totals() as s:
                return tags(s.group_by) + aggregates(s.aggregate, s.fields)
            case Rows() | AnyRows() | RowSet() as s:
                return time + tags(s.tag) + raw(s.fields)
            case Last() as s:
                return time + tags(s.by, *s.tags) + raw(s.fields)
            case Means() as s:
                return tags(*s.group) + means([*s.fields, *s.mean_tags])
            case UnitMeans() as s:
                return tags(*s.group) + means(s.fields)
            case ActiveUnits() as s:
                return tags(s.unit)
            case ActiveHours() as s:
                return tags(s.unit) + [Column("hours", "float")]
            case Sessions() as s:
                return day + tags(s.unit) + [Column("seconds", "float")]
            case ActiveShare() as s:
                return day + tags(*s.group) + [Column("share", "float")]
            case Starts() as s:
                return tags(*s.group) + [Column("starts", "int")]
            case PromQL(over=None):
                return time + [Column("labels", "text"), Column("value", "float")]
            case PromQL(over=over) if over is not None:
                labels = over.get("by", ()) if over.get("aggregate") else [t.key for t in table.tags]
                return time + [Column(k, "text") for k in labels] + [Column("value", "float")]
        raise NotSupported(f"the shape {type(self.shape).__name__}")

    @classmethod
    def of(cls, o: Mapping[str, Any]) -> Query:
        """The query of its stored JSON."""
        tag_in, above = o.get("in"), o.get("above")
        return cls(
            o.get("table", ""), _shape(o), _time(o.get("start")), _time(o.get("end")),
            TagIn(tag_in["key"], tuple(tag_in["values"])) if tag_in else None,
            Filter((above["field"], *(above.get("and") or ())), above.get("compare") or ">", float(above["value"])) if above else None,
            tuple(o.get("present") or ()), o.get("type", ""), o.get("id", 0), o)


def _shape(o: Mapping[str, Any]) -> Shape:
    name, by = o.get("shape"), o.get("group_by", "")
    fields, group = tuple(o.get("fields") or ()), tuple(o.get("group") or ())
    if name == "buckets":
        return Buckets(o["aggregate"], fields, o["bucket_ns"], by, o.get("order", ""), o.get("limit", 0))
    if name == "totals":
        return Totals(o["aggregate"], fields, by)
    if name == "rows":
        if o.get("set"):
            return RowSet(fields, by, o["set"]["operation"], bool(o["set"].get("all")), o["set"]["operands"])
        if o.get("limit"):
            return AnyRows(fields, by, o["limit"])
        return Rows(fields, by, o.get("order", ""))
    if name == "last":
        return Last(by, tuple(o.get("tags") or ()), fields, _condition(o.get("having")))
    if name == "means":
        if o.get("unit"):
            return UnitMeans(group, o["unit"], fields, o.get("over", ""))
        return Means(group, fields, tuple(o.get("mean_tags") or ()), _condition(o.get("having")))
    if name == "activity":
        a = o["active"]
        common = (o["unit"], o["bucket_ns"], a["field"], bool(a.get("zeros")), _comparison(a), float(a["value"]))
        summary = a["summary"]
        if summary == "units-with-more":
            return ActiveUnits(*common, a.get("more", 0))
        if summary == "hours-per-day":
            return ActiveHours(*common)
        if summary == "session-per-day":
            return Sessions(*common)
        if summary == "share-per-day":
            return ActiveShare(*common, group)
        if summary == "starts":
            return Starts(*common, group)
    if name == "promql":
        return PromQL(o["promql"]["expr"], o["promql"].get("step_ns", 0), o["promql"].get("over"))
    raise NotSupported(f'this version of tsmark_driver has no shape "{name}"')


def _comparison(o: Mapping[str, Any]) -> str:
    return "<" if o.get("below") else ">=" if o.get("at_least") else ">"


def _condition(o: Mapping[str, Any] | None) -> Condition | None:
    return Condition(o["field"], _comparison(o), float(o["value"]), o.get("over", "")) if o else None


_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")


def _time(text: str | None) -> int | None:
    return nanoseconds(text) if text else None


def nanoseconds(text: str) -> int:
    """Nanoseconds since 1970 of a time of RFC 3339."""
    m = _RFC3339.fullmatch(text)
    if not m:
        raise InvalidInput(f"{text!r} is not a time of RFC 3339")
    whole = datetime.fromisoformat(m[1] + m[3].replace("Z", "+00:00")) - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return (whole.days * 86400 + whole.seconds) * 1_000_000_000 + int((m[2] or "0").ljust(9, "0"))


@dataclass(frozen=True)
class Option:
    """An option of the driver. Its type is text, integer, number, duration, port, boolean, choice or size."""

    name: str
    help: str
    type: str = "text"
    default: str = ""
    choices: Sequence[str] = ()
    empty: str = ""
    """What an empty value means, in words."""
    secret: bool = False
    layout: bool = False
    """It determines how data is stored."""


@dataclass(frozen=True)
class Profile:
    """Options that belong together."""

    name: str
    help: str
    options: Options


@dataclass(frozen=True)
class Stored:
    """How fields of a type are stored: the system's own type, and if that is another, the conversion."""

    type: str
    mapped: str = ""


@dataclass
class Caps:
    """What the system can do. Everything that is not said here is expected of it."""

    language: str = "SQL"
    max_writers: int = 0
    """Workers that can write at once; 0: any number."""
    one_connection: bool = False
    discards: bool = False
    shows_in_parts: bool = False
    """The rows of one batch become visible separately."""
    dedupes: bool = False
    """Of two rows of one series and time only the later one exists once the load has settled."""
    makes_columns: bool = False
    in_order: str = ""
    """"series" or a duration: late rows are refused, lost or slower. See sdk/protocol.md."""
    time_precision: str = "1ns"
    """Smallest difference between times."""
    first: str = ""
    """Earliest and latest time of rows (RFC 3339)."""
    last: str = ""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """Values that it cannot store, and what becomes of them: {"NaN": "the database holds as NULL"}."""
    digits: int = 0
    types: Mapping[str, Stored] = field(default_factory=dict)
    """How fields of each type are stored; types that are missing are not supported. Empty: all unchanged."""


@dataclass
class Object:
    """An object in the database: a table, a folder."""

    name: str
    kind: str = "table"
    key: str = ""
    """Equal for names that cannot exist at once; empty: the name."""
    identity: str = ""
    """Differs for another object that has the same name later."""
    columns: list[str] | None = None
    of: str = ""
    schema: str = ""
    data: bool = True
    note: bool = False
    in_the_way: bool = False


@dataclass
class Description:
    """What the system says about itself."""

    version: str = "unknown"
    durability: str = ""
    """When an acknowledged row is on disk, in words."""
    safety: str = ""
    """"on disk", "in files that are not yet forced to disk" or "in the server's memory"; empty: unknown."""
    location: str = ""
    edition: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    stand_in: str = ""


@dataclass
class Footprint:
    """Bytes of the data on disk; -1: unknown."""

    bytes: int
    without: str = ""
    pending: str = ""
    parts: Mapping[str, int] = field(default_factory=dict)


@dataclass
class Request:
    """A rendered query. The text is shown; the plan is anything that JSON can hold, for query()."""

    text: str
    plan: Any = None
    columns: Sequence[Column] = ()
    user_text: bool = False
    """A user wrote the text, which check_text took. Its columns are not known."""


NULL = {"null": True}
"""A figure that the system reports as NULL."""

Value = Mapping[str, Any]
"""A value of a figure, as JSON: see value()."""


def value(v: Any, kind: str) -> Value:
    """A value of a kind of answers as JSON. Times are nanoseconds since 1970, dates days."""
    if v is None:
        return NULL
    if kind == "int":
        return {"int": str(int(v))}
    if kind == "time":
        return {"time": str(int(v))}
    if kind == "date":
        return {"date": int(v)}
    if kind == "bool":
        return {"bool": bool(v)}
    if kind == "float":
        v = float(v)
        if v != v:
            return {"float": "NaN"}
        if v in (float("inf"), float("-inf")):
            return {"float": "+Inf" if v > 0 else "-Inf"}
        return {"float": repr(v)}
    import base64
    return {"text": base64.b64encode(v.encode() if isinstance(v, str) else v).decode()}


@dataclass
class Content:
    """The figures of a column's values, without NULLs. None: the system cannot compute it."""

    count: int = 0
    sum: Value | None = None
    min: Value | None = None
    max: Value | None = None


@dataclass
class Census:
    """The contents of a table: rows, times, and each field in the order of the table."""

    rows: int
    times: Content
    fields: list[Content]
    digits: int = 0
