"""A stand-in for InfluxDB 3: DataFusion, which is its SQL engine, behind as much of its
HTTP interface and of Arrow Flight as tsmark speaks. It is not InfluxDB 3: how that server
stores rows, and what it makes of many of them, is nothing of this.

    python influxdb3.py FOLDER PORT FILE

FOLDER is where its log is kept, which is all that it stores; PORT takes HTTP and gRPC,
as InfluxDB 3's does; FILE has the token."""

import gzip
import json
import os
import re
import signal
import socket
import socketserver
import struct
import sys
import threading
import time
import urllib.parse
import zlib
from http.server import BaseHTTPRequestHandler

import datafusion
import pyarrow as pa
import pyarrow.flight as flight

VERSION = "3.0.0-standin+datafusion-" + datafusion.__version__
UNITS = {"nanosecond": 1, "microsecond": 10**3, "millisecond": 10**6, "second": 10**9}
TYPES = {"utf8": pa.string(), "int64": pa.int64(), "uint64": pa.uint64(), "float64": pa.float64(), "bool": pa.bool_()}
TAG = pa.dictionary(pa.int32(), pa.string())
TIME = pa.timestamp("ns")
FLUSH = 0.1  # seconds after which rows of no_sync are in the log; InfluxDB 3 takes one
MAX_DATABASES, MAX_TABLES, MAX_COLUMNS = 5, 2000, 500


class Refused(Exception):
    """What is answered in place of what was asked for."""

    def __init__(self, status, message, data=None):
        super().__init__(message)
        self.status, self.data = status, data


class Table:
    """A table: tags and fields by name, and rows as they came."""

    def __init__(self, tags=(), fields=()):
        self.tags, self.fields = list(tags), dict(fields)
        self.parts, self.dirty, self.size = [], True, 0

    def columns(self):
        return 1 + len(self.tags) + len(self.fields)

    def schema(self, tag=pa.string()):
        return pa.schema([("time", TIME)] + [(name, tag) for name in self.tags] + list(self.fields.items()))

    def rows(self):
        """Returns the rows in order, of each series and time the one that came last."""
        plain = self.schema()
        if not self.parts:
            return plain.empty_table()
        whole = pa.concat_tables([conform(part, plain) for part in self.parts])
        whole = whole.append_column("tsmark_number", pa.array(range(len(whole)), pa.int64()))
        newest = whole.group_by(["time"] + self.tags).aggregate([("tsmark_number", "max")])
        if len(newest) < len(whole):
            whole = whole.take(newest["tsmark_number_max"].combine_chunks().sort())
        whole = whole.drop_columns("tsmark_number")
        self.parts = [whole]
        return whole


def conform(part, schema):
    """Returns rows with all columns of a schema."""
    have = set(part.column_names)
    return pa.table([part[f.name] if f.name in have else pa.nulls(len(part), f.type) for f in schema], schema=schema)


