"""The driver's answers to the queries whose meaning conformance/meaning defines."""

import math

import pyarrow as pa
import pytest
from conftest import ROOT, batch_of
from meaning import parse, query

from tsmark_driver import Driver, NotSupported, Request, RowSet, compute, needed_columns, select
from tsmark_driver.model import Query, Table, _time

DOCUMENTS = sorted((ROOT / "conformance/meaning/testdata").glob("*.test"))


def value(text, kind):
    if text == "NULL":
        return None
    return {"time": _time, "int": int, "float": float, "bool": lambda t: int(t == "true")}.get(kind, str)(text)


def same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9)
    return a == b


def equal(found, right):
    return len(found) == len(right) and all(all(map(same, x, y)) for x, y in zip(found, right))


class MemoryDriver(Driver):
    """Has rows, and no query language."""

    name = "memory"
    help = "rows in memory"

    @classmethod
    def render(cls, options, schema, query):
        if isinstance(query.shape, RowSet):
            raise NotSupported("no set operations")
        return Request(str(query), {"query": query.stored, "table": schema.table(query.table).stored})

    def open(self, create):
        self.batches = {}

    def write(self, table, batch, worker):
        columns = [c.dictionary_decode() if pa.types.is_dictionary(c.type) else c for c in batch.columns]
        self.batches.setdefault(table.name, []).append(pa.RecordBatch.from_arrays(columns, table.column_names))

    def query(self, request, worker):
        q, table = Query.of(request.plan["query"]), Table.of(request.plan["table"])
        rows = pa.Table.from_batches(self.batches[table.name]).sort_by("time").select(needed_columns(q))
        return compute(q, table, select(q, table, rows))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.stem)
def test_meaning(path, serving, driver, tmp_path):
    check(path, serving, driver, tmp_path)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.stem)
def test_computed(path, serving, tmp_path):
    check(path, serving, MemoryDriver, tmp_path)


def check(path, serving, driver, tmp_path):
    document = parse(path)
    client, schema, checked = serving(driver), document.schema(), 0
    caps = client.act("caps", options={})
    db = client.act("open", options={}, dir=str(tmp_path), create=True)["db"]
    client.act("create", db=db, schema=schema)
    for table in schema["tables"]:
        client.put(db, table["name"], batch_of(table, document.rows_of(table)))
    client.act("settle", db=db)
    for case in document.cases:
        q = query(document, case)
        if q is None:
            continue
        try:
            request = client.act("render", options={}, schema=schema, query=q)
        except pa.ArrowNotImplementedError:
            continue
        table = Table.of(next(t for t in schema["tables"] if t["name"] == q["table"]))
        columns = Query.of(q).columns(table)
        found, _ = client.get(db=db, worker=0, text=request["text"], plan=request.get("plan"),
                              columns=[{"name": c.name, "kind": c.kind} for c in columns])
        answers = case.answers["merged"] if caps["dedupes"] and case.answers["merged"] else case.answers["expect"] + case.answers["or"]
        answers = [[tuple(value(t, c.kind) for t, c in zip(row, columns)) for row in a] for a in answers]
        if case.words["shape"] == ["any-rows"]:
            assert len(found) == min(q["limit"], len(answers[0])) and all(row in answers[0] for row in found), case.name
            continue
        if not q.get("order"):
            found, answers = sorted(found, key=repr), [sorted(a, key=repr) for a in answers]
        assert any(equal(found, a) for a in answers), f"{case.name}\n{request['text']}\nfound {found}\nexpected {answers}"
        checked += 1
    assert checked or path.stem == "sets"  # which not every driver has
