package iotdb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/fold"
	"github.com/tsmark/tsmark/query"
)

// plan is a statement of the tree model, and the mapping of rows of its result, in which a series is a
// path, to rows of the query's. It is the Plan of a driver.Request, whose text is a line of JSON, and
// the statement.
type plan struct {
	Statement string `json:"-"`
	// Columns is the number of columns after the time and the device.
	Columns int  `json:"columns"`
	Device  bool `json:"device,omitempty"` // the result has a device column
	// Skip is the number of nodes of a device's path before those of the tags. Rows must have the tags
	// in Present.
	Skip    int   `json:"skip,omitempty"`
	Present []int `json:"present,omitempty"`
	// Output are the columns of the query's result.
	Output []output `json:"output"`
	// Names are the names of the columns if measurements may be missing, which the result then leaves
	// out.
	Names []string `json:"names,omitempty"`
	// Range is the statement that reads the first and the last time if the query has no bounds: GROUP
	// BY needs them. Both replace rangeMark, as multiples of Width.
	Range string `json:"range,omitempty"`
	Width int64  `json:"width,omitempty"` // in the server's unit
	Start *int64 `json:"start,omitempty"` // the query's own bounds
	End   *int64 `json:"end,omitempty"`
	// Groups are the aggregates of GROUP BY LEVEL, each a function and a measurement: the result has a
	// column of each for each value of the node after Skip others. The first one counts the rows of a
	// group.
	Groups [][2]string `json:"groups,omitempty"`
	Down   bool        `json:"down,omitempty"` // groups come in descending order
	// Counted is the column that counts the rows of a bucket, for statements in which HAVING does not
	// drop empty buckets; nil: HAVING does.
	Counted *int `json:"counted,omitempty"`
	// Fold merges the rows of devices that share the values of some tags; nil: each device has its own
	// rows. The server could do so for means only: over several devices, GROUP BY LEVEL of IoTDB 2.0.1
	// returns any of their last values for last_value, NULL for max_by(x, time), and applies a condition
	// on values to all devices at once. The first Tags columns of Output are the tags of a row; the
	// others are its time and fields, or a sum and a count for each mean.
	Fold *fold.Plan `json:"fold,omitempty"`
	Tags int        `json:"tags,omitempty"`
	// Last marks the result of SELECT LAST, which has a row for each measurement. It lists the
	// measurements of a row; the first one sets the row's time.
	Last []string `json:"last,omitempty"`
}

// output is the source of a column of the result.
type output struct {
	From string `json:"from"`
	At   int    `json:"at,omitempty"`   // index among several, from 0
	Over int    `json:"over,omitempty"` // index of a ratio's divisor
}

// rangeMark is a placeholder for the range of a GROUP BY that is not known yet.
const rangeMark = "$range"

// The sources of columns.
const (
	fromTime      = "time"   // the time of the result's row
	fromTimeValue = "moment" // a value that is a time
	fromTag       = "tag"    // a node of the path
	fromValue     = "value"
	fromCount     = "count" // a count: a missing value is 0
	fromWhole     = "whole" // a sum of counts, which IoTDB computes in doubles
	fromRatio     = "ratio" // of two sums
)

// request returns a copy of the plan as a request. A request thus does not hold the memory of the
// renderer.
func (p plan) request() (driver.Request, error) {
	head, err := json.Marshal(p)
	return driver.Request{Text: string(head) + "\n" + p.Statement, Plan: &p}, err
}

// deviceColumn is the first column of results of ALIGN BY DEVICE.
const deviceColumn = "Device"

// planned is a reader that computes the rows of a plan. It reuses its memory.
type planned struct {
	*plan
	sink query.Sink
	unit int64 // of times, in nanoseconds

	timed  bool
	of     []int // the index of each of Names in the result; -1: missing
	named  []query.Value
	groups []levelGroup
	path   []byte // of the current device
	nodes  nodes
	row    []query.Value
	merged *fold.Collector // with Fold
	part   []query.Value   // of a group

	// For SELECT LAST.
	device []byte
	values []query.Value
	at     query.Value
}

// begin begins another result.
func (r *planned) begin(p *plan, sink query.Sink, unit int64) {
	r.plan, r.sink, r.unit, r.path, r.device = p, sink, unit, r.path[:0], r.device[:0]
	r.row = append(r.row[:0], make([]query.Value, len(p.Output))...)
	r.values = append(r.values[:0], make([]query.Value, len(p.Last))...)
	if p.Fold != nil {
		r.merged = fold.Collect(p.Fold, sink)
	}
}

