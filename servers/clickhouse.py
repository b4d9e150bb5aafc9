"""ClickHouse's engine, by chdb, behind the native protocol and HTTP.

    clickhouse.py DATA PORT PASSWORDFILE

serves the native protocol on PORT and HTTP on the port after it, on 127.0.0.1. It
speaks as much of both as clients need that insert and select: blocks go to and from
the engine in its format Native, as they are. Each connection is a session.
"""

import base64
import errno
import os
import re
import signal
import socketserver
import struct
import sys
import tempfile
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import lz4.block
import zstandard
from chdb import session
from clickhouse_cityhash.cityhash import CityHash128

USER, DATABASE = "tsmark", "tsmark"
REVISION = 54453  # of the native protocol; from the next one on columns have one more byte
METHOD_NONE, METHOD_LZ4, METHOD_ZSTD = 0x02, 0x82, 0x90
INSERT = re.compile(r"\s*(INSERT\s+INTO\s+(.*?))(?:\s+(?:FORMAT\s+Native|VALUES))\s*;?\s*$", re.I | re.S)
INTO = re.compile(r"(?:TABLE\s+)?((?:`[^`]*`|\"[^\"]*\"|[\w.])+)\s*(?:\((.*)\))?\s*", re.I | re.S)
# Of an old client, whose tables were declared in words that newer servers take with this alone.
OLD = {"allow_deprecated_syntax_for_merge_tree": "1"}
WIDTHS = {"UInt8": 1, "Int8": 1, "Bool": 1, "UInt16": 2, "Int16": 2, "Date": 2, "UInt32": 4, "Int32": 4, "DateTime": 4, "Float32": 4,
          "UInt64": 8, "Int64": 8, "DateTime64": 8, "Float64": 8}
QUERY = re.compile(r"[\s(]*(SELECT|WITH)\b", re.I)
FORMAT = re.compile(r"\s+FORMAT\s+(\w+)\s*;?\s*$", re.I)

opened = threading.Lock()


class Refused(Exception):
    """What a client is told: the number and the text of an exception."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def refused(error):
    """Returns an exception of the engine as one with its number."""
    if isinstance(error, Refused):
        return error
    text = str(error)
    found = re.search(r"Code: (\d+)\. ", text)
    return Refused(int(found.group(1)) if found else 1000, text[found.start():] if found else text)


def check(user, password):
    with open(secret) as file:
        if user != USER or password != file.read().strip():
            raise Refused(516, f"Code: 516. DB::Exception: {user}: Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED)")


class Engine:
    """A session of the engine, of one connection at a time: a new one takes a tenth of a second."""

    idle = []

    def __init__(self):
        with opened:
            self.session = session.Session(data)
        self.database, self.settings = "default", {}

    @classmethod
    def take(cls):
        with opened:
            if cls.idle:
                return cls.idle.pop()
        return cls()

    def give(self):
        with opened:
            self.idle.append(self)

    def use(self, database):
        database = database or "default"
        if database != self.database:
            self.run(f"USE `{database}`")
            self.database = database

    def set(self, settings):
        for name in [name for name in self.settings if name not in settings]:
            self.run(f"SET {name} = DEFAULT")
            del self.settings[name]
        for name, value in settings.items():
            if self.settings.get(name) != value:
                quoted = value.replace("\\", "\\\\").replace("'", "\\'")
                self.run(f"SET {name} = '{quoted}'")
                self.settings[name] = value

    def run(self, text, form="Native"):
        try:
            return self.session.query(text, form).bytes()
        except Exception as error:
            raise refused(error) from None

    def select(self, text, form="Native"):
        """Yields the blocks of an answer, those of a query while they come."""
        if not QUERY.match(text):
            block = self.run(text, form)
            if block:
                yield block
            return
        try:
            stream = self.session.send_query(text, form)
            connection = stream._conn
            try:
                while True:
                    chunk = connection.streaming_fetch_result(stream._result)
                    if chunk is None or chunk.rows_read() == 0:
                        stream._exhausted = True
                        return
                    yield chunk.bytes()
            finally:
                stream.cancel()
        except GeneratorExit:
            raise
        except Exception as error:
            raise refused(error) from None

    def insert(self, statement):
        return Insert(self, statement)

    def header(self, into):
        """Returns a block without rows of the columns that an INSERT names."""
        table, names = INTO.match(into).groups()
        types = self.types(table)
        wanted = list(types)
        if names:
            wanted = [name.strip(" `\"\n").replace("``", "`") for name in re.findall(r"`(?:[^`]|``)*`|\"[^\"]*\"|[^,\s]+", names)]
        for name in wanted:
            if name not in types:
                raise Refused(16, f"Code: 16. DB::Exception: No such column {name} in table {table}. (NO_SUCH_COLUMN_IN_TABLE)")
        return empty({name: types[name] for name in wanted})

    def types(self, table):
        """Returns the types of a table's columns by their names, or those of a query in parentheses."""
        described = self.run(f"DESCRIBE TABLE {table}", "TabSeparatedRaw").decode()
        return dict(line.split("\t")[:2] for line in described.splitlines())


