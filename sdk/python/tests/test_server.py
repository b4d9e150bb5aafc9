"""The protocol, spoken with the driver of the template."""

import json
import math
import os
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.flight as flight
import pytest
from conftest import TEMPLATE, Client, batch_of

from tsmark_driver import Column, Driver, DriverError, InvalidInput, NotSupported, Query, Refused, Unreachable, batches_of, wholes

TYPES = ["int", "int32", "float", "float32", "bool", "text", "timestamp", "date", "blob"]
TABLE = {"name": "cpu", "tags": [{"key": "host", "type": "text"}, {"key": "size", "type": "float"}],
         "fields": [{"name": f"f_{t}", "type": t} for t in TYPES]}
SCHEMA = {"series": 3, "tables": [TABLE]}
SECOND = 1_000_000_000
ROWS = [
    (1 * SECOND, "a", 1.5, 1 << 62, -5, 0.5, 0.25, True, "x", 7, 3, b"\x01"),
    (2 * SECOND, "a", 1.5, 1 << 62, 7, -2.5, 1.5, False, "it's", -9, -1, b""),
    (-3 * SECOND, "b", None, 3, None, math.inf, None, None, "", None, None, None),
    (4 * SECOND, None, 2.0, None, None, None, None, None, None, None, None, None),
]


@pytest.fixture
def loaded(serving, template, tmp_path):
    client = serving(template)
    client.dir = str(tmp_path)
    client.db = client.act("open", options={}, dir=client.dir, create=True)["db"]
    client.act("create", db=client.db, schema=SCHEMA)
    receipts = client.put(client.db, "cpu", batch_of(TABLE, ROWS[:3]), batch_of(TABLE, ROWS[3:]))
    assert [(r["batch"], r["rows"], r["acked"]) for r in receipts] == [(0, 3, True), (1, 1, True)]
    assert all(r["service_ns"] > 0 for r in receipts)
    assert all(r["wire_bytes"] == -1 for r in receipts)  # a whole dictionary in memory is not what was sent
    return client


def test_capabilities(serving, template):
    c = serving(template).act("capabilities", protocol=[1, 2])
    assert (c["protocol"], c["name"]) == (1, "NAME")
    assert c["caps"]["lacks"] == {"NaN": "SQLite holds as NULL"}
    assert c["caps"]["types"]["int"] == {"as": "INTEGER", "mapped": ""}
    assert "clock" not in c["functions"]


def test_other_version(serving, template):
    with pytest.raises(pa.ArrowInvalid, match=r"speaks version 1 of the protocol, and tsmark \[2\]"):
        serving(template).act("capabilities", protocol=[2])


def test_census(loaded):
    for db in [loaded.db, loaded.act("open", options={}, dir=loaded.dir, create=False)["db"]]:
        c = loaded.act("census", db=db, table="cpu", schema=SCHEMA)
        assert c["rows"] == 4
        assert (c["times"]["min"], c["times"]["max"]) == ({"time": str(-3 * SECOND)}, {"time": str(4 * SECOND)})
        fields = dict(zip(TYPES, c["fields"]))
        assert fields["int"] == {"count": 3, "sum": {"int": str(3 - (1 << 63))}, "min": {"int": "3"}, "max": {"int": str(1 << 62)}}
        assert fields["int32"]["sum"] == {"int": "2"}
        assert fields["float"]["max"] == {"float": "+Inf"}
        assert fields["bool"]["sum"] == {"int": "1"}
        assert fields["timestamp"] == {"count": 2, "sum": {"int": "-2"}, "min": {"time": "-9"}, "max": {"time": "7"}}
        assert fields["date"]["min"] == {"date": -1}
        assert fields["text"]["min"] == {"text": ""}
        assert fields["text"]["sum"]["int"]


def test_census_of_batches_is_the_same(loaded, template):
    """What is computed from batches equals what SQL computes."""
    from tsmark_driver.census import fold
    from tsmark_driver.model import Table
    from tsmark_driver.server import _census
    by_sql = loaded.act("census", db=loaded.db, table="cpu", schema=SCHEMA)
    by_arrow = _census(fold(Table.of(TABLE), [batch_of(TABLE, ROWS[:3]), batch_of(TABLE, ROWS[3:])]))
    for f in by_arrow["fields"]:
        f.pop("x", None)
    for name, x, y in zip(["times", *TYPES], [by_sql["times"], *by_sql["fields"]], [by_arrow["times"], *by_arrow["fields"]]):
        if name != "bool" and name != "times":
            assert x == y, name
    assert by_sql["times"]["sum"] == by_arrow["times"]["sum"]