class Database:
    def __init__(self):
        self.tables = {}
        self.context = None

    def session(self):
        """Returns a session in which the tables are as they are now."""
        if self.context is None:
            config = datafusion.SessionConfig({"datafusion.execution.target_partitions": "2"})
            config = config.with_default_catalog_and_schema("public", "iox").with_information_schema(True)
            self.context = datafusion.SessionContext(config)
            self.context.sql("CREATE SCHEMA IF NOT EXISTS system").collect()
        files = [(name, table.size, sum(map(len, table.parts))) for name, table in self.tables.items()]
        for name, table in self.tables.items():
            if table.dirty:
                self.register(quoted(name), table.rows().cast(table.schema(TAG)), table.schema(TAG))
                table.dirty = False
        listed = pa.table({"table_name": pa.array([f[0] for f in files], pa.string()), "size_bytes": pa.array([f[1] for f in files], pa.uint64()),
                           "row_count": pa.array([f[2] for f in files], pa.uint64())})
        self.register("system.parquet_files", listed, listed.schema)
        return self.context

    def register(self, name, rows, schema):
        self.context.deregister_table(name)
        batches = rows.to_batches(max_chunksize=8192) or [pa.RecordBatch.from_pylist([], schema=schema)]
        self.context.register_record_batches(name, [batches])

    def forget(self, name):
        del self.tables[name]
        if self.context:
            self.context.deregister_table(quoted(name))


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class Store:
    """All databases, and the log of what was done to them, from which they are there
    again when the server starts."""

    def __init__(self, folder):
        self.lock = threading.RLock()
        self.databases, self.waiting = {}, []
        os.makedirs(folder, exist_ok=True)
        self.log = open(os.path.join(folder, "log"), "ab+")
        self.log.seek(0)
        end = 0
        while len(head := self.log.read(8)) == 8:
            size, check = struct.unpack("<II", head)
            entry = self.log.read(size)
            if len(entry) < size or zlib.crc32(entry) != check:
                break
            self.apply(*self.prepare(*entry_of(entry)))
            end = self.log.tell()
        self.log.truncate(end)
        self.log.seek(end)
        threading.Thread(target=self.flush_always, daemon=True).start()

    def append(self, entries):
        """Appends entries to the log, all or none."""
        end = self.log.seek(0, os.SEEK_END)
        try:
            for about, body in entries:
                entry = json.dumps(about).encode() + b"\n" + body
                self.log.write(struct.pack("<II", len(entry), zlib.crc32(entry)) + entry)
            self.log.flush()
            os.fsync(self.log.fileno())
        except OSError as error:
            try:
                self.log.close()
            except OSError:
                pass
            self.log = open(self.log.name, "ab+")
            self.log.truncate(end)
            raise Refused(500, f"write buffer error: {error.strerror}") from None

    def do(self, about, body=b"", sync=True):
        """Does something once it is in the log; without sync soon after."""
        with self.lock:
            ready = self.prepare(about, body)
            if not sync:
                self.waiting.append((about, body, ready))
                return
            self.flush()
            self.append([(about, body)])
            self.apply(*ready)

    def flush(self):
        waiting, self.waiting = self.waiting, []
        if waiting:
            self.append([(about, body) for about, body, _ in waiting])
        for _, _, ready in waiting:
            self.apply(*ready)

    def flush_always(self):
        while True:
            time.sleep(FLUSH)
            with self.lock:
                try:
                    self.flush()
                except Refused:
                    pass  # as InfluxDB 3, which has acknowledged them

    def database(self, name):
        if name not in self.databases:
            raise Refused(404, f"database not found: {name}")
        return self.databases[name]

    def prepare(self, about, body):
        """Returns a function and its parameters: what is to be done, which cannot fail
        any more. Columns that rows bring are there from now on."""
        what, name = about["do"], about["db"]
        if what == "write":
            return self.add, self.parsed(name, body.decode(), UNITS[about["precision"]])
        if what == "create database":
            check_name(name)
            if name in self.databases:
                raise Refused(409, "attempted to create a resource that already exists")
            if len(self.databases) >= MAX_DATABASES:
                raise Refused(422, f"Adding a new database would exceed limit of {MAX_DATABASES} databases")
            return self.databases.__setitem__, (name, Database())
        if what == "delete database":
            self.database(name)
            return self.databases.__delitem__, (name,)
        database, table = self.database(name), about["table"]
        if what == "delete table":
            if table not in database.tables:
                raise Refused(404, f"not found: {table}")
            return database.forget, (table,)
        if table in database.tables:
            raise Refused(409, "attempted to create a resource that already exists")
        made = Table(about["tags"], {f["name"]: TYPES[f["type"]] for f in about["fields"]})
        self.check(database, table, made)
        return database.tables.__setitem__, (table, made)

    def check(self, database, name, table):
        if name not in database.tables and sum(len(d.tables) for d in self.databases.values()) >= MAX_TABLES:
            raise Refused(422, f"Update to schema would exceed number of tables per database limit of {MAX_TABLES} tables")
        if table.columns() > MAX_COLUMNS:
            raise Refused(422, f"Update to schema would exceed number of columns per table limit of {MAX_COLUMNS} columns")

    def apply(self, function, parameters):
        function(*parameters)

    def add(self, parts):
        for table, part, size in parts:
            table.parts.append(part)
            table.dirty = True
            table.size += size

    def parsed(self, name, text, unit):
        """Returns the rows of lines as parts of tables."""
        check_name(name)
        if name not in self.databases:
            self.databases[name] = Database()
        database = self.databases[name]
        rows = {}
        for number, line in enumerate(lines_of(text), 1):
            try:
                if line := line.strip():
                    table, tags, fields, moment = parse(line)
                    rows.setdefault(table, []).append((number, line, tags, fields, moment))
            except ValueError as error:
                raise bad_line(number, line, str(error)) from None
        if not rows:
            raise Refused(400, "incoming write was empty")
        return ([self.part(database, table, of, unit) for table, of in rows.items()],)

    def part(self, database, name, rows, unit):
        known = database.tables.get(name)
        table = Table(known.tags, known.fields) if known else Table()
        columns = {}
        for i, (number, line, tags, fields, moment) in enumerate(rows):
            for key, value in tags:
                if key not in table.tags:
                    if key in table.fields or known and known.tags:
                        raise bad_line(number, line, f"detected a new tag '{key}' in write. The tag set is immutable on first write to the table." if known else f"{key} is a field")
                    table.tags.append(key)
                columns.setdefault(key, [None] * len(rows))[i] = value
            for key, value, kind in fields:
                if table.fields.setdefault(key, kind) != kind or key in table.tags:
                    raise bad_line(number, line, f"invalid column type for column '{key}', expected {table.fields.get(key, 'tag')}, got {kind}")
                columns.setdefault(key, [None] * len(rows))[i] = value
        self.check(database, name, table)
        if known:
            known.tags, known.fields = table.tags, table.fields
        else:
            database.tables[name] = known = table
        now = time.time_ns()
        moments = [now if row[4] is None else row[4] * unit for row in rows]
        kinds = {**dict.fromkeys(table.tags, pa.string()), **table.fields}
        return known, pa.table({"time": pa.array(moments, TIME), **{key: pa.array(values, kinds[key]) for key, values in columns.items()}}), sum(len(row[1]) for row in rows)


