// Package iotdb provides the workload of IoTDB-Benchmark: groups of devices with sensors whose
// values are waves, noise and constants, rows that arrive late, and its queries (Liu and Yuan,
// "Benchmarking time series databases with IoTDB-Benchmark for IoT scenarios", 2019; "the paper").
// In comments, "the tool" is thulab/iot-benchmark at 4e8f44d1. docs/iotdb.md is the user
// documentation.
package iotdb

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Workload returns the workload.
func Workload() workload.Workload { return useCase{} }

type useCase struct{}

func (useCase) Name() string { return "iotdb" }

func (useCase) Help() string {
	return "IoTDB-Benchmark's: a table a group of devices, sensors that follow formulae with noise, late and repeated rows"
}

// Settings implements workload.Workload.
func (useCase) Settings() []option.Option {
	return []option.Option{
		{Name: "sensors", Type: option.Integer(1, maxSensors), Default: "10", Help: "sensors of a device, at most 268,435,456"},
		{Name: "device-groups", Type: option.Integer(1, maxDevices), Default: "1", Help: "number of groups of devices, each a table"},
		{Name: "types", Type: option.Shares(typeNames[:]...), Default: "1:1:1:1:1:1", Help: "shares of boolean, int32, int64, float, double, text, string, blob, timestamp and date; missing ones are 0"},
		{Name: "values", Type: option.Choice(byFormula, sharedBuffer), Default: byFormula, Help: "source of the values"},
		{Name: "distribution", Type: option.Shares(distributionNames[:]...), Default: "1:1:1:1:1", Help: "shares of square, sine, sawtooth, random and constant sensors"},
		{Name: "period", Type: option.Durations(time.Microsecond, 1e18), Default: "10m..6h", Help: "period of waves, 1µs to 277777h"},
		{Name: "amplitude", Type: option.Numbers(0, maxMagnitude), Default: "1..50", Help: "half of the range of a series' values, 0 to 1,000,000"},
		{Name: "offset", Type: option.Numbers(-maxMagnitude, maxMagnitude), Default: "-50..50", Help: "center of a series' values, -1,000,000 to 1,000,000"},
		{Name: "noise", Type: option.Numbers(0, 10), Default: "0.05", Help: "standard deviation of Gaussian noise on waves, in amplitudes"},
		{Name: "decimals", Type: option.Integer(0, maxDecimals), Default: "2", Help: "decimals of floats and doubles, 0 to 9"},
		{Name: "text-length", Type: option.Integer(1, series.MaxText), Default: "2", Help: "characters of a text, 1 to 10"},
		{Name: "irregular", Type: option.Boolean("true", "false"), Default: "false", Help: "intervals vary"},
		{Name: "unaligned", Type: option.Boolean("true", "false"), Default: "false", Help: "each sensor has its own times"},
		{Name: "tags", Type: option.CheckedBy("cardinalities", checkTags), Empty: "none", Help: "numbers of values of additional tags tag_0, tag_1, …, such as 10:100"},
		{Name: "late", Type: option.Number(0, 1), Default: "0", Help: "probability that a row is late"},
		{Name: "late-mode", Type: option.Choice(delayed, withinBatch, global, paperPoisson), Default: delayed, Help: "how rows are late"},
		{Name: "late-mean", Type: option.Number(0, maxMean), Default: "10", Help: "mean λ of Poisson delays, in steps"},
		{Name: "late-most", Type: option.Integer(1, math.MaxUint32), Empty: "1 + ⌈λ + 10(√λ + 2)⌉", Help: "maximum delay in steps"},
		{Name: "duplicates", Type: option.Number(0, 1), Default: "0", Help: "probability that a row is repeated with other values"},
	}
}

// QuerySettings implements workload.Workload.
func (useCase) QuerySettings() []option.Option {
	var sets []string
	for _, operation := range query.SetOperations() {
		sets = append(sets, string(operation), string(operation)+all)
	}
	return []option.Option{
		{Name: "sensors", Type: option.Integer(1, maxSensors), Default: "1", Help: "sensors of each device in a query"},
		{Name: "devices", Type: option.Integer(1, maxDevices), Default: "1", Help: "devices in a query, at most those of the smallest group"},
		{Name: "aggregate", Type: option.Choice(texts(query.Aggregates())...), Default: string(query.Count), Help: "aggregate function"},
		{Name: "span", Type: option.Microseconds(), Default: "250s", Help: "length of windows"},
		{Name: "bucket", Type: option.Microseconds(), Default: "20s", Help: "width of buckets"},
		{Name: "filter", Type: option.CheckedBy("filter", CheckFilter), Default: "> -5", Help: "value filter: >, < or = and a number, or = drawn: a value of the data"},
		{Name: "limit", Type: option.Integer(1, math.MaxUint32), Default: "100", Help: "rows of operations with a limit"},
		{Name: "set", Type: option.Choice(sets...), Default: string(query.Union), Help: "set operation"},
		{Name: "set-of", Type: option.Integer(2, 100), Default: "2", Help: "operands of the set operation"},
	}
}

func (useCase) Check(s workload.Spec) error {
	_, err := read(s)
	return err
}

