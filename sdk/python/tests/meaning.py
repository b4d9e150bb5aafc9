"""Reads the documents that define what queries mean: conformance/meaning has their syntax."""

import json
import re
from dataclasses import dataclass, field

from tsmark_driver.model import _time

UNITS = {"h": 3600, "m": 60, "s": 1, "ms": 0.001}


@dataclass
class Case:
    name: str
    words: dict = field(default_factory=dict)
    answers: dict = field(default_factory=lambda: {"expect": [], "or": [], "merged": []})


@dataclass
class Document:
    numbers: list = field(default_factory=list)
    metrics: list = field(default_factory=list)
    rows: list = field(default_factory=list)
    tables: dict = field(default_factory=dict)
    cases: list = field(default_factory=list)

    def schema(self):
        return {"series": len(self.rows), "tables": [
            {"name": name, "tags": [{"key": k, "type": "float" if k in self.numbers else "text"} for k in t["tags"]],
             "fields": [{"name": n, "type": kind} for n, kind in t["fields"].items()]} for name, t in self.tables.items()]}

    def rows_of(self, table):
        """The rows of a table of the schema as tuples of Python values."""
        out = []
        for name, tags, values, at in self.rows:
            if name == table["name"]:
                row = [at]
                for t in table["tags"]:
                    v = tags.get(t["key"])
                    row.append(float(v) if v is not None and t["type"] == "float" else v)
                out.append((*row, *(values.get(f["name"]) for f in table["fields"])))
        return out


def split(text, at):
    return re.split(rf"(?<!\\){re.escape(at)}", text)


def plain(text):
    return re.sub(r"\\([ ,=])", r"\1", text)


def words(line):
    return [json.loads(w) if w.startswith('"') else w for w in re.findall(r'"(?:\\.|[^"])*"|\S+', line)]


def parse(path):
    d, section, columns = Document(), "", None
    for line in path.read_text().splitlines():
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if line[0] not in " \t":
            section, _, rest = text.partition(" ")
            if section in ("numbers", "metrics"):
                setattr(d, section, rest.split())
            if section == "query":
                d.cases.append(Case(rest.strip()))
            if section in ("expect", "or", "merged"):
                d.cases[-1].answers[section].append([])
                columns = None
        elif section == "load":
            load(d, text)
        elif section == "query":
            first, *rest = words(text)
            d.cases[-1].words[first] = rest
        elif columns is None:
            columns = words(text)
        else:
            d.cases[-1].answers[section][-1].append(words(text))
    return d


def load(d, text):
    key, fields, at = [p for p in split(text, " ") if p]
    name, *pairs = split(key, ",")
    table = d.tables.setdefault(plain(name), {"tags": {}, "fields": {}})
    tags, values = {}, {}
    for pair in pairs:
        k, v = map(plain, split(pair, "="))
        table["tags"][k] = True
        tags[k] = v
    for pair in split(fields, ","):
        k, v = split(pair, "=")
        kind = "bool" if v in "tf" else "int" if v.endswith("i") else "float"
        table["fields"].setdefault(plain(k), kind)
        v = v.removesuffix("i")
        values[plain(k)] = None if v == "NULL" else v == "t" if kind == "bool" else int(v) if kind == "int" else float(v)
    d.rows.append((plain(name), tags, values, _time(at)))


def ns(text):
    n, unit = re.fullmatch(r"([\d.]+)(h|ms|m|s)", text).groups()
    return int(float(n) * UNITS[unit] * 1_000_000_000)


def query(document, case):
    """The stored JSON of a case's query; None: the SDK has no such shape."""
    w = {k: v[0] if len(v) == 1 else v for k, v in case.words.items()}

    def listed(word):
        return case.words.get(word, [])

    shape = w["shape"]
    if shape in ("over", "promql"):
        return None
    q = {"type": "meaning", "id": 0, "table": w.get("table") or next(iter(document.tables)), "fields": listed("fields")}
    for word in ("start", "end", "order"):
        if word in w:
            q[word] = w[word]
    if listed("present"):
        q["present"] = listed("present")
    if listed("where"):
        q["in"] = {"key": listed("where")[0], "values": listed("where")[1:]}
    if listed("filter"):
        name, operator, value, *more = listed("filter")
        q["above"] = {"field": name, "compare": operator, "value": float(value), "and": more}
    if "by" in w:
        q["group_by"] = w["by"]
    if "tag" in w:
        q["group_by"] = w["tag"]
    for word in ("group", "tags"):
        if word in case.words:
            q[word] = listed(word)
    q["mean_tags"] = listed("mean-tags")
    if "limit" in w:
        q["limit"] = int(w["limit"])
    if "every" in w:
        q["bucket_ns"] = ns(w["every"])
    if "aggregate" in w:
        q["aggregate"] = w["aggregate"]
    if "unit" in w:
        q["unit"] = w["unit"]
    if "having" in w:
        name, operator, value = listed("having")
        q["having"] = {"field": name, "below": operator == "<", "at_least": operator == ">=", "value": float(value), "over": w.get("over", "")}
    elif "over" in w:
        q["over"] = w["over"]
    if "set" in w:
        operation, kind, n = listed("set")
        q["set"] = {"operation": operation, "all": kind == "all", "operands": int(n)}
    summaries = {"active-units": "units-with-more", "active-hours": "hours-per-day", "sessions": "session-per-day",
                 "active-share": "share-per-day", "starts": "starts"}
    if "active" in w:
        parts = listed("active")
        zeros = parts[0] == "zeros"
        name, operator, value = parts[zeros:]
        q["active"] = {"field": name, "zeros": zeros, "below": operator == "<", "at_least": operator == ">=", "value": float(value),
                       "summary": summaries[shape], "more": int(w.get("more", 0))}
    q["shape"] = {"any-rows": "rows", "row-set": "rows", "unit-means": "means", **dict.fromkeys(summaries, "activity")}.get(shape, shape)
    return q
