package iotdb

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/workload"
)

// settings is a specification, read and checked.
type settings struct {
	values  option.Values // the workload's own, as written
	seed    uint64
	devices uint32
	first   uint32 // device of this part of the dataset
	last    uint32 // device behind it
	rows    int64  // of each source that are made, duplicates apart
	block   int64  // rows of a source before those of the next one
	start   int64  // nanoseconds since 1970
	step    int64  // between rows of a source, nanoseconds
	grain   int64  // times are multiples of it since start

	sensors   uint32
	groups    uint32
	unaligned bool
	irregular bool
	buffered  bool // values come from a buffer that all devices share

	types        [typeCount]float64
	distribution [distributionCount]float64
	period       span // nanoseconds
	amplitude    span
	offset       span
	noise        span // amplitudes
	scale        float64
	textLength   uint32
	tags         []uint32 // cardinalities

	late       float64
	lateMode   string
	delays     *poisson // nil: nothing is delayed by it
	most       int64    // steps of a delay
	duplicates float64
}

// span is a range of numbers.
type span struct{ least, most float64 }

// valueAt returns the number at a share of the range.
func (s span) valueAt(share float64) float64 { return s.least + float64(share*(s.most-s.least)) }

// The ways in which rows are late.
const (
	delayed      = "delayed"       // by one step and a Poisson number of further ones; times are not moved
	withinBatch  = "batch"         // until a later place among the rows of a device that are sent together
	global       = "global"        // until a later place among all rows of the device
	paperPoisson = "paper-poisson" // as the paper's equations (3) to (7): old times are written again
)

// Where values come from.
const (
	byFormula    = "formula"
	sharedBuffer = "shared-buffer"
)

// Bounds of settings.
const (
	maxDevices   = 400_000_000
	maxMagnitude = 1e6 // of amplitudes and offsets: with all decimals they are still whole numbers to a double
	maxDecimals  = 9
	maxMean      = 1e6
	maxRows      = 1 << 40
)

// defaultBlock is the number of rows of a device before those of the next device.
const defaultBlock = 100

// settingName is the name of a setting of this workload.
func settingName(name string) string { return "iotdb." + name }