def entry_of(entry):
    about, body = entry.split(b"\n", 1)
    return json.loads(about), body


def bad_line(number, line, message):
    return Refused(400, "line protocol parsing error", {"original_line": line[:200], "line_number": number, "error_message": message})


def check_name(name):
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_/-]*", name):
        raise Refused(400, "invalid character in database or rp name: must be ASCII, containing only letters, numbers, underscores, or hyphens")


def lines_of(text):
    """Yields lines: a text between quotes may have line breaks."""
    if '"' not in text:
        yield from text.split("\n")
        return
    start = 0
    for match in re.finditer(r'(?:[^"\n\\]|\\.|"(?:[^"\\]|\\.)*")*(?:\n|$)', text, re.DOTALL):
        if match.start() < start or match.end() == match.start():
            continue
        start = match.end()
        yield match.group().rstrip("\n")


NAME = r"(?:\\.|[^\\, =])+"
TABLE = re.compile(r"(?:\\.|[^\\, ])+", re.DOTALL)
PAIR = re.compile(rf",({NAME})=((?:\\.|[^\\, =])+)", re.DOTALL)
VALUE = re.compile(rf'({NAME})=("(?:[^"\\]|\\.)*"|[^", ]+)(,|\s+|$)', re.DOTALL)
UNESCAPE = re.compile(r"\\([, =])")
UNQUOTE = re.compile(r'\\(["\\])')
TRUTH = {**dict.fromkeys(["t", "T", "true", "True", "TRUE"], True), **dict.fromkeys(["f", "F", "false", "False", "FALSE"], False)}


def parse(line):
    """Returns table, tags, fields and time of a line."""
    match = TABLE.match(line)
    if not match:
        raise ValueError("no measurement")
    table, at, tags = UNESCAPE.sub(r"\1", match.group()), match.end(), []
    while line.startswith(",", at):
        match = PAIR.match(line, at)
        if not match:
            raise ValueError("invalid tags")
        tags.append((UNESCAPE.sub(r"\1", match.group(1)), UNESCAPE.sub(r"\1", match.group(2))))
        at = match.end()
    if not line.startswith(" ", at):
        raise ValueError("no fields were provided")
    at += len(line) - at - len(line[at:].lstrip(" "))
    fields, more = [], ","
    while more == ",":
        match = VALUE.match(line, at)
        if not match:
            raise ValueError("invalid field value in line protocol")
        name, text, more = match.groups()
        fields.append((UNESCAPE.sub(r"\1", name), *value(text)))
        at = match.end()
    rest = line[at:].strip()
    return table, tags, fields, int(rest) if rest else None


def value(text):
    if text[0] == '"':
        return UNQUOTE.sub(r"\1", text[1:-1]), TYPES["utf8"]
    if text in TRUTH:
        return TRUTH[text], TYPES["bool"]
    if text[-1] in "iu":
        n = int(text[:-1])
        if text[-1] == "i" and not -(2**63) <= n < 2**63:
            raise ValueError("unable to parse integer value")
        return n, TYPES["int64" if text[-1] == "i" else "uint64"]
    if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text):
        raise ValueError("invalid field value in line protocol")
    return float(text), TYPES["float64"]


def ask(database, statement):
    """Returns the schema of an answer, and an iterator over its batches."""
    with store.lock:
        session = store.database(database).session()
        try:
            frame = session.sql_with_options(statement, READ)
        except Exception as error:
            raise Refused(400, str(error)) from None
    stream = frame.execute_stream()
    return frame.schema(), stream


READ = datafusion.SQLOptions().with_allow_ddl(False).with_allow_dml(False).with_allow_statements(False)