class Insert:
    """Blocks that come to be stored. They go by way of a file: of what chdb takes as a
    stream it does not tell what could not be stored."""

    def __init__(self, engine, statement):
        self.engine, self.statement = engine, statement
        self.file = tempfile.NamedTemporaryFile(dir=data, prefix="tsmark-insert-", suffix=".native")

    def store(self, parts):
        """Stores parts that come one after the other. They are read to the last one
        although one could not be stored; where they break off, nothing is stored."""
        failed, ended = None, False
        try:
            for part in parts:
                try:
                    failed or self.append(part)
                except Refused as error:
                    failed = error
            ended = True
        finally:
            if failed or not ended:
                self.cancel()
        if failed:
            raise failed
        try:
            self.finish()
        except Exception as error:
            raise refused(error) from None

    def append(self, part):
        try:
            self.file.write(part)
            self.file.flush()
        except OSError as error:
            code = 243 if error.errno == errno.ENOSPC else 75
            raise Refused(code, f"Code: {code}. DB::Exception: Cannot write to file: {error.strerror}. (CANNOT_WRITE_TO_FILE_DESCRIPTOR)") from None

    def finish(self):
        with self.file:
            self.engine.run(f"{self.statement} FROM INFILE '{self.file.name}' FORMAT Native")

    def cancel(self):
        try:
            self.file.close()
        except OSError:
            pass


def uvarint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def text(value):
    value = value.encode()
    return uvarint(len(value)) + value


def empty(types):
    """Returns a block of columns without rows."""
    return uvarint(len(types)) + uvarint(0) + b"".join(text(name) + text(kind) for name, kind in types.items())


def framed(block):
    """Returns a block as a frame of the native protocol that does not compress."""
    body = struct.pack("<BII", METHOD_NONE, len(block) + 9, len(block)) + block
    return checksum(body) + body


def checksum(body):
    both = CityHash128(body)
    return struct.pack("<QQ", both >> 64, both & (1 << 64) - 1)


def unframed(read):
    """Reads a frame and returns its content; None at the end."""
    head = read(16, True)
    if not head:
        return None
    body = read(9)
    method, size, raw = struct.unpack("<BII", body)
    body += read(size - 9)
    if checksum(body) != head:
        raise Refused(40, "Code: 40. DB::Exception: Checksum doesn't match: corrupted data. (CHECKSUM_DOESNT_MATCH)")
    content = body[9:]
    if method == METHOD_LZ4:
        content = lz4.block.decompress(content, uncompressed_size=raw)
    elif method == METHOD_ZSTD:
        content = zstandard.ZstdDecompressor().decompress(content, max_output_size=raw)
    if len(content) != raw:
        raise Refused(271, "Code: 271. DB::Exception: Cannot decompress. (CANNOT_DECOMPRESS)")
    return content


class Closed(Exception):
    """The client has gone."""