// columns implements reader.
func (r *planned) columns(names, _ []string) error {
	r.timed = len(names) > 0 && names[0] == "Time"
	if r.timed {
		names = names[1:]
	}
	if len(r.Groups) > 0 {
		return r.group(names)
	}
	if len(r.Last) > 0 {
		if want := []string{"Timeseries", "Value", "DataType"}; !r.timed || !slices.Equal(names, want) {
			return refusing(fmt.Errorf("the answer has the columns %q, and not %q", names, want))
		}
		return nil
	}
	if r.Device {
		if len(names) == 0 { // without a matching device there are no columns
			return nil
		}
		if names[0] != deviceColumn {
			return refusing(fmt.Errorf("the answer has the columns %q, and the first is not a device", names))
		}
		names = names[1:]
	}
	if len(r.Names) > 0 {
		r.of = r.of[:0]
		for _, name := range r.Names {
			r.of = append(r.of, slices.Index(names, name))
		}
		r.named = append(r.named[:0], make([]query.Value, len(r.Names))...)
		return nil
	}
	if len(names) != r.Columns && len(names) > 0 {
		return refusing(fmt.Errorf("the answer has %d columns of values, and not %d", len(names), r.Columns))
	}
	return nil
}

// levelGroup is a value of a node and the indexes of its aggregates among the result's columns; -1: no
// such column.
type levelGroup struct {
	value query.Value
	of    []int
}

// group finds the groups of GROUP BY LEVEL in the names of the columns, such as
// max_value(root.*.cpu.*.rack_1.usage).
func (r *planned) group(names []string) error {
	r.groups = r.groups[:0]
	for column, name := range names {
		function, rest, _ := strings.Cut(name, "(")
		path, closed := strings.CutSuffix(rest, ")")
		_, measurement := parent([]byte(path))
		aggregate := slices.Index(r.Groups, [2]string{function, string(measurement)})
		var n nodes
		if err := n.cut([]byte(path), r.Skip); err != nil || !closed || aggregate < 0 || len(n.list) < 2 {
			return refusing(fmt.Errorf("the answer has the unexpected column %s", name))
		}
		at := slices.IndexFunc(r.groups, func(g levelGroup) bool {
			return g.value.Kind == n.list[0].Kind && string(g.value.Text) == string(n.list[0].Text)
		})
		if at < 0 {
			at = len(r.groups)
			r.groups = append(r.groups, levelGroup{n.list[0], slices.Repeat([]int{-1}, len(r.Groups))})
		}
		r.groups[at].of[aggregate] = column // repeated for each path of FROM, with the values of all
	}
	slices.SortFunc(r.groups, func(a, b levelGroup) int {
		by := bytes.Compare(a.value.Text, b.value.Text)
		if r.Down {
			return -by
		}
		return by
	})
	return nil
}

