package iotdb

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// parameters holds the parsed parameters of queries.
type parameters struct {
	sensors, devices uint32
	aggregate        query.Aggregate
	span, bucket     time.Duration
	filter           filter
	limit            int
	set              query.Set
}

// instant is the length of a window that holds one time: times are multiples of
// it. A window whose end belongs to it is longer by as much.
const instant = time.Microsecond

// all is the suffix of a set operation that keeps equal rows.
const all = "-all"

// readParameters reads the parameters.
func readParameters(s workload.Spec) (parameters, error) {
	v, err := s.ResolveQueries(useCase{}.QuerySettings())
	if err != nil {
		return parameters{}, err
	}
	by, err := parseFilter(v["filter"])
	if err != nil {
		return parameters{}, err // checked by ResolveQueries
	}
	if by.drawn && v.Int("sensors") > 1 {
		return parameters{}, badQueries("filter", "%q draws a value of one sensor, which others rarely have at the same time; set iotdb-queries sensors to 1, or compare with a number", v["filter"])
	}
	operation, keepsAll := strings.CutSuffix(v["set"], all)
	return parameters{
		sensors: uint32(v.Int("sensors")), devices: uint32(v.Int("devices")),
		aggregate: query.Aggregate(v["aggregate"]), span: v.Duration("span"), bucket: v.Duration("bucket"),
		filter: by, limit: v.Int("limit"),
		set: query.Set{Operation: query.SetOperation(operation), All: keepsAll, Operands: v.Int("set-of")},
	}, nil
}

func texts[T ~string](of []T) []string {
	texts := make([]string, len(of))
	for i, t := range of {
		texts[i] = string(t)
	}
	return texts
}

// queryType is one kind of query.
type queryType struct {
	name, help string
	window     windowKind
	anyDevice  bool // no device is named
	filtered   bool // only rows whose values pass the value filter
	numbers    bool // sensors must be numbers, unless they are only counted
	shape      func(fields []string, a *parameters) query.Shape
}

// windowKind is the way in which the time of a query's rows is bounded.
type windowKind uint8

const (
	always   windowKind = iota
	oneTime             // a single time
	closed              // both bounds belong to it
	halfOpen            // the end does not
)

// queryTypes lists them in the order of the paper and, behind those, the tool.
func queryTypes() []queryType {
	rows := func(fields []string, _ *parameters) query.Shape { return query.Rows{Fields: fields, Tag: DeviceTag} }
	limited := func(fields []string, a *parameters) query.Shape {
		return query.AnyRows{Fields: fields, Tag: DeviceTag, Limit: a.limit}
	}
	descending := func(fields []string, _ *parameters) query.Shape {
		return query.Rows{Fields: fields, Tag: DeviceTag, Order: query.Descending}
	}
	set := func(fields []string, a *parameters) query.Shape {
		return query.RowSet{Fields: fields, Tag: DeviceTag, Set: a.set}
	}
	total := func(fields []string, a *parameters) query.Shape {
		return query.Totals{Aggregate: a.aggregate, Fields: fields, GroupBy: DeviceTag}
	}
	last := func(fields []string, _ *parameters) query.Shape { return query.Last{By: DeviceTag, Fields: fields} }
	buckets := func(order query.Order) func([]string, *parameters) query.Shape {
		return func(fields []string, a *parameters) query.Shape {
			return query.Buckets{Aggregate: a.aggregate, Fields: fields, Width: a.bucket, GroupBy: DeviceTag, Order: order}
		}
	}
	return []queryType{
		{name: precisePoint, help: "the rows of devices at one time", window: oneTime, shape: rows},
		{name: "time-range", help: "the rows of devices in a span of time", window: closed, shape: rows},
		{name: "limit", help: "any rows of a group of devices, up to a limit", anyDevice: true, shape: limited},
		{name: "value-range", help: "the rows of devices in a span of time whose values pass the value filter", window: closed, filtered: true, shape: rows},
		{name: "value-range-limit", help: "as value-range, up to a limit", window: closed, filtered: true, shape: limited},
		{name: "agg-time", help: "an aggregate a device over a span of time", window: closed, numbers: true, shape: total},
		{name: "agg-value", help: "an aggregate a device over rows whose values pass the value filter", filtered: true, shape: total},
		{name: "agg-time-value", help: "an aggregate a device over both", window: closed, filtered: true, shape: total},
		{name: "latest-point", help: "the newest row of devices", shape: last},
		{name: "group-by-time", help: "an aggregate a device and bucket of time", window: halfOpen, numbers: true, shape: buckets(query.Unordered)},
		{name: "time-range-desc", help: "as time-range, newest first", window: closed, shape: descending},
		{name: "value-range-desc", help: "as value-range, newest first", window: closed, filtered: true, shape: descending},
		{name: "group-by-time-desc", help: "as group-by-time, newest first", window: halfOpen, numbers: true, shape: buckets(query.Descending)},
		{name: "set-operation", help: "a set operation on equal time-range queries", window: closed, shape: set},
	}
}

