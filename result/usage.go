package result

import (
	"math"
	"sort"
)

// Usage is the usage of a source between two times of the time line. Sums that were not read over
// the whole interval are absent.
type Usage struct {
	Wall        float64 `json:"wall"`         // seconds
	CPU         Value   `json:"cpu"`          // seconds
	Share       Value   `json:"share"`        // mean CPU share of all cores of its host, 0 to 1
	ShareMax    Value   `json:"share_max"`    // highest between two readings; above 1 if a child too short-lived to be observed is counted at its end
	RSSMax      Value   `json:"rss_max"`      // bytes; peaks between readings are missed
	DiskRead    Value   `json:"disk_read"`    // bytes
	DiskWritten Value   `json:"disk_written"` // bytes
	NetReceived Value   `json:"net_received"` // bytes
	NetSent     Value   `json:"net_sent"`     // bytes
}

// CPUPerMillionRows is the CPU-seconds that a million rows took.
func (u Usage) CPUPerMillionRows(rows int64) Value { return PerMillion(u.CPU, rows) }

// QueriesPerCPUSecond is how many queries one second of one core answered.
func (u Usage) QueriesPerCPUSecond(queries int64) Value { return ratio(Value(queries), u.CPU) }

// WrittenPerRow is the bytes written to disk for each row.
func (u Usage) WrittenPerRow(rows int64) Value { return BytesPerRow(u.DiskWritten, rows) }

// PerMillion is a figure divided by the rows it is for, in millions.
func PerMillion(v Value, rows int64) Value { return ratio(v, Value(float64(rows)/1e6)) }

// BytesPerRow is a size divided by the number of rows; absent without rows.
func BytesPerRow(bytes Value, rows int64) Value { return ratio(bytes, Value(rows)) }

// ratio is absent if either operand is, or if b is 0.
func ratio(a, b Value) Value {
	if !a.IsKnown() || !b.IsKnown() || b <= 0 {
		return Absent()
	}
	return a / b
}

// Usage returns the usage in [from, to), in seconds of the time line.
func (r *Resources) Usage(from, to float64) Usage {
	cores := Value(r.Cores)
	cpu := r.Increase(CPU, from, to)
	return Usage{
		Wall:        to - from,
		CPU:         cpu,
		Share:       ratio(ratio(cpu, Value(to-from)), cores),
		ShareMax:    ratio(r.RateMax(CPU, from, to), cores),
		RSSMax:      r.Max(RSS, from, to),
		DiskRead:    r.Increase(DiskRead, from, to),
		DiskWritten: r.Increase(DiskWritten, from, to),
		NetReceived: r.Increase(NetReceived, from, to),
		NetSent:     r.Increase(NetSent, from, to),
	}
}

// UsageTotal is the usage from the first reading to the last.
func (r *Resources) UsageTotal() Usage {
	if len(r.At) == 0 {
		return r.Usage(0, 0)
	}
	return r.Usage(r.At[0], r.At[len(r.At)-1])
}

// Increase is the rise of a counter, or the change of a gauge, in [from, to). It assumes an even rise between readings, so
// each end is off by at most one period's rise. It is absent if no readings surround the interval.
func (r *Resources) Increase(m Metric, from, to float64) Value {
	at, values := r.knownReadings(m)
	begin, end := interpolate(at, values, from), interpolate(at, values, to)
	if !begin.IsKnown() || !end.IsKnown() || to < from {
		return Absent()
	}
	return end - begin
}

// ReadAt reports whether a metric was read near both ends of [from, to): within a part of the
// interval, such as 0.02, of each.
func (r *Resources) ReadAt(m Metric, from, to, part float64) bool {
	at, _ := r.knownReadings(m)
	slack := part * (to - from)
	near := func(instant float64) bool {
		i := sort.SearchFloat64s(at, instant-slack)
		return i < len(at) && at[i] <= instant+slack
	}
	return near(from) && near(to)
}

// RateMax is the fastest rise of a counter, per second, between two consecutive readings that
// overlap [from, to); absent if Increase is, or without two readings. It skips pairs closer than a
// tenth of the period, because clocks that tick every 10 ms turn their rates into noise.
func (r *Resources) RateMax(m Metric, from, to float64) Value {
	if !r.Increase(m, from, to).IsKnown() {
		return Absent()
	}
	most := Absent()
	at, values := r.knownReadings(m)
	for i := 1; i < len(at); i++ {
		width := at[i] - at[i-1]
		if at[i] <= from || at[i-1] >= to || width <= r.Period/10 {
			continue
		}
		rate := (values[i] - values[i-1]) / Value(width)
		if !most.IsKnown() || rate > most {
			most = rate
		}
	}
	return most
}

// Max is the largest reading of a gauge in [from, to]; absent without readings.
func (r *Resources) Max(m Metric, from, to float64) Value {
	most := Absent()
	for _, v := range r.readingsWithin(m, from, to) {
		if !most.IsKnown() || v > most {
			most = v
		}
	}
	return most
}

// Mean is the mean of a gauge's readings in [from, to]; absent without readings.
func (r *Resources) Mean(m Metric, from, to float64) Value {
	values := r.readingsWithin(m, from, to)
	var sum Value
	for _, v := range values {
		sum += v
	}
	return ratio(sum, Value(len(values)))
}

// knownReadings returns the readings of a metric, without absent ones.
func (r *Resources) knownReadings(m Metric) (at []float64, values []Value) {
	for i, v := range r.Metrics[m] {
		if v.IsKnown() {
			at, values = append(at, r.At[i]), append(values, v)
		}
	}
	return at, values
}

// readingsWithin returns the readings in [from, to]. If an interval shorter than a period has no
// readings, it returns the readings on both sides.
func (r *Resources) readingsWithin(m Metric, from, to float64) []Value {
	if to < from {
		return nil
	}
	at, values := r.knownReadings(m)
	first := sort.SearchFloat64s(at, from)
	end := sort.SearchFloat64s(at, math.Nextafter(to, math.Inf(1)))
	if first == end && first > 0 && end < len(at) {
		first, end = first-1, end+1
	}
	return values[first:max(first, end)]
}

// interpolate returns the value at a time, on the line between the surrounding readings; absent
// outside them.
func interpolate(at []float64, values []Value, instant float64) Value {
	i := sort.SearchFloat64s(at, instant)
	switch {
	case i == len(at):
		return Absent()
	case at[i] == instant:
		return values[i]
	case i == 0:
		return Absent()
	}
	part := (instant - at[i-1]) / (at[i] - at[i-1])
	return values[i-1] + Value(part)*(values[i]-values[i-1])
}
