"""The server: a driver behind tsmark's protocol over Arrow Flight, version 1."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.flight as flight

from .driver import Answer, Driver
from .model import (
    Census, Column, Content, Denied, DriverError, ExistingData, InvalidInput, NotSupported, Object, Options, Query, Refused,
    Request, Schema, Table, Unreachable, nanoseconds)
from .sqldriver import batches

PROTOCOL = 1
SDK = "tsmark-python 0.1.0"


def serve(driver: type[Driver], arguments: Sequence[str] | None = None) -> None:
    """Runs the driver as a program, until its stdin closes, it gets SIGTERM, or tsmark ends."""
    parser = argparse.ArgumentParser(description=f"tsmark's driver for {driver.name}: {driver.help}")
    parser.add_argument("--listen", metavar="ADDRESS", help="unix:///PATH, or grpc://HOST:PORT for tsmark --target external,endpoint=…")
    parser.add_argument("--token-file", metavar="FILE", help="file with the token that every call must have")
    parser.add_argument("--describe", action="store_true", help="print what the driver can do, as JSON, and exit")
    a = parser.parse_args(arguments)
    if a.describe:
        json.dump(capabilities(driver), sys.stdout, indent=2)
        print()
        return
    if not a.listen:
        parser.error("give --listen unix:///PATH, or grpc://HOST:PORT")
    location = a.listen.replace("unix://", "grpc+unix://", 1) if a.listen.startswith("unix://") else a.listen
    token = Path(a.token_file).read_text().strip() if a.token_file else ""

    # A pipe, not an Event: a signal that arrives as the main thread begins to wait would deadlock or be lost.
    ended, end = os.pipe()
    os.set_blocking(end, False)
    signal.set_wakeup_fd(end)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    server = Server(driver, location, token)
    if a.listen.startswith("unix://"):
        def watch() -> None:
            while os.read(0, 4096):
                pass
            os.write(end, b"\0")

        threading.Thread(target=watch, daemon=True).start()
    os.read(ended, 1)
    ending = threading.Thread(target=server.shutdown, daemon=True)
    ending.start()
    ending.join(2)  # it waits for calls, such as a long query
    server.close_all()
    sys.stdout.flush()
    os._exit(0)  # threads of a database must not keep the process


def capabilities(driver: type[Driver]) -> dict[str, Any]:
    """The answer of the action capabilities."""
    defaults = {o.name: o.default for o in driver.options}
    functions = ["steps", "count_rows", "distinct_census", "list_series"]
    functions += [f for f in ("clock", "explain", "metrics", "flush_memory", "free_space", "processes") if getattr(driver, f) is not None]
    functions += ["literals", "check_text"] if driver.confinement else []
    return {
        "protocol": PROTOCOL, "name": driver.name, "help": driver.help, "version": driver.version, "sdk": SDK,
        "options": [dataclasses.asdict(o) for o in driver.options],
        "profiles": [dataclasses.asdict(p) for p in driver.profiles],
        "durabilities": [dataclasses.asdict(p) for p in driver.durabilities],
        "functions": functions, "caps": caps(driver, defaults)}


def caps(driver: type[Driver], options: Options) -> dict[str, Any]:
    c = dataclasses.asdict(driver.caps(options))
    c["types"] = {name: {"as": t["type"], "mapped": t["mapped"]} for name, t in c["types"].items()}
    for bound in ("first", "last"):
        if not c[bound]:
            del c[bound]
    c["steps"] = [{"name": name, "help": text} for name, text in driver.steps.items()]
    return c


class Server(flight.FlightServerBase):  # type: ignore[misc]
    """Serves a driver at a location of Flight."""

    def __init__(self, driver: type[Driver], location: str, token: str = "") -> None:
        middleware = {"token": _TokenCheck(token)} if token else None
        super().__init__(location, middleware=middleware)
        self._driver = driver
        self._databases: dict[str, _Open] = {}
        self._lock = threading.Lock()
        self._next = 0

    def close_all(self) -> None:
        for handle in list(self._databases):
            with contextlib.suppress(Exception):
                self._databases.pop(handle).db.close()

    # Actions.

    def do_action(self, context: flight.ServerCallContext, action: flight.Action) -> list[bytes]:
        with _errors():
            body = json.loads(action.body.to_pybytes() or b"{}")
            return [json.dumps(self._act(action.type, body)).encode()]

    def _act(self, name: str, o: Mapping[str, Any]) -> Mapping[str, Any]:
        d = self._driver
        options = {x.name: x.default for x in d.options} | (o.get("options") or {})
        match name:
            case "capabilities":
                offered = o.get("protocol") or [PROTOCOL]
                if PROTOCOL not in offered:
                    raise InvalidInput(f"{d.name} speaks version {PROTOCOL} of the protocol, and tsmark {offered}")
                return capabilities(d)
            case "caps":
                return caps(d, options)
            case "check_schema":
                d.check_schema(options, Schema.of(o["schema"]))
                return {}
            case "render":
                schema, query = Schema.of(o["schema"]), Query.of(o["query"])
                request = d.render(options, schema, query)
                return {"text": request.text} | ({} if request.plan is None else {"plan": request.plan})
            case "literals" if d.confinement:
                return {"language": d.text_language, "confinement": d.confinement}
            case "literal" if d.confinement:
                text = o.get("text", "")
                return {"text": d.literal(options, o["kind"], nanoseconds(text) if o["kind"] == "time" else text)}
            case "open":
                return self._open(options, o)
            case "close":
                self._database(o).db.close()
                with self._lock:
                    del self._databases[o["db"]]
                return {}
        return self._act_on(self._database(o), name, o)

    def _open(self, options: Options, o: Mapping[str, Any]) -> Mapping[str, Any]:
        folder = Path(o["dir"])
        if o.get("create"):
            folder.mkdir(parents=True, exist_ok=True)
        db = self._driver(options, folder)
        db.open(bool(o.get("create")))
        with self._lock:
            self._next += 1
            handle = str(self._next)
            self._databases[handle] = _Open(db)
        return {"db": handle, "address": db.address}

    def _database(self, o: Mapping[str, Any]) -> _Open:
        found = self._databases.get(o.get("db", ""))
        if found is None:
            raise InvalidInput(f"no database is open under the handle {o.get('db')!r}")
        return found

    def _act_on(self, opened: _Open, name: str, o: Mapping[str, Any]) -> Mapping[str, Any]:
        db = opened.db
        match name:
            case "describe":
                return dataclasses.asdict(db.describe())
            case "objects":
                return {"objects": [dataclasses.asdict(x) for x in db.objects()]}
            case "plan":
                return {"objects": [dataclasses.asdict(x) for x in db.plan(Schema.of(o["schema"]))]}
            case "create":
                schema = Schema.of(o["schema"])
                db.create(schema)
                opened.schema = schema
            case "drop":
                db.drop([_object(x) for x in o["objects"]])
            case "note":
                return {"text": db.note()}
            case "set_note":
                db.set_note(o["text"])
            case "settle":
                db.settle()
            case "census" | "distinct_census":
                return _census(db.census(_table(o, "table"), name == "distinct_census"))
            case "count_rows":
                return {"rows": db.count_rows(_table(o, "table"))}
            case "footprint":
                f = db.footprint()
                return {"bytes": f.bytes, "without": f.without, "pending": f.pending,
                        "parts": [{"name": k, "bytes": v} for k, v in f.parts.items()]}
            case "flush":
                begun = time.perf_counter_ns()
                rows = db.flush(o["worker"])
                return _receipt(0, rows, time.perf_counter_ns() - begun)
            case "close_worker":
                db.close_worker(o["worker"], o["kind"])
            case "step":
                db.step(o["name"])
            case "clock" if db.clock:
                ns, unit = db.clock()
                text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ns // 1_000_000_000))
                return {"time": f"{text}.{ns % 1_000_000_000:09d}Z", "unit": unit}
            case "explain" if db.explain:
                return {"plan": db.explain(Request(o["text"], o.get("plan"), user_text=bool(o.get("user_text"))))}
            case "check_text" if db.confinement:
                db.check_text(o.get("text", ""))
            case "free_space" if db.free_space:
                place, free = db.free_space()
                return {"folder": place, "free": free}
            case "processes" if db.processes:
                return {"addresses": list(db.processes())}
            case "metrics" if db.metrics:
                return {"metrics": dict(db.metrics())}
            case "flush_memory" if db.flush_memory:
                db.flush_memory()
            case _:
                raise NotSupported(f"{self._driver.name} has no {name}")
        return {}

    # Rows.

    def do_put(self, context: flight.ServerCallContext, descriptor: flight.FlightDescriptor, reader: flight.MetadataRecordBatchReader,
               writer: flight.FlightMetadataWriter) -> None:
        with _errors():
            o = json.loads(descriptor.command)
            opened = self._database(o)
            if opened.schema is None:
                raise InvalidInput("rows arrive, and nothing was created through this connection")
            table = opened.schema.table(o["table"])
            while True:
                try:
                    chunk = reader.read_chunk()
                except StopIteration:
                    return
                begun = time.perf_counter_ns()
                n = json.loads(chunk.app_metadata.to_pybytes())["batch"] if chunk.app_metadata else 0
                batch = chunk.data
                rows = opened.db.write(table, batch, o["worker"])
                if rows is None:
                    rows = batch.num_rows
                receipt = _receipt(n, rows, time.perf_counter_ns() - begun)
                writer.write(pa.py_buffer(json.dumps(receipt).encode()))

    # Answers.

    def do_get(self, context: flight.ServerCallContext, ticket: flight.Ticket) -> flight.GeneratorStream:
        with _errors():
            o = json.loads(ticket.ticket)
            opened = self._database(o)
            if "list_series" in o:
                table = _table(o, "list_series")
                columns = [Column(t.key, "float" if t.numeric else "text") for t in table.tags]
                return _stream(lambda: opened.db.list_series(table), columns, False, context)
            columns = [Column(c["name"], c["kind"]) for c in o.get("columns") or ()]
            request = Request(o["text"], o.get("plan"), columns, bool(o.get("user_text")))
            return _stream(lambda: opened.db.query(request, o["worker"]), columns, bool(o.get("count")), context)


@dataclasses.dataclass
class _Open:
    db: Driver
    schema: Schema | None = None


def _table(o: Mapping[str, Any], member: str) -> Table:
    return Schema.of(o["schema"]).table(o[member])


def _object(o: Mapping[str, Any]) -> Object:
    known = {f.name for f in dataclasses.fields(Object)}
    return Object(**{k: v for k, v in o.items() if k in known})


def _receipt(batch: int, rows: int, service_ns: int) -> dict[str, Any]:
    # The bytes are unknown: a batch's memory holds whole dictionaries, and only tsmark sees the message.
    return {"batch": batch, "rows": rows, "wire_bytes": -1, "service_ns": service_ns, "acked": True}


def _census(c: Census) -> dict[str, Any]:
    def content(x: Content) -> dict[str, Any]:
        return {"count": x.count, "sum": x.sum, "min": x.min, "max": x.max}
    return {"rows": c.rows, "digits": c.digits, "times": content(c.times), "fields": [content(f) for f in c.fields]}


def _stream(answer: Callable[[], Answer], columns: Sequence[Column], count: bool, context: flight.ServerCallContext) -> flight.GeneratorStream:
    """The answer as a stream, whose last message says how large it was and how long the driver took."""
    begun = time.perf_counter_ns()
    source = iter(batches(answer()))
    first = next(source, None)
    spent = time.perf_counter_ns() - begun
    if first is None:
        schema = pa.schema([(c.name, _TYPES[c.kind]) for c in columns])
    else:
        first = adapt(first, columns)
        schema = pa.schema([]) if count else first.schema
    if count:
        schema = pa.schema([])
    empty = pa.RecordBatch.from_arrays([pa.array([], f.type) for f in schema], schema=schema)

    def stream() -> Iterator[tuple[pa.RecordBatch, bytes | None]]:
        nonlocal spent
        rows, size, batch = 0, 0, first
        while batch is not None:
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if not count and batch.num_rows:
                yield batch if batch.schema.equals(schema) else batch.cast(schema), None
            if context.is_cancelled():
                return
            begun = time.perf_counter_ns()
            with _errors():
                batch = next(source, None)
            spent += time.perf_counter_ns() - begun
            if batch is not None and not count:
                batch = adapt(batch, columns)
        yield empty, json.dumps({"rows": rows, "bytes": size, "service_ns": spent}).encode()

    return flight.GeneratorStream(schema, stream())


_TYPES = {"time": pa.timestamp("ns", "UTC"), "int": pa.int64(), "float": pa.float64(), "text": pa.binary(), "bool": pa.bool_(),
          "date": pa.date32()}


def adapt(batch: pa.RecordBatch, columns: Sequence[Column]) -> pa.RecordBatch:
    """The batch with the types that tsmark takes for the columns."""
    if not columns:
        return batch
    if batch.num_columns != len(columns):
        raise DriverError(f"the answer has {batch.num_columns} columns in place of {len(columns)}")
    arrays = [_adapt(a, c.kind) for a, c in zip(batch.columns, columns)]
    return pa.RecordBatch.from_arrays(arrays, [c.name for c in columns])


def _adapt(a: pa.Array, kind: str) -> pa.Array:
    t = a.type
    if pa.types.is_dictionary(t):
        a = a.dictionary_decode()
        t = a.type
    if pa.types.is_null(t):
        return a.cast(_TYPES[kind])
    if kind == "time" and pa.types.is_integer(t):
        return a.cast(pa.int64()).cast(_TYPES["time"])
    if kind == "date" and pa.types.is_integer(t):
        return a.cast(pa.int32()).cast(pa.date32())
    if kind == "bool" and (pa.types.is_integer(t) or pa.types.is_floating(t)):
        return pc.not_equal(a, pa.scalar(0, t))
    if kind == "int" and pa.types.is_decimal(t):
        return a.cast(pa.int64())
    if kind == "float" and pa.types.is_decimal(t):
        return a.cast(pa.float64())
    return a


class _TokenCheck(flight.ServerMiddlewareFactory):  # type: ignore[misc]
    def __init__(self, token: str) -> None:
        super().__init__()
        self._wanted = f"Bearer {token}"

    def start_call(self, info: flight.CallInfo, headers: Mapping[str, list[str]]) -> None:
        found = [v for k, values in headers.items() if k.lower() == "authorization" for v in values]
        if self._wanted not in found:
            raise flight.FlightUnauthenticatedError("the call lacks the token of the driver: give token_file")


@contextlib.contextmanager
def _errors() -> Iterator[None]:
    """Errors of the driver as status codes of gRPC. Others are errors with the class's name."""
    try:
        yield
    except (flight.FlightError, pa.ArrowCancelled):
        raise
    except DriverError as e:
        text = _line(str(e))
        match e:
            case NotSupported():
                error: Exception = pa.ArrowNotImplementedError(text)
            case InvalidInput():
                error = pa.ArrowInvalid(text)
            case Unreachable():
                error = flight.FlightUnavailableError(text)
            case Refused():  # pyarrow has no class for these two codes
                error = flight.FlightUnavailableError("[RESOURCE_EXHAUSTED] " + text)
            case ExistingData():
                error = flight.FlightServerError("[ALREADY_EXISTS] " + text)
            case Denied():
                error = flight.FlightUnauthorizedError(text)
            case _:
                error = flight.FlightServerError(text)
        raise error from None
    except Exception as e:
        if os.environ.get("TSMARK_DRIVER_TRACE"):
            import traceback
            traceback.print_exc()
        raise flight.FlightServerError(f"{_line(str(e))} ({type(e).__name__})") from None


def _line(text: str) -> str:
    return " ".join(text.split())[:2000]