// stream is random numbers in a sequence.
type stream struct {
	seed, of, drawn uint64
}

func (r *stream) intBelow(n int64) int64 {
	x, _ := random(r.seed, r.drawn, r.of)
	r.drawn++
	return scaleInt(x, n)
}

// distinct draws different numbers below n.
func (r *stream) distinct(count, n int64) []int64 {
	var drawn []int64
	for int64(len(drawn)) < count {
		if v := r.intBelow(n); !slices.Contains(drawn, v) {
			drawn = append(drawn, v)
		}
	}
	return drawn
}

// draw draws the first n queries, each type from a stream of its own.
func (t *queryType) draw(spec workload.Spec, number uint32, n int) (iter.Seq[query.Query], error) {
	s, err := read(spec)
	if err != nil {
		return nil, err
	}
	a, err := readParameters(spec)
	if err != nil {
		return nil, err
	}
	sensors, err := newSensors(s)
	if err != nil {
		return nil, err
	}
	suitable := t.suitable(sensors, &a)
	switch room := spec.End.Sub(spec.Start) - a.span; {
	case a.devices > s.devices/s.groups:
		return nil, badQueries("devices", "%d are more than the %d devices of the smallest group; lower it, or raise --scale", a.devices, s.devices/s.groups)
	case int(a.sensors) > len(suitable):
		return nil, badQueries("sensors", "%d are more than the %d sensors that %s can query; lower it, set iotdb.sensors or iotdb.types, or leave the type out", a.sensors, len(suitable), t.name)
	case t.window >= closed && room < 0:
		return nil, workload.Bad("timestamp-end", "%s has windows of %s but the dataset spans %s; lengthen it, set iotdb-queries span, or leave the type out", t.name, a.span, spec.End.Sub(spec.Start))
	}
	return func(yield func(query.Query) bool) {
		r := &stream{seed: uint64(spec.DrawingSeed()), of: streamOf(allDevices, number, forQueries)}
		var q query.Query // one variable for all queries, since it escapes to the heap
		for i := range n {
			q = query.Query{Type: t.name, ID: i}
			if t.drawOne(&q, r, s, &a, sensors, suitable); !yield(q) {
				return
			}
		}
	}, nil
}

// badQueries returns the error of a parameter of queries.
func badQueries(name, format string, args ...any) error {
	return &workload.SpecError{Setting: settingName(name), Problem: fmt.Sprintf(format, args...), OfQueries: true}
}

// suitable returns the sensors that can be queried.
func (t *queryType) suitable(sensors []sensor, a *parameters) []string {
	var names []string
	for i := range sensors {
		if held[sensors[i].kind].Numeric() || !t.filtered && (!t.numbers || a.aggregate == query.Count) {
			names = append(names, fieldName(sensors[i].number))
		}
	}
	return names
}

// drawOne draws one query.
func (t *queryType) drawOne(q *query.Query, r *stream, s *settings, a *parameters, sensors []sensor, suitable []string) {
	first := uint32(r.intBelow(int64(s.devices)))
	group := first % s.groups
	q.Table = "g_" + strconv.FormatUint(uint64(group), 10)
	devices := []uint32{first}
	if !t.anyDevice {
		size := (s.devices - group + s.groups - 1) / s.groups
		for len(devices) < int(a.devices) {
			if d := uint32(r.intBelow(int64(size)))*s.groups + group; !slices.Contains(devices, d) {
				devices = append(devices, d)
			}
		}
		q.In = &query.TagIn{Key: DeviceTag}
		for _, d := range devices {
			q.In.Values = append(q.In.Values, "d_"+strconv.FormatUint(uint64(d), 10))
		}
	}
	var fields []string
	for _, i := range r.distinct(int64(a.sensors), int64(len(suitable))) {
		fields = append(fields, suitable[i])
	}
	q.Shape = t.shape(fields, a)
	switch t.window {
	case oneTime:
		q.Start = time.Unix(0, s.time(s.sourceOf(q), r.intBelow(s.rows))).UTC()
		q.End = q.Start.Add(instant)
	case closed, halfOpen:
		room := s.rows*s.step - int64(a.span)
		q.Start = time.Unix(0, s.start+r.intBelow(max(room, 1))).UTC().Truncate(time.Millisecond)
		if q.Start.UnixNano() < s.start {
			q.Start = time.Unix(0, s.start).UTC()
		}
		q.End = q.Start.Add(a.span)
		if t.window == closed {
			q.End = q.End.Add(instant)
		}
	}
	if t.filtered {
		q.Filter = &query.ValueFilter{Field: fields[0], And: fields[1:], Compare: a.filter.compare, Value: a.filter.constant}
		if a.filter.drawn {
			q.Filter.Value = s.drawValue(r, q, sensors)
		}
	}
}