// Describe implements workload.Workload.
func (useCase) Describe(s workload.Spec) workload.Description {
	read, err := read(s)
	if err != nil {
		return workload.Description{}
	}
	perEpoch, perDevice := uint64(s.Scale), uint64(1)
	if read.unaligned {
		perEpoch *= uint64(read.sensors)
	}
	if read.duplicates > 0 {
		perEpoch *= 2
	}
	if read.lateMode == paperPoisson {
		perDevice = 16
	}
	repeats := ""
	switch {
	case read.duplicates > 0:
		repeats = settingName("duplicates")
	case read.rewriting():
		repeats = settingName("late-mode")
	}
	return workload.Description{
		Values: read.knownTimes(s), Repeats: repeats, RowsAtMost: s.RowsAtMost(perEpoch), Memory: uint64(s.Scale) * perDevice,
		Identity: identity(read.values), Facts: read.facts(), Late: read.lateness(),
	}
}

// knownTimes describes the rows' times.
func (out *settings) knownTimes(s workload.Spec) series.Values {
	if out.irregular || out.unaligned {
		s.Interval = time.Duration(out.grain)
	}
	v := s.Values()
	if out.rewriting() {
		v.First = v.First.Add(-time.Duration((1 + out.delays.largest()) * out.step))
	}
	if out.rewriting() || out.duplicates > 0 {
		v.Has = append(v.Has, series.RepeatedTimes)
	}
	return v
}

// identity returns the settings' part of the fingerprint. The number is increased whenever the same
// settings start to give other rows: in version 1 values had no types of their own.
func identity(v option.Values) string {
	text := "values=2\niotdb {"
	for i, named := range []struct{ name, setting string }{
		{"Sensors", "sensors"}, {"Groups", "device-groups"}, {"Types", "types"}, {"Values", "values"}, {"Distribution", "distribution"},
		{"Period", "period"}, {"Amplitude", "amplitude"}, {"Offset", "offset"}, {"Noise", "noise"}, {"Decimals", "decimals"},
		{"TextLength", "text-length"}, {"Irregular", "irregular"}, {"Unaligned", "unaligned"}, {"Tags", "tags"}, {"Late", "late"},
		{"LateMode", "late-mode"}, {"LateMean", "late-mean"}, {"LateMost", "late-most"}, {"Duplicates", "duplicates"},
	} {
		value := v[named.setting]
		switch named.setting {
		case "sensors", "device-groups", "text-length", "late-most":
			value = strconv.Itoa(v.Int(named.setting))
		}
		if i > 0 {
			text += " "
		}
		text += named.name + ":" + value
	}
	return text + "}\n"
}

// facts implements workload.Description's.
func (out *settings) facts() []string {
	facts := []string{fmt.Sprintf("%s a device in %s", count(out.sensors, "sensor"), count(out.groups, "group")), "values by formula"}
	if out.buffered {
		facts[1] = fmt.Sprintf("values from a buffer of %d rows that all devices share", bufferRows)
	}
	if out.unaligned {
		facts = append(facts, "sensors not aligned")
	}
	if out.irregular {
		facts = append(facts, "intervals irregular")
	}
	if out.duplicates > 0 {
		facts = append(facts, "a share of "+out.values["duplicates"]+" comes again with other values")
	}
	return facts
}

func count(n uint32, of string) string {
	if n != 1 {
		of += "s"
	}
	return fmt.Sprint(n, " ", of)
}

// lateness implements workload.Description's Late.
func (out *settings) lateness() string {
	if out.late == 0 {
		return "rows that are sent twice"
	}
	return out.lateMode
}

func (useCase) Dataset(s workload.Spec) (workload.Dataset, error) {
	read, err := read(s)
	if err != nil {
		return nil, err
	}
	d, err := newDataset(read)
	if err != nil {
		return nil, err
	}
	known := read.knownTimes(s)
	d.schema.First, d.schema.Last, d.schema.Step = known.First, known.Last, known.Step
	if s.MaxPoints == 0 && s.NewTags == 0 && s.NewFields == 0 {
		return d, nil
	}
	if read.duplicates > 0 || read.rewriting() {
		return nil, workload.Bad(settingName("duplicates"), "cannot be told from first rows where --max-data-points, new-tags or new-fields change them; leave one of both out")
	}
	var out workload.Dataset = d
	if s.MaxPoints > 0 {
		out = workload.LimitRows(out, int64(min(s.MaxPoints, math.MaxInt64)))
	}
	s.Records, s.InARow = 0, 0 // this package's own readers have heeded them
	return workload.Arrange(out, s)
}

func (useCase) QueryTypes() []workload.QueryType {
	var listed []workload.QueryType
	for _, t := range queryTypes() {
		listed = append(listed, workload.QueryType{Name: t.name, Help: t.help, Core: true}) // each is unlike the others
	}
	return listed
}

func (useCase) Queries(s workload.Spec, queryType string, n int) (iter.Seq[query.Query], error) {
	for number, t := range queryTypes() {
		if t.name == queryType {
			return t.draw(s, uint32(number), n)
		}
	}
	return nil, workload.UnknownType(useCase{}, queryType)
}
