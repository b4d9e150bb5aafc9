"""Renders functions over time of metrics, which PromQL expresses, as SQL. Times are whole milliseconds since 1970."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .model import NotSupported, PromQL, Query, Table
from .sql import Dialect

_ALTERNATIVES = re.compile(r"[A-Za-z0-9_/-]+(\|[A-Za-z0-9_/-]+)*")
MS = 1_000_000


def render(d: Dialect, query: Query, shape: PromQL, table: Table) -> str:
    """The samples, for each time of the answer the windows that end there, the function of each series'
    window, and the answer from these. A window lacks its start: samples after t - range count, up to t."""
    o = shape.over or {}
    if d.precision > MS:
        raise NotSupported(f"times of {d.name} are multiples of {d.precision} ns, and samples of metrics are at milliseconds")
    if not table.tags:
        raise NotSupported(f"metric {table.name} has no labels that tell series apart")
    function, length = o["func"], o["range_ns"] // MS
    first = last = (query.end or 0) // MS
    step = 1
    if shape.step > 0:
        first, step = (query.start or 0) // MS, shape.step // MS
        last = first + max(last - first, 0) // step * step
    keys, value, time = [d.ident(t.key) for t in table.tags], d.ident("value"), d.ident("time")
    counter, newest = function in ("rate", "increase"), function in ("last", "value")
    lines: list[str] = []

    def select(columns: Sequence[str], source: str, conditions: Sequence[str] = (), more: str = "") -> None:
        lines.append("  SELECT\n    " + ",\n    ".join(columns) + f"\n  FROM {source}")
        if conditions:
            lines.append("  WHERE " + "\n    AND ".join(conditions))
        if more:
            lines.append("  " + more)

    # The samples, with their neighbors; NULLs are staleness markers, which end the current value.
    def neighbor(name: str, expression: str, alias: str) -> str:
        return f"{name}({expression}) OVER (PARTITION BY {', '.join(keys)} ORDER BY {time}) AS {alias}"

    at = d.milliseconds(time)
    columns = [*keys, f"{at} AS sampled_at", value]
    if counter:
        columns += [neighbor("lag", at, "previous_at"), neighbor("lag", value, "previous_value")]
    if counter or newest:
        columns.append(neighbor("lead", at, "next_at"))
    conditions = _matchers(d, table, o.get("match") or ())
    conditions += [f"{time} > {d.time((first - length) * MS)}", f"{time} <= {d.time(last * MS)}"]
    if function != "value":
        conditions.append(f"{value} IS NOT NULL")
    lines.append("WITH samples AS (")
    select(columns, d.ident(table.name), conditions)

    lines.append("), placed AS (")
    if first == last:
        select(["samples.*", f"{last} AS evaluated_at"], "samples")
    else:
        windows = -(-length // step)  # at most that a sample is in
        origin = first - windows * step - (step - 1)  # no sample is before it: no remainder is negative
        place = f"sampled_at + {step - 1} - (sampled_at - {origin}) % {step}"
        if windows > 1:
            select(["samples.*", f"{place} + n * {step} AS evaluated_at"], f"samples\n  CROSS JOIN {d.numbers(windows)}")
        else:
            select(["samples.*", f"{place} AS evaluated_at"], "samples")

    lines.append("), windows AS (")
    select(["evaluated_at", *keys, *_window(d, function, value, length)], "placed", [] if first == last else [
        f"evaluated_at >= {first}", f"evaluated_at <= {last}", f"evaluated_at < sampled_at + {length}"],
        f"GROUP BY {_numbers(1 + len(keys))}")
    if counter:
        _extrapolate(d, select, lines, keys, o, length)

    lines.append("), answers AS (")
    aggregate = o.get("aggregate") or ""
    labels = [d.ident(k) for k in (o.get("by") or ())] if aggregate else keys
    result = "result" if not aggregate else f"CAST(count(result) AS {d.double_type}) AS result" if aggregate == "count" else \
        f"{aggregate}(result) AS result"
    select(["evaluated_at", *labels, result], "rates" if counter else "windows", ["result IS NOT NULL"] if function == "value" else [],
           f"GROUP BY {_numbers(1 + len(labels))}" if aggregate else "")
    source, conditions = "answers", []
    if o.get("top"):
        lines.append("), ranked AS (")
        select(["answers.*", "row_number() OVER (PARTITION BY evaluated_at ORDER BY result DESC) AS place"], "answers")
        source, conditions = "ranked", [f"place <= {o['top']}"]
    if o.get("above") is not None:
        conditions.append(f"result > {d.double(o['above'])}")
    lines.append(")")
    select([f"{d.from_milliseconds('evaluated_at')} AS {time}", *labels, f"result AS {value}"], source, conditions)
    return "\n".join(lines)


def _numbers(n: int) -> str:
    return ", ".join(str(i + 1) for i in range(n))


def _window(d: Dialect, function: str, value: str, length: int) -> list[str]:
    newest = f"max(CASE WHEN next_at IS NULL OR next_at > evaluated_at THEN {value} END)"
    if function in ("rate", "increase"):
        start = f"evaluated_at - {length}"
        return ["count(*) AS sample_count", "min(sampled_at) AS first_at", "max(sampled_at) AS last_at",
                f"max(CASE WHEN previous_at IS NULL OR previous_at <= {start} THEN {value} END) AS first_value", f"{newest} AS last_value",
                f"sum(CASE WHEN previous_at > {start} AND {value} < previous_value THEN previous_value ELSE {d.double(0)} END) AS resets"]
    if function in ("last", "value"):
        return [f"{newest} AS result"]
    if function == "count":
        return [f"CAST(count({value}) AS {d.double_type}) AS result"]
    return [f"{function}({value}) AS result"]


def _extrapolate(d: Dialect, select: Callable[..., None], lines: list[str], keys: Sequence[str], o: Mapping[str, Any], length: int) -> None:
    """Prometheus's rules (promql/functions.go, extrapolatedRate): the increase between the first and the last
    sample of a window is extended to the bounds of the window if they are closer than 1.1 times the mean
    distance of samples, otherwise by half that distance; and not further back than where the counter
    would have been 0."""
    def seconds(ms: str) -> str:
        return f"CAST({ms} AS {d.double_type}) / 1000"

    def extension(gap: str) -> str:
        return f"CASE WHEN {gap} >= distance * {d.double(1.1)} THEN distance / 2 ELSE {gap} END AS {gap}"

    keys = ["evaluated_at", *keys]
    lines.append("), increases AS (")
    select([*keys, "first_value", "last_value - first_value + resets AS increase", seconds("last_at - first_at") + " AS sampled",
            seconds("last_at - first_at") + " / (sample_count - 1) AS distance",
            seconds(f"first_at - (evaluated_at - {length})") + " AS before_first", seconds("evaluated_at - last_at") + " AS after_last"],
           "windows", ["sample_count > 1"])
    lines.append("), extensions AS (")
    select([*keys, "increase", "sampled", extension("before_first"), extension("after_last"),
            "CASE WHEN increase > 0 AND first_value >= 0 THEN sampled * (first_value / increase) END AS since_zero"], "increases")
    lines.append("), rates AS (")
    factor = "(sampled + CASE WHEN since_zero < before_first THEN since_zero ELSE before_first END + after_last) / sampled"
    if o["func"] == "rate":
        factor += f" / {d.double(o['range_ns'] / 1e9)}"
    select([*keys, f"increase * ({factor}) AS result"], "extensions")


def _matchers(d: Dialect, table: Table, matchers: Sequence[Mapping[str, str]]) -> list[str]:
    """The conditions on labels. A label that a series lacks is NULL, and the empty text to a matcher."""
    out = []
    for m in matchers:
        op, text = m["op"], m["value"]
        negative = op.startswith("!")
        missing = (re.fullmatch(text, "") is not None if op.endswith("~") else text == "") != negative
        if not table.has_tag(m["label"]):
            if not missing:
                out.append("1 = 0")
            continue
        label = d.ident(m["label"])
        condition = _matcher(d, label, op, text)
        if text == "" and op in ("=", "!="):
            condition = f"{label} IS {'NOT ' if negative else ''}NULL"
        elif missing:
            condition = f"({label} IS NULL OR {condition})"
        elif negative:
            condition = f"({label} IS NOT NULL AND {condition})"
        out.append(condition)
    return out


def _matcher(d: Dialect, label: str, op: str, text: str) -> str:
    if op in ("=", "!="):
        return f"{label} {'=' if op == '=' else '<>'} {d.text(text)}"
    negation = "NOT " if op == "!~" else ""
    if _ALTERNATIVES.fullmatch(text):
        return f"{label} {negation}IN ({', '.join(d.text(v) for v in text.split('|'))})"
    return negation + d.matches(label, d.text(f"^({text})$"))
