package influxdb2

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
)

const day = 24 * time.Hour

// activity renders the shapes that look at active buckets.
func (r *renderer) activity() (flow, []column) {
	switch q := r.q.Shape.(type) {
	case query.ActiveUnits:
		return r.active(&q.Activity, nil).pipe(group(q.Unit), "count()",
			filter(fmt.Sprintf("%s > %d", member(valueColumn), q.More)), "group()"), newColumns(q.Unit)
	case query.ActiveHours:
		return r.active(&q.Activity, nil).pipe(window(day, "count"), "mean()",
			setColumn(valueColumn, member(valueColumn)+" * "+float(q.Width.Hours())), "group()"), newColumns(q.Unit, valueColumn)
	case query.ActiveShare:
		keys := append([]string{timeColumn}, q.Group...)
		f := r.active(&q.Activity, q.Group).pipe(group(q.Group...), window(day, "count"))
		if len(r.truncateTimes(day)) > 0 {
			f = f.pipe(r.truncateTimes(day)...)
		}
		share := fmt.Sprintf("float(v: %s) / %s", member(valueColumn), float(float64(day/q.Width)))
		return f.pipe(setColumn(valueColumn, share), "group()").pipe(sortRows(query.Ascending, keys...)...), newColumns(append(keys, valueColumn)...)
	case query.Starts:
		return r.changes(&q.Activity, q.Group).pipe(filter(member(valueColumn)+" == 1"), group(q.Group...), "count()", "group()"),
			newColumns(append(slices.Clone(q.Group), valueColumn)...)
	}
	return r.sessions(r.q.Shape.(query.Sessions))
}

// unitMeasure returns the measure by which the buckets of each unit count as active.
func (r *renderer) unitMeasure(a *query.Activity, keys []string) flow {
	units := append(slices.Clone(keys), a.Unit)
	f, _ := r.values([]string{a.Field}, units, nil) // a row without the field does not count
	if r.unpivots {
		f = f.pipe(filter(equals(fieldColumn, a.Field)))
	}
	f = f.pipe(regroup(units...)...)
	if a.Zeros {
		f = f.pipe(setColumn(valueColumn, fmt.Sprintf("if float(v: %s) == 0.0 then 1.0 else 0.0", member(valueColumn))))
	}
	return f.pipe(window(a.Width, "mean"))
}

// active returns the active buckets of each unit.
func (r *renderer) active(a *query.Activity, keys []string) flow {
	return r.unitMeasure(a, keys).pipe(filter(fmt.Sprintf("%s %s %s", member(valueColumn), a.Compare, float(a.Value))))
}

// changes returns 1 for an active bucket of a unit after an inactive one, -1 for the reverse, and 0 for
// all others but the first.
func (r *renderer) changes(a *query.Activity, keys []string) flow {
	active := fmt.Sprintf("if %s %s %s then 1 else 0", member(valueColumn), a.Compare, float(a.Value))
	return r.unitMeasure(a, keys).pipe(r.truncateTimes(a.Width)...).
		pipe(fmt.Sprintf("sort(columns: %s)", list([]string{timeColumn})), setColumn(valueColumn, active), "difference()")
}

// sessions renders the Sessions shape. Every second one of consecutive changes ends a session, and the
// time since the previous change is its length.
func (r *renderer) sessions(q query.Sessions) (flow, []column) {
	keys := []string{timeColumn, q.Unit}
	return r.changes(&q.Activity, nil).pipe(
		filter(member(valueColumn)+" != 0"),
		"elapsed(unit: 1ns)",
		filter(member(valueColumn)+" == -1"),
		fmt.Sprintf("map(fn: (r) => ({r with %s: time(v: int(v: %s) - r.elapsed), %s: float(v: r.elapsed) / 1000000000.0}))",
			timeColumn, member(timeColumn), valueColumn),
		fmt.Sprintf("truncateTimeColumn(unit: %s)", duration(day)),
		group(keys...), "mean()", "group()",
	).pipe(sortRows(query.Ascending, keys...)...), newColumns(append(keys, valueColumn)...)
}

// operandColumn and numberColumn are columns of tsmark's own: the operand of a set operation that a row
// comes from, and its number among equal rows of that operand.
const (
	operandColumn = "tsmark_operand"
	numberColumn  = "tsmark_number"
)

// rowSet renders the RowSet shape: the rows of all operands, and for equal rows how many came from each
// operand. In an operation on all rows, equal rows of one operand are numbered and therefore distinct.
func (r *renderer) rowSet(q query.RowSet) (flow, []column) {
	rows, answer := r.rows(query.Rows{Fields: q.Fields, Tag: q.Tag})
	r.definitions = append(r.definitions, "rows = () => "+rows.String())
	names := make([]string, len(answer))
	for i, c := range answer {
		names[i] = c.name
	}
	numbered := q.All && q.Operation != query.Union
	var operands, identity, counts, wanted []string
	for i := range q.Operands {
		operand := flow{"rows()", fmt.Sprintf("set(key: %s, value: %s)", text(operandColumn), text(fmt.Sprint(i)))}
		if numbered {
			operand = operand.pipe(group(names...), setColumn(numberColumn, "1"), fmt.Sprintf("cumulativeSum(columns: %s)", list([]string{numberColumn})))
		}
		operands = append(operands, operand.inline())
		identity = append(identity, fmt.Sprintf("of_%d: 0", i))
		counts = append(counts, fmt.Sprintf("of_%d: accumulator.of_%[1]d + (if r.%s == %s then 1 else 0)", i, operandColumn, text(fmt.Sprint(i))))
		comparison := "> 0"
		if q.Operation == query.Except && i > 0 {
			comparison = "== 0"
		}
		wanted = append(wanted, fmt.Sprintf("r.of_%d %s", i, comparison))
	}
	all := flow{"union(tables: [\n  " + strings.Join(operands, ",\n  ") + ",\n])"}
	switch {
	case q.Operation == query.Union && q.All:
		return all.pipe("group()"), answer
	case q.Operation == query.Union:
		return all.pipe(group(names...), first(1), "group()"), answer
	}
	if numbered {
		names = append(names, numberColumn)
	}
	return all.pipe(group(names...),
		fmt.Sprintf("reduce(identity: {%s}, fn: (r, accumulator) => ({%s}))", strings.Join(identity, ", "), strings.Join(counts, ", ")),
		filter(strings.Join(wanted, " and ")), "group()"), answer
}