class Native(socketserver.StreamRequestHandler):
    """A connection of the native protocol."""

    wbufsize, disable_nagle_algorithm = 1 << 16, True

    def read(self, n, end=False):
        got = self.rfile.read(n)
        if len(got) < n:
            if end and not got:
                return b""
            raise Closed
        return got

    def uvarint(self, end=False):
        n = shift = 0
        while True:
            byte = self.read(1, end)
            if not byte:
                raise Closed
            n |= (byte[0] & 0x7F) << shift
            if byte[0] < 0x80:
                return n
            shift += 7

    def text(self):
        return self.read(self.uvarint()).decode(errors="replace")

    def handle(self):
        engine = None
        try:
            try:
                database = self.hello()
                engine = Engine.take()
                engine.use(database)
            except Refused as error:
                self.exception(error)
                return
            self.wfile.write(uvarint(0) + text("ClickHouse") + uvarint(VERSION[0]) + uvarint(VERSION[1]) + uvarint(REVISION) + text("UTC")
                             + (b"" if self.old() else text("tsmark") + uvarint(VERSION[2])))
            self.wfile.flush()
            while True:
                packet = self.uvarint()
                if packet == 4:  # ping
                    self.wfile.write(uvarint(4))
                    self.wfile.flush()
                elif packet == 1:
                    self.query(engine)
                elif packet != 3:  # cancel, of what has ended
                    return
        except (Closed, OSError):
            pass
        finally:
            if engine:
                engine.give()

    def hello(self):
        if self.uvarint() != 0:
            raise Closed
        self.text(), self.uvarint(), self.uvarint()
        self.revision = self.uvarint()
        database, user, password = self.text(), self.text(), self.text()
        check(user, password)
        return database

    def old(self):
        """Whether the client speaks the protocol as before settings were texts (2019), of
        which this takes what loaders need that were written then: TSBS's."""
        return self.revision < 54429

    def exception(self, error):
        self.wfile.write(uvarint(2) + struct.pack("<i", error.code) + text("DB::Exception") + text(re.sub(r"^Code: \d+\. ", "", str(error))) + text("") + b"\0")
        self.wfile.flush()

    def info(self):
        """Skips what a client tells of itself."""
        if self.read(1) == b"\0":
            return
        self.text(), self.text(), self.text()
        self.read(1 if self.old() else 9)
        self.text(), self.text(), self.text()
        self.uvarint(), self.uvarint(), self.uvarint()
        if self.old():
            self.text()
            return
        self.text(), self.uvarint(), self.uvarint()
        if self.read(1) == b"\1":
            self.read(24), self.text(), self.read(1)
        self.uvarint(), self.uvarint(), self.uvarint()

    def query(self, engine):
        self.text()
        self.info()
        settings = {}
        while name := self.text():
            self.uvarint()
            settings[name] = self.text()
        if self.old():
            settings = OLD
        else:
            self.text()
        self.uvarint()
        compressed, statement = self.uvarint() == 1, self.text()
        try:
            self.block(compressed)  # the end of external tables
            engine.set(settings)
            insert = INSERT.match(statement)
            if insert:
                self.insert(engine, insert, compressed)
            else:
                if self.old() and QUERY.match(statement):  # such clients read no rows of an answer's first block
                    self.data(empty(engine.types(f"({statement})")), compressed)
                for block in engine.select(statement):
                    self.data(block, compressed)
        except Refused as error:
            self.exception(error)
            if error.code == 101:
                raise Closed from None
            return
        self.wfile.write(uvarint(5))
        self.wfile.flush()

    def data(self, block, compressed):
        block = b"\1\0\2\xff\xff\xff\xff\0" + block
        self.wfile.write(uvarint(1) + text("") + (framed(block) if compressed else block))
        self.wfile.flush()

    def insert(self, engine, insert, compressed):
        self.data(engine.header(insert.group(2)), compressed)
        engine.insert(insert.group(1)).store(iter(lambda: self.block(compressed), b""))

    def block(self, compressed):
        """Returns a block without what stands before it; empty: the end."""
        packet = self.uvarint()
        if packet != 2:
            raise Closed
        self.text()
        if compressed:
            content = unframed(self.read)
            if not content or content[:1] != b"\1" or content[2:3] != b"\2" or content[7:8] != b"\0":
                raise Refused(101, "Code: 101. DB::Exception: a block begins in another way. (UNEXPECTED_PACKET_FROM_CLIENT)")
            block = content[8:]
        else:
            self.read(8)
            return self.plain()
        return b"" if block == b"\0\0" else block

    def plain(self):
        """Returns a block that stands in no frame, by the types of its columns; empty: the end."""
        columns, rows = self.uvarint(), self.uvarint()
        if columns == rows == 0:
            return b""
        block = uvarint(columns) + uvarint(rows)
        for _ in range(columns):
            name, kind = self.text(), self.text()
            block += text(name) + text(kind) + self.column(kind, rows)
        return block

    def column(self, kind, rows):
        if kind.startswith("Nullable("):
            return self.read(rows) + self.column(kind[len("Nullable("):-1], rows)
        if kind == "String":
            return b"".join(uvarint(n) + self.read(n) for n in (self.uvarint() for _ in range(rows)))
        width = WIDTHS.get(kind.split("(")[0])
        if not width:
            raise Refused(101, f"Code: 101. DB::Exception: columns of {kind} are read in frames alone here: give compression. (UNEXPECTED_PACKET_FROM_CLIENT)")
        return self.read(width * rows)


