"""The driver that `tsmark new-driver` writes, over SQLite, and a client of it."""

import importlib.util
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.flight as flight
import pytest

from tsmark_driver.server import Server

ROOT = Path(__file__).parents[3]
TEMPLATE = ROOT / "cli/newdriver/template/python/driver.py"


def load_driver(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class Client:
    """Speaks the protocol as tsmark does."""

    def __init__(self, location):
        self.flight = flight.connect(location)

    def act(self, action, /, **body):
        return json.loads(next(self.flight.do_action((action, json.dumps(body).encode()))).body.to_pybytes())

    def put(self, db, table, *batches, worker=0):
        """The receipts of batches."""
        descriptor = flight.FlightDescriptor.for_command(json.dumps({"db": db, "worker": worker, "table": table}))
        writer, reader = self.flight.do_put(descriptor, batches[0].schema)
        receipts = []
        for n, batch in enumerate(batches):
            writer.write_with_metadata(batch, json.dumps({"batch": n}).encode())
            receipts.append(json.loads(reader.read().to_pybytes()))
        writer.close()
        return receipts

    def get(self, **ticket):
        """The rows, with times as integers of nanoseconds, and what the last message says of them."""
        from tsmark_driver import rows_of
        rows, last = [], None
        reader = self.flight.do_get(flight.Ticket(json.dumps(ticket).encode()))
        while True:
            try:
                chunk = reader.read_chunk()
            except StopIteration:
                return rows, last
            if chunk.app_metadata is not None:
                last = json.loads(chunk.app_metadata.to_pybytes())
            rows += [tuple(v.decode() if isinstance(v, bytes) else v for v in row) for row in rows_of(chunk.data)]


def pytest_addoption(parser):
    parser.addoption("--driver", default=TEMPLATE, help="file of the driver whose answers are tested")


@pytest.fixture(scope="session")
def driver(request):
    from tsmark_driver import Driver
    module = load_driver(Path(request.config.getoption("--driver")), "tested_driver")
    return next(c for c in vars(module).values() if isinstance(c, type) and issubclass(c, Driver) and c.__module__ == module.__name__)


@pytest.fixture(scope="session")
def template():
    return load_driver(TEMPLATE, "template_driver").NameDriver


@pytest.fixture
def serving(tmp_path_factory):
    """Serves a driver class and returns a client."""
    servers = []

    def start(driver, token=""):
        path = tmp_path_factory.mktemp("s") / "s"
        server = Server(driver, f"grpc+unix://{path}", token)
        servers.append(server)
        return Client(f"grpc+unix://{path}")

    yield start
    for server in servers:
        server.shutdown()


def batch_of(table, rows):
    """A record batch as tsmark sends it, of rows of Python values: times are nanoseconds, dates days."""
    from tsmark_driver import Table, arrow_schema
    schema = arrow_schema(Table.of(table))

    def array(values, t):
        if pa.types.is_timestamp(t):
            return pa.array(values, pa.int64()).cast(t)
        if pa.types.is_date(t):
            return pa.array(values, pa.int32()).cast(t)
        return pa.array(values, t.value_type).cast(t) if pa.types.is_dictionary(t) else pa.array(values, t)

    arrays = [array(list(values), t) for values, t in zip(zip(*rows), schema.types)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