def test_rows_that_were_sent_twice(loaded):
    loaded.put(loaded.db, "cpu", batch_of(TABLE, ROWS))
    assert loaded.act("count_rows", db=loaded.db, table="cpu", schema=SCHEMA) == {"rows": 8}
    assert loaded.act("distinct_census", db=loaded.db, table="cpu", schema=SCHEMA)["rows"] == 4


def test_query(loaded):
    query = {"type": "q", "id": 0, "table": "cpu", "shape": "buckets", "aggregate": "max", "fields": ["f_int", "f_float"],
             "bucket_ns": 10 * SECOND, "start": "1970-01-01T00:00:00Z", "order": "asc"}
    request = loaded.act("render", options={}, schema=SCHEMA, query=query)
    columns = [{"name": "time", "kind": "time"}, {"name": "max_f_int", "kind": "int"}, {"name": "max_f_float", "kind": "float"}]
    rows, last = loaded.get(db=loaded.db, worker=0, text=request["text"], columns=columns)
    assert rows == [(0, 1 << 62, 0.5)]
    assert last["rows"] == 1 and last["service_ns"] > 0
    rows, last = loaded.get(db=loaded.db, worker=0, text=request["text"], columns=columns, count=True)
    assert rows == [] and last["rows"] == 1


def test_promql(loaded):
    """A query that only PromQL can express is of no table, and is not supported."""
    query = {"type": "q", "id": 0, "table": "", "shape": "promql", "promql": {"expr": "abs(cpu)"}, "end": "2016-01-01T00:00:00Z"}
    with pytest.raises(pa.ArrowNotImplementedError, match=r"SQL cannot express the PromQL abs\(cpu\)"):
        loaded.act("render", options={}, schema=SCHEMA, query=query)


def test_no_row(loaded):
    rows, last = loaded.get(db=loaded.db, worker=0, text="SELECT time FROM cpu WHERE time > 9e18", columns=[{"name": "time", "kind": "time"}])
    assert rows == [] and last["rows"] == 0


def test_series(loaded):
    rows, _ = loaded.get(db=loaded.db, list_series="cpu", schema=SCHEMA)
    assert sorted(rows, key=str) == sorted([("a", 1.5), ("b", None), (None, 2.0)], key=str)


def test_note_and_objects(loaded):
    text = json.dumps({"it's": "\\ \n"})
    for _ in range(2):
        loaded.act("set_note", db=loaded.db, text=text)
    assert loaded.act("note", db=loaded.db) == {"text": text}
    objects = {o["name"]: o for o in loaded.act("objects", db=loaded.db)["objects"]}
    assert set(objects) == {"cpu", "tsmark_mark"} and objects["tsmark_mark"]["note"]
    loaded.act("drop", db=loaded.db, objects=[objects["cpu"]])
    loaded.act("drop", db=loaded.db, objects=[objects["cpu"]])
    loaded.act("create", db=loaded.db, schema=SCHEMA)
    again = {o["name"]: o for o in loaded.act("objects", db=loaded.db)["objects"]}
    assert again["cpu"]["identity"] != objects["cpu"]["identity"]


def test_texts_of_users(loaded):
    """They have the dialect's literals, are checked by the database, and answer with columns of their own."""
    assert {"literals", "check_text"} <= set(loaded.act("capabilities")["functions"])
    assert loaded.act("literals", options={})["language"] == "sql" and loaded.act("literals", options={})["confinement"]
    assert loaded.act("literal", options={}, kind="text", text="it's") == {"text": "'it''s'"}
    assert loaded.act("literal", options={}, kind="text") == {"text": "''"}
    assert loaded.act("literal", options={}, kind="time", text="1970-01-01T00:00:01.000000005Z") == {"text": "1000000005"}
    taken = "WITH x AS (SELECT count(*) AS n FROM cpu) SELECT n, n FROM x -- its end\n;\n"
    loaded.act("check_text", db=loaded.db, text=taken)
    rows, last = loaded.get(db=loaded.db, worker=0, text=taken, user_text=True)
    assert rows == [(4, 4)] and last["rows"] == 1
    for text in ["", "DROP TABLE cpu", "SELECT 1; DROP TABLE cpu", "SELECT 1) AS t; DROP TABLE cpu; SELECT 2 FROM (SELECT 1",
                 "WITH x AS (SELECT 1) DELETE FROM cpu", "PRAGMA user_version = 7", "SELECT * INTO stolen FROM cpu", "SELECT nowhere FROM cpu", "SELECT 1\0"]:
        with pytest.raises((pa.ArrowInvalid, flight.FlightServerError)):
            loaded.act("check_text", db=loaded.db, text=text)
    assert loaded.act("count_rows", db=loaded.db, table="cpu", schema=SCHEMA) == {"rows": 4}


