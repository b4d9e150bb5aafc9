package iotdb

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// settings is a specification, read and checked.
type settings struct {
	seed    uint64
	devices uint32
	first   uint32 // device of this part of the dataset
	last    uint32 // device behind it
	rows    int64  // of each lane that are made, duplicates apart
	block   int64  // rows of a lane before those of the next one
	start   int64  // nanoseconds since 1970
	step    int64  // between rows of a lane, nanoseconds
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

// at returns the number at a share of the range.
func (s span) at(share float64) float64 { return s.least + float64(share*(s.most-s.least)) }

// The ways in which rows are late.
const (
	delayed      = "delayed"       // by one step and a Poisson number of further ones; times are not moved
	withinBatch  = "batch"         // until a later place among the rows of a device that are sent together
	global       = "global"        // until a later place among all rows of the device
	paperPoisson = "paper-poisson" // as the paper's equations (3) to (7): old times are written again
)

// The sources of values.
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

// defaultBlock is how many rows of a device come before those of the next one.
const defaultBlock = 100

// bad returns the error of a setting.
func bad(setting, format string, args ...any) error {
	return &workload.SpecError{Setting: setting, Problem: fmt.Sprintf(format, args...)}
}

// own is the name of a setting of this workload.
func own(name string) string { return "iotdb." + name }

// read checks a specification. Its error is a *workload.SpecError.
func read(s workload.Spec) (*settings, error) {
	d := s.IoTDB.Defaulted()
	out := &settings{
		seed: uint64(s.Seed), devices: s.Scale, last: s.Scale,
		block: int64(cmp.Or(s.InARow, defaultBlock)),
		start: s.Start.UnixNano(), step: int64(s.Interval),
		sensors: d.Sensors, groups: d.Groups,
		unaligned: d.Unaligned, irregular: d.Irregular,
		textLength: d.TextLength, lateMode: d.LateMode,
	}
	for _, check := range []func(workload.Spec) error{out.readSize, out.readTime, out.readValues, out.readTags, out.readLate} {
		if err := check(s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readSize checks what fixes devices and tables.
func (out *settings) readSize(s workload.Spec) error {
	switch {
	case s.Scale < 1:
		return bad("scale", "must be 1 device or more")
	case s.Scale > maxDevices:
		return bad("scale", "%d is more than %d", s.Scale, maxDevices)
	case s.InitialScale != 0 && s.InitialScale != s.Scale:
		return bad("initial-scale", "the devices of iotdb are there from the start; leave it out")
	case s.MaxMetrics != 0:
		return bad("max-metric-count", "is for devops-generic; the number of fields here is iotdb.sensors")
	case out.sensors > maxSensors:
		return bad(own("sensors"), "%d is more than %d", out.sensors, maxSensors)
	case out.groups > s.Scale:
		return bad(own("device-groups"), "%d groups are more than --scale %d devices; lower it, or raise --scale", out.groups, s.Scale)
	case s.Groups > 0 && s.Group >= s.Groups:
		return bad("interleaved-generation-group-id", "%d must be less than --interleaved-generation-groups %d", s.Group, s.Groups)
	case s.Groups == 0 && s.Group > 0:
		return bad("interleaved-generation-group-id", "%d needs --interleaved-generation-groups greater than it", s.Group)
	case s.Groups > s.Scale:
		return bad("interleaved-generation-groups", "%d are more than --scale %d devices, so that some have none; lower it", s.Groups, s.Scale)
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
			return bad(t.setting, "%s is outside the years 1700 to 2250, which 64-bit nanoseconds hold with room to spare", t.time.Format(time.RFC3339))
		}
	}
	lanes := int64(1)
	if out.unaligned {
		lanes = int64(out.sensors)
	}
	switch {
	case !s.End.After(s.Start):
		return bad("timestamp-end", "%s is not after --timestamp-start %s", s.End.Format(time.RFC3339), s.Start.Format(time.RFC3339))
	case s.Interval <= 0 || s.Interval%time.Microsecond != 0:
		return bad("log-interval", "%s must be whole microseconds, and longer than 0, such as 5s", s.Interval)
	case s.End.Sub(s.Start) < s.Interval:
		return bad("log-interval", "%s is longer than the whole span of %s, so there are no rows; shorten it, or move --timestamp-end", s.Interval, s.End.Sub(s.Start))
	case int64(s.Interval/time.Microsecond) < lanes:
		return bad("log-interval", "%s is too short for %d unaligned sensors, each a microsecond later; lengthen it", s.Interval, lanes)
	}
	out.grain = int64(time.Millisecond)
	if int64(s.Interval)%int64(time.Millisecond) != 0 || int64(s.Interval/time.Millisecond) < lanes {
		out.grain = int64(time.Microsecond)
	}
	out.rows = int64(s.End.Sub(s.Start) / s.Interval)
	if s.Records > 0 {
		out.rows = min(out.rows, int64(s.Records))
	}
	out.block = min(out.block, out.rows)
	return nil
}

// readValues checks what fixes values.
func (out *settings) readValues(s workload.Spec) error {
	i, d := s.IoTDB, s.IoTDB.Defaulted()
	switch source := d.Values; source {
	case byFormula:
	case sharedBuffer:
		out.buffered = true
		for setting, given := range map[string]string{"period": i.Period, "amplitude": i.Amplitude, "offset": i.Offset, "noise": i.Noise} {
			if given != "" {
				return bad(own(setting), "is for values by formula; the functions of %s have their own, so leave it out", sharedBuffer)
			}
		}
	default:
		return bad(own("values"), "must be %s or %s, not %q%s", byFormula, sharedBuffer, source, suggest.Among(source, []string{byFormula, sharedBuffer}))
	}
	if err := shares("types", d.Types, typeNames[:], out.types[:]); err != nil {
		return err
	}
	if err := shares("distribution", d.Distribution, distributionNames[:], out.distribution[:]); err != nil {
		return err
	}
	number := func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
	duration := func(text string) (float64, error) {
		d, err := time.ParseDuration(text)
		return float64(d), err
	}
	for _, r := range []struct {
		setting, text string
		read          func(string) (float64, error)
		least, most   float64
		example       string
		out           *span
	}{
		{"period", d.Period, duration, 1000, 1e18, "a duration from 1µs to 277777h, such as 1h, or a range of them, such as 10m..6h", &out.period},
		{"amplitude", d.Amplitude, number, 0, maxMagnitude, "a number from 0 to 1000000, or a range, such as 1..50", &out.amplitude},
		{"offset", d.Offset, number, -maxMagnitude, maxMagnitude, "a number from -1000000 to 1000000, or a range, such as -50..50", &out.offset},
		{"noise", d.Noise, number, 0, 10, "a number from 0 to 10, or a range, such as 0..0.1", &out.noise},
	} {
		least, most, found := strings.Cut(r.text, "..")
		if !found {
			most = least
		}
		var errs [2]error
		r.out.least, errs[0] = r.read(least)
		r.out.most, errs[1] = r.read(most)
		if errs[0] != nil || errs[1] != nil || !(r.out.least >= r.least && r.out.most <= r.most && r.out.least <= r.out.most) {
			return bad(own(r.setting), "must be %s, not %q", r.example, r.text)
		}
	}
	decimals, err := strconv.ParseUint(d.Decimals, 10, 8)
	if err != nil || decimals > maxDecimals {
		return bad(own("decimals"), "must be a whole number from 0 to %d, not %q", maxDecimals, i.Decimals)
	}
	out.scale = math.Pow10(int(decimals))
	if out.textLength > series.MaxText {
		return bad(own("text-length"), "%d is more than %d characters", out.textLength, series.MaxText)
	}
	return nil
}

// shares reads weights, a:b:c, of which missing ones are 0, and makes them
// shares of their sum.
func shares(setting, text string, names []string, out []float64) error {
	parts := strings.Split(text, ":")
	if len(parts) > len(names) {
		return bad(own(setting), "%q has %d shares; there are %d: %s", text, len(parts), len(names), strings.Join(names, ":"))
	}
	sum := 0.0
	for i, part := range parts {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || !(v >= 0 && v <= 1e9) {
			return bad(own(setting), "%q in %q is no share; write numbers from 0 on as in 1:0:2, for %s", part, text, strings.Join(names, ":"))
		}
		out[i] = v
		sum += v
	}
	if sum == 0 {
		return bad(own(setting), "%q sums to 0, so that no sensor is anything; make a share greater than 0", text)
	}
	for i := range out {
		out[i] /= sum
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

// readTags checks the further tags.
func (out *settings) readTags(s workload.Spec) error {
	if s.IoTDB.Tags == "" {
		return nil
	}
	product := uint64(1)
	for _, part := range strings.Split(s.IoTDB.Tags, ":") {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil || n < 1 {
			return bad(own("tags"), "%q in %q is no number of values from 1 on; write one a tag, as in 10:100", part, s.IoTDB.Tags)
		}
		if product *= n; product > 1<<31 {
			return bad(own("tags"), "%q has more than %d combinations; lower it", s.IoTDB.Tags, 1<<31)
		}
		out.tags = append(out.tags, uint32(n))
	}
	return nil
}

// readLate checks what fixes the order of arrival.
func (out *settings) readLate(s workload.Spec) error {
	i, d := s.IoTDB, s.IoTDB.Defaulted()
	var err error
	if out.late, err = probability("late", d.Late); err != nil {
		return err
	}
	if out.duplicates, err = probability("duplicates", d.Duplicates); err != nil {
		return err
	}
	modes := []string{delayed, withinBatch, global, paperPoisson}
	mean, err := strconv.ParseFloat(d.LateMean, 64)
	poissonLate := out.lateMode == delayed || out.lateMode == paperPoisson
	switch {
	case !slices.Contains(modes, out.lateMode):
		return bad(own("late-mode"), "%q is no mode%s", i.LateMode, suggest.Among(i.LateMode, modes))
	case err != nil || !(mean >= 0 && mean <= maxMean):
		return bad(own("late-mean"), "must be a number of steps from 0 to %g, not %q", maxMean, i.LateMean)
	case out.late == 1:
		return bad(own("late"), "1 leaves no row in time that others could be behind; give less")
	case i.LateMode != "" && out.late == 0:
		return bad(own("late-mode"), "%s needs a probability: set iotdb.late, such as 0.1", i.LateMode)
	case i.LateMean != "" && out.late == 0 && out.duplicates == 0:
		return bad(own("late-mean"), "%s is the mean of delays that no row has: set iotdb.late, such as 0.1", i.LateMean)
	case i.LateMean != "" && !poissonLate && out.duplicates == 0:
		return bad(own("late-mean"), "is for delays by %s or %s, not by %s; leave it out", delayed, paperPoisson, out.lateMode)
	case i.LateMost != 0 && out.late == 0 && out.duplicates == 0:
		return bad(own("late-most"), "%d is the bound of delays that no row has: set iotdb.late, such as 0.1", i.LateMost)
	case i.LateMost != 0 && !poissonLate && out.duplicates == 0:
		return bad(own("late-most"), "is for delays by %s, not by %s; leave it out", delayed, out.lateMode)
	case i.LateMost != 0 && out.lateMode == paperPoisson && out.late > 0:
		return bad(own("late-most"), "the paper's delays have no bound; leave it out, or take --iotdb late-mode=%s", delayed)
	case out.duplicates > 0 && out.late > 0 && out.lateMode == paperPoisson:
		return bad(own("duplicates"), "%s makes duplicates itself; leave it out", paperPoisson)
	}
	out.delays = newPoisson(mean)
	out.most = int64(cmp.Or(i.LateMost, uint32(out.delays.largest())+1))
	return nil
}

// probability reads one.
func probability(setting, text string) (float64, error) {
	p, err := strconv.ParseFloat(text, 64)
	if err != nil || !(p >= 0 && p <= 1) {
		return 0, bad(own(setting), "must be a probability from 0 to 1, such as 0.1, not %q", text)
	}
	return p, nil
}