// emitGroups passes on a row for each group that has rows.
func (r *planned) emitGroups(at query.Value, values []query.Value) (rows int64, err error) {
	for _, g := range r.groups {
		r.named = r.named[:0]
		for _, column := range g.of {
			var v query.Value
			if column >= 0 && column < len(values) {
				v = values[column]
			}
			r.named = append(r.named, v)
		}
		if r.named[0].Int == 0 || g.value.Kind == query.Null {
			continue
		}
		r.nodes.list = append(r.nodes.list[:0], g.value)
		n, err := r.hand(r.named, at)
		if rows += n; err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// hand passes a row on if it belongs to the query's result.
func (r *planned) hand(values []query.Value, at query.Value) (int64, error) {
	for _, i := range r.Present {
		if i >= len(r.nodes.list) || r.nodes.list[i].Kind == query.Null {
			return 0, nil
		}
	}
	if r.Counted != nil && values[*r.Counted].Int == 0 {
		return 0, nil
	}
	if r.sink == nil && r.Fold == nil {
		return 1, nil
	}
	for i, o := range r.Output {
		switch o.From {
		case fromTime:
			r.row[i] = at
		case fromTag:
			if o.At >= len(r.nodes.list) {
				return 0, errPath
			}
			r.row[i] = r.nodes.list[o.At]
		case fromTimeValue:
			if r.row[i] = values[o.At]; r.row[i].Kind == query.Int {
				r.row[i] = query.Value{Kind: query.Time, Int: r.row[i].Int * r.unit}
			}
		case fromCount:
			if r.row[i] = values[o.At]; r.row[i].Kind == query.Null {
				r.row[i] = query.Value{Kind: query.Int}
			}
		case fromWhole:
			r.row[i] = query.Value{Kind: query.Int, Int: int64(values[o.At].Float)}
		case fromRatio:
			r.row[i] = query.Value{}
			if sum, count := values[o.At], values[o.Over]; sum.Kind == query.Float && count.Float != 0 {
				r.row[i] = query.Value{Kind: query.Float, Float: sum.Float / count.Float}
			}
		default:
			r.row[i] = values[o.At]
		}
	}
	if r.Fold != nil {
		part := r.row[r.Tags:]
		if r.Fold.Fold != nil { // begins with a number of rows, and each device with a row is in its group
			r.part = append(append(r.part[:0], query.Value{Kind: query.Int, Int: 1}), part...)
			part = r.part
		}
		return 0, r.merged.Take(r.row[:r.Tags], part)
	}
	return 1, r.sink.Row(r.row)
}

// locate splits the path of a device unless it equals the previous one.
func (r *planned) locate(path []byte) error {
	if len(r.path) > 0 && string(path) == string(r.path) {
		return nil
	}
	r.path = append(r.path[:0], path...)
	return r.nodes.cut(r.path, r.Skip)
}

// take implements reader.
func (r *planned) take(values []query.Value) (int64, error) {
	var at query.Value
	if r.timed {
		at, values = values[0], values[1:]
	}
	if len(r.Groups) > 0 {
		return r.emitGroups(at, values)
	}
	if len(r.Last) > 0 {
		return r.last(at, values)
	}
	if r.Device {
		if len(values) == 0 {
			return 0, errPath
		}
		if err := r.locate(values[0].Text); err != nil {
			return 0, err
		}
		values = values[1:]
	}
	if len(r.Names) > 0 {
		for i, at := range r.of {
			if r.named[i] = (query.Value{}); at >= 0 && at < len(values) {
				r.named[i] = values[at]
			}
		}
		values = r.named
	}
	if len(values) < r.Columns {
		return 0, errors.New("truncated row in the answer")
	}
	return r.hand(values, at)
}

// last receives the last value of a measurement. The measurements of a device are consecutive.
func (r *planned) last(at query.Value, values []query.Value) (rows int64, err error) {
	device, name := parent(values[0].Text)
	if string(device) != string(r.device) {
		if rows, err = r.endDevice(); err != nil {
			return rows, err
		}
		r.device = append(r.device[:0], device...)
		if err := r.locate(r.device); err != nil {
			return rows, err
		}
	}
	column := slices.Index(r.Last, string(name))
	if column < 0 {
		return rows, fmt.Errorf("the answer has the unexpected measurement %s", name)
	}
	if r.at.Kind == query.Null {
		r.at = at
	}
	if at.Int != r.at.Int {
		return rows, fmt.Errorf("the last values of %s are of different times, and each row of the table has all its fields", r.device)
	}
	if slices.ContainsFunc(r.Output, func(o output) bool { return o.From == fromValue && o.At == column }) {
		r.values[column], err = lastValue(string(values[1].Text), string(values[2].Text))
	}
	return rows, err
}

// parent splits the last node off a path.
func parent(path []byte) (of, name []byte) {
	quoted := false
	at := -1
	for i, c := range path {
		switch {
		case c == '`':
			quoted = !quoted
		case c == '.' && !quoted:
			at = i
		}
	}
	if at < 0 {
		return nil, path
	}
	return path[:at], path[at+1:]
}

// lastValue decodes a value of SELECT LAST, which is a text.
func lastValue(text, kind string) (query.Value, error) {
	switch kind {
	case "INT32", "INT64":
		n, err := strconv.ParseInt(text, 10, 64)
		return query.Value{Kind: query.Int, Int: n}, err
	case "DOUBLE":
		n, err := strconv.ParseFloat(text, 64)
		return query.Value{Kind: query.Float, Float: n}, err
	case "FLOAT":
		n, err := strconv.ParseFloat(text, 32)
		return query.Value{Kind: query.Float, Float: n}, err
	}
	return query.Value{}, fmt.Errorf("the last value %q has the unexpected type %s", text, kind)
}

// end implements reader. It passes on the last device of SELECT LAST, and the merged rows.
func (r *planned) end() (int64, error) {
	rows, err := r.endDevice()
	if err != nil || r.Fold == nil {
		return rows, err
	}
	return r.merged.Finish()
}

// endDevice passes on the row of a device of SELECT LAST.
func (r *planned) endDevice() (int64, error) {
	if len(r.Last) == 0 || len(r.device) == 0 {
		return 0, nil
	}
	n, err := r.hand(r.values, r.at)
	clear(r.values)
	r.at, r.device = query.Value{}, r.device[:0]
	return n, err
}