def test_server_of_the_database(serving, tmp_path):
    """A database's own server: its processes, and the space that is left for it."""
    class Remote(Driver):
        name, help = "remote", "a cluster"

        def free_space(self):
            return "/data", None

        def processes(self):
            return ["db1:9000", "db2:9000"]

    client = serving(Remote)
    functions = client.act("capabilities")["functions"]
    assert {"free_space", "processes"} <= set(functions) and "check_text" not in functions
    db = client.act("open", options={}, dir=str(tmp_path), create=True)["db"]
    assert client.act("free_space", db=db) == {"folder": "/data", "free": None}
    assert client.act("processes", db=db) == {"addresses": ["db1:9000", "db2:9000"]}
    with pytest.raises(pa.ArrowNotImplementedError, match="remote has no check_text"):
        client.act("check_text", db=db, text="SELECT 1")


def test_errors(serving, tmp_path):
    raised = {"not": NotSupported("no such thing"), "input": InvalidInput("a wrong\n  option"), "away": Unreachable("it is away"),
              "full": Refused("the queue is full"), "bug": ZeroDivisionError("by zero"), "plain": DriverError("it failed")}

    class Failing(Driver):
        name, help = "failing", "fails"
        steps = {k: "" for k in raised}

        def step(self, name):
            raise raised[name]

    client = serving(Failing)
    db = client.act("open", options={}, dir=str(tmp_path), create=True)["db"]
    for name, error, message in [
            ("not", pa.ArrowNotImplementedError, "no such thing"), ("input", pa.ArrowInvalid, "a wrong option"),
            ("away", flight.FlightUnavailableError, "it is away"), ("full", flight.FlightUnavailableError, "[RESOURCE_EXHAUSTED] the queue is full"),
            ("bug", flight.FlightServerError, "by zero (ZeroDivisionError)"), ("plain", flight.FlightServerError, "it failed")]:
        with pytest.raises(error) as e:
            client.act("step", db=db, name=name)
        assert str(e.value).split(". Detail: ")[0] == message


def test_token(serving, template):
    client = serving(template, "secret")
    with pytest.raises(flight.FlightUnauthenticatedError):
        client.act("capabilities")
    options = flight.FlightCallOptions(headers=[(b"authorization", b"Bearer secret")])
    assert list(client.flight.do_action(("capabilities", b"{}"), options))


@pytest.mark.parametrize("end", ["stdin", "signal"])
def test_program(tmp_path, end):
    """The program ends when its stdin closes, and on SIGTERM."""
    socket = tmp_path / "s"
    program = subprocess.Popen([sys.executable, TEMPLATE, "--listen", f"unix://{socket}"], stdin=subprocess.PIPE)
    client = Client(f"grpc+unix://{socket}")
    for _ in range(300):
        try:
            assert client.act("capabilities")["name"] == "NAME"
            break
        except flight.FlightUnavailableError:
            assert program.poll() is None
            time.sleep(0.1)
    else:
        pytest.fail("it never answered")
    if end == "stdin":
        program.stdin.close()
    else:
        os.kill(program.pid, signal.SIGTERM)
    assert program.wait(10) == 0


def test_describe():
    text = subprocess.run([sys.executable, TEMPLATE, "--describe"], capture_output=True, text=True, check=True).stdout
    assert json.loads(text)["sdk"].startswith("tsmark-python")


def test_batches_of_has_all_rows():
    """A row between two batches is in one of them."""
    rows = [(i, None, 2.0, 1) for i in range(7)]
    columns = [Column("a", "int"), Column("b", "text"), Column("c", "float"), Column("d", "bool")]
    parts = list(batches_of(rows, columns, size=3))
    assert [p.num_rows for p in parts] == [3, 3, 1]
    assert [v for p in parts for v in p.column(0).to_pylist()] == list(range(7))
    assert parts[0].column(3).to_pylist() == [True] * 3


def test_large_values():
    """A double beyond 2^53 is a whole number in JSON, whose digits are not those of an integer."""
    q = Query.of({"table": "cpu", "shape": "rows", "fields": ["n"], "above": {"field": "n", "compare": ">", "value": -9223372036854776000}})
    assert wholes(q.filter.compare, q.filter.value, "int") == (">", -(1 << 63))