class HTTP(BaseHTTPRequestHandler):
    """A connection of HTTP, which is kept."""

    protocol_version = "HTTP/1.1"
    wbufsize, disable_nagle_algorithm = 1 << 16, True
    engine = None

    def log_message(self, *_):
        pass

    def finish(self):
        if self.engine:
            self.engine.give()
        super().finish()

    def do_GET(self):
        self.do_POST()

    def body(self):
        """Yields the parts of the request's body."""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            while size := int(self.rfile.readline() or b"x", 16):
                yield self.exactly(size)
                self.rfile.readline()
            self.rfile.readline()
            return
        left = int(self.headers.get("Content-Length", 0))
        while left:
            part = self.exactly(min(left, 1 << 20))
            left -= len(part)
            yield part

    def exactly(self, n):
        part = self.rfile.read(n)
        if len(part) < n:
            raise Closed
        return part

    def do_POST(self):
        url = urllib.parse.urlsplit(self.path)
        parts = self.body()
        try:
            if url.path == "/ping":
                self.answer(200, b"Ok.\n")
                return
            given = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
            statement = given.pop("query", "")
            user, password = self.headers.get("X-ClickHouse-User", given.pop("user", "")), self.headers.get("X-ClickHouse-Key", given.pop("password", ""))
            basic = self.headers.get("Authorization", "")
            if basic.startswith("Basic "):
                user, password = base64.b64decode(basic[6:]).decode().split(":", 1)
            compress, decompress = given.pop("compress", "0") == "1", given.pop("decompress", "0") == "1"
            database = self.headers.get("X-ClickHouse-Database", given.pop("database", ""))
            default = given.pop("default_format", "TabSeparated")
            given.pop("query_id", None)
            try:
                check(user, password)
                self.engine = self.engine or Engine.take()
                self.engine.use(database)
                self.engine.set(given)
                if INSERT.match(statement):
                    self.insert(statement, parts, decompress)
                    return
                statement += ("\n" if statement else "") + b"".join(parts).decode()
            except Refused as error:
                for _ in parts:
                    pass
                raise error
            form = FORMAT.search(statement)
            if form:
                statement = statement[:form.start()]
            self.select(statement, form.group(1) if form else default, compress)
        except Refused as error:
            status = {516: 403, 81: 404, 60: 404, 241: 500, 243: 500}.get(error.code, 400 if error.code < 200 else 500)
            self.answer(status, str(error).encode() + b"\n", {"X-ClickHouse-Exception-Code": str(error.code)})
        except (Closed, OSError, ValueError):
            self.close_connection = True

    def answer(self, status, content, more={}):
        self.send_response(status)
        for name, value in {"Content-Type": "text/plain; charset=UTF-8", "Content-Length": str(len(content)), **more}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def insert(self, statement, parts, decompress):
        self.engine.insert(INSERT.match(statement).group(1)).store(unpacked(parts) if decompress else parts)
        self.answer(200, b"")

    def select(self, statement, form, compress):
        blocks = self.engine.select(statement, form)
        begun = False
        try:
            for block in blocks:
                if not begun:
                    begun = True
                    self.send_response(200)
                    self.send_header("Content-Type", "application/octet-stream")
                    self.send_header("X-ClickHouse-Format", form)
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                if compress:
                    block = framed(block)
                self.wfile.write(b"%x\r\n%b\r\n" % (len(block), block))
                self.wfile.flush()
        except Refused as error:
            if not begun:
                raise
            # The answer has begun: the exception stands at its end.
            self.wfile.write(b"%x\r\n%b\r\n" % (len(str(error).encode()), str(error).encode()))
            self.close_connection = True
        if begun:
            self.wfile.write(b"0\r\n\r\n")
            self.wfile.flush()
        else:
            self.answer(200, b"")


def unpacked(parts):
    """Yields the content of the frames in parts."""
    rest = b""
    for part in parts:
        rest += part
        while len(rest) >= 25 and len(rest) >= 16 + (size := struct.unpack("<I", rest[17:21])[0]):
            frame, rest = rest[:16 + size], rest[16 + size:]
            yield unframed(Frame(frame).read)
    if rest:
        raise Refused(33, "Code: 33. DB::Exception: Cannot read all data. (CANNOT_READ_ALL_DATA)")


class Frame:
    """Bytes that are read like a file."""

    def __init__(self, content):
        self.content = content

    def read(self, n, end=False):
        part, self.content = self.content[:n], self.content[n:]
        return part


class NativeServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 128


class HTTPServer(ThreadingHTTPServer):
    request_queue_size = 128


data, port, secret = sys.argv[1], int(sys.argv[2]), sys.argv[3]
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
os.makedirs(data, exist_ok=True)
first = Engine()
first.run(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
VERSION = [int(n) for n in first.run("SELECT version()", "TabSeparatedRaw").decode().split(".")[:3]]
native = NativeServer(("127.0.0.1", port), Native)
threading.Thread(target=native.serve_forever, daemon=True).start()
HTTPServer(("127.0.0.1", port + 1), HTTP).serve_forever()
