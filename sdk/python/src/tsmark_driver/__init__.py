"""Drivers for tsmark, the benchmark for time series databases, as programs of their own.

A driver is a class, derived from SqlDriver or Driver; serve runs it. `tsmark new-driver --sdk python NAME`
writes one that works.
"""

from .census import arrow_schema, batches_of, rows_of
from .compute import compute, needed_columns, select
from .driver import NOTE, Answer, Driver
from .model import (
    Activity, AnyRows, Buckets, Caps, Census, Column, Content, Denied, Description, DriverError, ExistingData, Field, Filter, Footprint,
    InvalidInput, Last, Means, NotSupported, Object, Option, Options, Profile, PromQL, Query, Refused, Request, Rows, RowSet, Schema,
    Stored, Table, Tag, Totals, UnitMeans, Unreachable, value)
from .server import serve
from .sql import Dialect, Figures, wholes
from .sqldriver import SqlDriver

__all__ = [
    "NOTE", "Answer", "Dialect", "Driver", "Figures", "SqlDriver", "arrow_schema", "batches_of", "compute", "needed_columns", "rows_of",
    "select", "serve", "wholes",
    "Activity", "AnyRows", "Buckets", "Caps", "Census", "Column", "Content", "Denied", "Description", "DriverError", "ExistingData", "Field",
    "Filter", "Footprint", "InvalidInput", "Last", "Means", "NotSupported", "Object", "Option", "Options", "Profile", "PromQL", "Query",
    "Refused", "Request", "Rows", "RowSet", "Schema", "Stored", "Table", "Tag", "Totals", "UnitMeans", "Unreachable", "value",
]