def flight_error(error):
    kind = {404: pa.ArrowKeyError, 401: flight.FlightUnauthenticatedError}.get(error.status, pa.ArrowInvalid)
    return kind(str(error))


class Headers(flight.ServerMiddleware):
    def __init__(self, headers):
        super().__init__()
        self.headers = {name.lower(): values[0] for name, values in headers.items()}


class HeadersFactory(flight.ServerMiddlewareFactory):
    def start_call(self, info, headers):
        given = Headers(headers)
        if not allowed(given.headers.get("authorization", "")):
            raise flight.FlightUnauthenticatedError("Unauthenticated")
        return given


def allowed(header):
    return header in (f"Bearer {TOKEN}", f"Token {TOKEN}")


def hydrated(schema):
    """Returns a schema without dictionaries, which InfluxDB 3 sends as what they stand for."""
    return pa.schema([pa.field(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type, f.nullable) for f in schema])


class Flight(flight.FlightServerBase):
    """The ticket in JSON of InfluxDB's clients."""

    def do_get(self, context, ticket):
        given = json.loads(ticket.ticket)
        try:
            schema, stream = ask(given["database"], given["sql_query"])
        except Refused as error:
            raise flight_error(error) from None
        schema = hydrated(schema)
        return flight.GeneratorStream(schema, (batch.to_pyarrow().cast(schema) for batch in stream))


class HTTP(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize, disable_nagle_algorithm = 1 << 16, True

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer()

    do_POST = do_DELETE = do_GET

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        url = urllib.parse.urlsplit(self.path)
        given = dict(urllib.parse.parse_qsl(url.query))
        try:
            if not allowed(self.headers.get("Authorization", "")):
                raise Refused(401, "")
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            self.route(self.command, url.path, given, body)
        except Refused as error:
            text = str(error)
            if error.data or error.status == 404:
                text = json.dumps({"error": text, "data": error.data})
            self.say(error.status, text.encode())
        except (ValueError, KeyError) as error:
            self.say(400, f"serde error: {error}".encode())

    def say(self, status, content, kind="application/json"):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def route(self, method, path, given, body):
        if path == "/health":
            self.say(200, b"OK", "text/plain")
        elif path == "/ping":
            self.say(200, json.dumps({"product_name": "stand-in of tsmark's", "version": VERSION, "revision": "", "process_id": ""}).encode())
        elif path == "/api/v3/write_lp":
            if given.get("accept_partial") != "false":
                raise Refused(400, "the stand-in takes whole batches alone")
            store.do({"do": "write", "db": given["db"], "precision": given["precision"]}, body, given.get("no_sync") != "true")
            self.say(204, b"")
        elif path == "/api/v3/configure/database" and method == "GET":
            with store.lock:
                self.say(200, json.dumps([{"iox::database": name} for name in store.databases]).encode())
        elif path == "/api/v3/configure/database":
            what = "delete database" if method == "DELETE" else "create database"
            store.do({"do": what, "db": given.get("db") or json.loads(body)["db"]})
            self.say(200, b"")
        elif path == "/api/v3/configure/table" and method == "DELETE":
            store.do({"do": "delete table", "db": given["db"], "table": given["table"]})
            self.say(200, b"")
        elif path == "/api/v3/configure/table":
            store.do({"do": "create table", **json.loads(body)})
            self.say(200, b"")
        else:
            raise Refused(404, "not found")


class Port(socketserver.ThreadingTCPServer):
    """The port: what begins as HTTP/2 is gRPC's and goes to Flight."""

    allow_reuse_address = daemon_threads = True
    request_queue_size = 128

    def finish_request(self, request, client_address):
        begin = b""
        while len(begin) < 4:
            begin = request.recv(4, socket.MSG_PEEK)
            if not begin:
                return
            if not b"PRI ".startswith(begin):
                break
        if begin != b"PRI ":
            HTTP(request, client_address, self)
            return
        with socket.create_connection(("127.0.0.1", grpc.port)) as other:
            other.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            back = threading.Thread(target=pass_on, args=(other, request), daemon=True)
            back.start()
            pass_on(request, other)
            back.join()

    def handle_error(self, request, client_address):
        pass


def pass_on(source, target):
    try:
        while part := source.recv(1 << 16):
            target.sendall(part)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


folder, port = sys.argv[1], int(sys.argv[2])
with open(sys.argv[3]) as file:
    TOKEN = file.read().strip()
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
store = Store(folder)
grpc = Flight("grpc://127.0.0.1:0", middleware={"headers": HeadersFactory()})
Port(("127.0.0.1", port), None).serve_forever()