// read checks a specification. Its error is a *workload.SpecError.
func read(s workload.Spec) (*settings, error) {
	v, err := s.Resolve(useCase{}.Settings())
	if err != nil {
		return nil, err
	}
	out := &settings{
		values: v, seed: uint64(s.Seed), devices: s.Scale, last: s.Scale,
		block: int64(cmp.Or(s.InARow, defaultBlock)),
		start: s.Start.UnixNano(), step: int64(s.Interval),
		sensors: uint32(v.Int("sensors")), groups: uint32(v.Int("device-groups")),
		unaligned: v.Bool("unaligned"), irregular: v.Bool("irregular"), buffered: v["values"] == sharedBuffer,
		period: spanOf(v, "period"), amplitude: spanOf(v, "amplitude"), offset: spanOf(v, "offset"), noise: spanOf(v, "noise"),
		scale: math.Pow10(v.Int("decimals")), textLength: uint32(v.Int("text-length")), tags: tags(v["tags"]),
		late: v.Number("late"), lateMode: v["late-mode"], delays: newPoisson(v.Number("late-mean")), duplicates: v.Number("duplicates"),
	}
	copy(out.types[:], v.Shares("types"))
	copy(out.distribution[:], v.Shares("distribution"))
	out.most = int64(cmp.Or(v.Int("late-most"), int(out.delays.largest())+1))
	for _, check := range []func(workload.Spec) error{workload.Spec.CheckSpan, out.readSize, out.readTime, out.checkValues, out.checkLate} {
		if err := check(s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func spanOf(v option.Values, name string) span {
	least, most := v.Range(name)
	return span{least, most}
}

// readSize checks what fixes devices and tables.
func (out *settings) readSize(s workload.Spec) error {
	switch {
	case s.Scale < 1:
		return workload.Bad("scale", "must be 1 device or more")
	case s.Scale > maxDevices:
		return workload.Bad("scale", "%d is more than %d", s.Scale, maxDevices)
	case s.InitialScale != 0 && s.InitialScale != s.Scale:
		return workload.Bad("initial-scale", "the devices of iotdb are there from the start; leave it out")
	case s.MaxMetrics != 0:
		return workload.Bad("max-metric-count", "is for devops-generic; the number of fields here is iotdb.sensors")
	case out.groups > s.Scale:
		return workload.Bad(settingName("device-groups"), "%d groups are more than --scale %d devices; lower it, or raise --scale", out.groups, s.Scale)
	case s.Groups > s.Scale:
		return workload.Bad("interleaved-generation-groups", "%d are more than --scale %d devices, so that some have none; lower it", s.Groups, s.Scale)
	}
	if n := uint64(s.Groups); n > 0 {
		out.first = uint32(uint64(s.Scale) * uint64(s.Group) / n)
		out.last = uint32(uint64(s.Scale) * uint64(s.Group+1) / n)
	}
	return nil
}

// readTime checks what fixes times.
func (out *settings) readTime(s workload.Spec) error {
	for _, t := range []struct {
		setting string
		time    time.Time
	}{{"timestamp-start", s.Start}, {"timestamp-end", s.End}} {
		if year := t.time.Year(); year < 1700 || year > 2250 {
			return workload.Bad(t.setting, "%s is outside the years 1700 to 2250, which 64-bit nanoseconds hold with room to spare", t.time.Format(time.RFC3339))
		}
	}
	sources := int64(1)
	if out.unaligned {
		sources = int64(out.sensors)
	}
	switch {
	case s.Interval%time.Microsecond != 0:
		return workload.Bad("log-interval", "%s must be whole microseconds, and longer than 0, such as 5s", s.Interval)
	case int64(s.Interval/time.Microsecond) < sources:
		return workload.Bad("log-interval", "%s is too short for %d unaligned sensors, each a microsecond later; lengthen it", s.Interval, sources)
	}
	out.grain = int64(time.Millisecond)
	if int64(s.Interval)%int64(time.Millisecond) != 0 || int64(s.Interval/time.Millisecond) < sources {
		out.grain = int64(time.Microsecond)
	}
	out.rows = int64(s.End.Sub(s.Start) / s.Interval)
	if s.Records > 0 {
		out.rows = min(out.rows, int64(s.Records))
	}
	out.block = min(out.block, out.rows)
	return nil
}

// checkValues checks what fixes values.
func (out *settings) checkValues(s workload.Spec) error {
	for _, name := range []string{"period", "amplitude", "offset", "noise"} {
		if _, set := s.Settings[settingName(name)]; set && out.buffered {
			return workload.Bad(settingName(name), "is for values by formula; the functions of %s have their own, so leave it out", sharedBuffer)
		}
	}
	return nil
}

// share returns which of the shares a number from 0 to below 1 falls into.
func share(of []float64, at float64) int {
	sum, last := 0.0, 0
	for i, s := range of {
		if sum += s; s > 0 {
			last = i
			if at < sum {
				return i
			}
		}
	}
	return last // which rounding kept below 1
}

// checkTags checks the cardinalities of further tags.
func checkTags(text string) error {
	product := uint64(1)
	for part := range strings.SplitSeq(text, ":") {
		n, err := strconv.ParseUint(part, 10, 32)
		if product *= n; err != nil || product < 1 || product > 1<<31 {
			return fmt.Errorf("must be numbers of values from 1 on, one a tag, as in 10:100, with %d combinations at most", 1<<31)
		}
	}
	return nil
}

// tags reads what checkTags has checked.
func tags(text string) (cardinalities []uint32) {
	for part := range strings.SplitSeq(text, ":") {
		if n, err := strconv.ParseUint(part, 10, 32); err == nil {
			cardinalities = append(cardinalities, uint32(n))
		}
	}
	return cardinalities
}

// checkLate checks what fixes the order of arrival.
func (out *settings) checkLate(s workload.Spec) error {
	isSet := func(name string) bool { return s.Settings[settingName(name)] != "" }
	poissonLate := out.lateMode == delayed || out.lateMode == paperPoisson
	switch {
	case out.late == 1:
		return workload.Bad(settingName("late"), "1 leaves no row in time that others could be behind; give less")
	case isSet("late-mode") && out.late == 0:
		return workload.Bad(settingName("late-mode"), "%s needs a probability: set iotdb.late, such as 0.1", out.lateMode)
	case isSet("late-mean") && out.late == 0 && out.duplicates == 0:
		return workload.Bad(settingName("late-mean"), "%s is the mean of delays that no row has: set iotdb.late, such as 0.1", out.values["late-mean"])
	case isSet("late-mean") && !poissonLate && out.duplicates == 0:
		return workload.Bad(settingName("late-mean"), "is for delays by %s or %s, not by %s; leave it out", delayed, paperPoisson, out.lateMode)
	case isSet("late-most") && out.late == 0 && out.duplicates == 0:
		return workload.Bad(settingName("late-most"), "%s is the bound of delays that no row has: set iotdb.late, such as 0.1", out.values["late-most"])
	case isSet("late-most") && !poissonLate && out.duplicates == 0:
		return workload.Bad(settingName("late-most"), "is for delays by %s, not by %s; leave it out", delayed, out.lateMode)
	case isSet("late-most") && out.lateMode == paperPoisson && out.late > 0:
		return workload.Bad(settingName("late-most"), "the paper's delays have no bound; leave it out, or take --iotdb late-mode=%s", delayed)
	case out.duplicates > 0 && out.late > 0 && out.lateMode == paperPoisson:
		return workload.Bad(settingName("duplicates"), "%s makes duplicates itself; leave it out", paperPoisson)
	}
	return nil
}
