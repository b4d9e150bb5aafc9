package iotdb

import (
	"io"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// DeviceTag is the tag that identifies devices.
const DeviceTag = "device"

// Dataset is the rows of all devices: a block of rows of each device in turn,
// and then the next blocks. Any part of it can be read by itself.
type Dataset struct {
	settings *settings
	sensors  []sensor
	schema   *series.Schema
	latest   bool // one row a time
	clients  int  // that alternate; 0: not dealt
	quantum  int  // rows that a client sends before the next one sends
	// For a share: its first client, and the number of clients that the whole was dealt to. 0
	// clients: the whole dataset.
	first, of int
}

// newDataset makes a dataset of settings.
func newDataset(s *settings) (*Dataset, error) {
	sensors, err := newSensors(s)
	if err != nil {
		return nil, err
	}
	d := &Dataset{settings: s, sensors: sensors, schema: &series.Schema{Series: s.devices}}
	tags := []series.Tag{{Key: DeviceTag, Values: series.Numbered{Prefix: "d_"}}}
	combinations := uint32(1)
	for _, n := range s.tags {
		combinations *= n
	}
	under := combinations
	for i, n := range s.tags {
		tag := hashedTag{combinations: combinations, above: under, under: under / n}
		tags = append(tags, series.Tag{Key: "tag_" + strconv.Itoa(i), Values: tag})
		under /= n
	}
	fields := make([]series.Field, len(sensors))
	for i := range sensors {
		fields[i] = s.field(&sensors[i])
	}
	for g := range s.groups {
		d.schema.Tables = append(d.schema.Tables, &series.Table{
			Name: "g_" + strconv.FormatUint(uint64(g), 10), Tags: tags, Fields: fields, Dense: !s.unaligned,
		})
	}
	return d, nil
}

// hashedTag gives each device a value by the tool's rule: a hash of its name
// chooses one of the combinations of all tags' values.
type hashedTag struct{ combinations, above, under uint32 }

// Append implements series.TagValues.
func (t hashedTag) Append(dst []byte, device uint32) ([]byte, bool) {
	at := len(dst)
	dst, _ = series.Numbered{Prefix: "d_"}.Append(dst, device)
	hash := int32(0) // as Java hashes texts
	for _, c := range dst[at:] {
		hash = 31*hash + int32(c)
	}
	value := uint32(max(hash, -hash)) // the smallest integer is unchanged, and as an unsigned number it is its absolute value
	value = value % t.combinations % t.above / t.under
	dst = append(dst[:at], "value_"...)
	return strconv.AppendUint(dst, uint64(value), 10), true
}

// Schema implements workload.Dataset.
func (d *Dataset) Schema() *series.Schema { return d.schema }

// Open implements workload.Dataset.
func (d *Dataset) Open() workload.Reader {
	if d.clients > 1 {
		shards := make([]workload.Reader, d.clients)
		for i := range shards {
			shards[i] = d.OpenShard(i)
		}
		return workload.Alternate(shards, d.quantum)
	}
	return d.OpenShard(0)
}

// Part reads the rows of the devices from first to before last that arrive in the slots from one to
// before the other: slot k is the time at which row k of a device is due; all late rows have
// arrived by the last slot.
func (d *Dataset) Part(first, last uint32, from, to int64) workload.Reader {
	sources := uint32(1)
	if d.settings.unaligned {
		sources = d.settings.sensors
	}
	r := &reader{
		Dataset: d, first: first, last: last, slot: from, end: to, sources: sources,
		next: source{device: first}, scratch: make([]float64, readerRows),
	}
	if d.settings.waits() {
		r.waiting = make([]waiting, uint64(last-first)*uint64(sources))
		for i := range r.waiting {
			r.waiting[i] = d.settings.waitingAt(source{first + uint32(i)/sources, uint32(i) % sources}, from)
		}
	}
	if d.settings.rewriting() {
		r.newest = make([]int64, uint64(last-first)*uint64(sources))
		for i := range r.newest {
			r.newest[i] = -1
			if from > 0 {
				src := source{first + uint32(i)/sources, uint32(i) % sources}
				r.rows, r.newest[i] = d.settings.rewrites(r.rows[:0], src, 0, from, -1)
			}
		}
		r.rows = r.rows[:0]
	}
	return r
}

// Latest implements workload.Repeating.
func (d *Dataset) Latest() workload.Dataset {
	if d.settings.duplicates == 0 && !d.settings.rewriting() {
		return d
	}
	latest := *d
	latest.latest = true
	return &latest
}

// Step implements workload.Delayed.
func (d *Dataset) Step() time.Duration { return time.Duration(d.settings.step) }

// rewriting reports whether old times are written again.
func (s *settings) rewriting() bool { return s.late > 0 && s.lateMode == paperPoisson }

// time returns when a row of a source was measured, in nanoseconds since 1970.
func (s *settings) time(src source, k int64) int64 {
	t, room := k*s.step, s.step
	if s.unaligned {
		room = s.step / int64(s.sensors)
		t += floor(int64(src.sensor)*s.step/int64(s.sensors), s.grain)
	}
	if s.irregular {
		x, _ := random(s.seed, uint64(k), streamOf(src.device, src.sensor, forInterval))
		t += floor(scaleInt(x, room), s.grain)
	}
	return s.start + t
}

// floor returns the multiple of the grain at or below t, which is positive.
func floor(t, grain int64) int64 { return t - t%grain }

// readerRows is the number of rows that a reader computes at a time.
const readerRows = 1024

// reader is one pass over a part.
type reader struct {
	*Dataset
	first, last uint32
	slot, end   int64
	sources     uint32 // of a device
	next        source // whose rows come after those at hand

	rows    []row // of the source at hand
	at      int   // first one that was not given out
	source  source
	memory  []arrival
	newest  []int64   // rewriting: of each source
	waiting []waiting // where rows wait: of each source
	scratch []float64
}

// Next implements workload.Reader.
func (r *reader) Next(b *series.Batch, max int) error {
	b.Reset()
	var run *series.Run
	for left := max; left > 0; {
		if r.at == len(r.rows) {
			if r.slot >= r.end || r.first == r.last {
				if left == max {
					return io.EOF
				}
				return nil
			}
			r.advance()
			continue
		}
		n := min(left, len(r.rows)-r.at, readerRows)
		table := r.schema.Tables[r.source.device%r.settings.groups]
		if run == nil || run.Table != table {
			run = b.Add(table)
		}
		r.fill(run, r.rows[r.at:r.at+n])
		r.at, left = r.at+n, left-n
	}
	return nil
}

// advance takes the rows of the next source.
func (r *reader) advance() {
	s, src := r.settings, r.next
	behind := min(r.slot+s.block-r.slot%s.block, r.end)
	r.source, r.at, r.rows = src, 0, r.rows[:0]
	switch number := (src.device-r.first)*r.sources + src.sensor; {
	case s.rewriting() && r.latest:
		r.rows, r.newest[number] = s.distinctRewrites(r.rows, src, r.slot, behind, r.newest[number])
	case s.rewriting():
		r.rows, r.newest[number] = s.rewrites(r.rows, src, r.slot, behind, r.newest[number])
	case r.latest:
		r.rows = s.latest(r.rows, src, r.slot, behind)
	case s.waits():
		r.rows = s.arrivals(r.rows, src, r.slot, behind, &r.memory, &r.waiting[number])
	default:
		r.rows = s.arrivals(r.rows, src, r.slot, behind, &r.memory, nil)
	}
	if r.next.sensor++; r.next.sensor == r.sources {
		r.next = source{device: src.device + 1}
	}
	if r.next.device == r.last {
		r.next.device, r.slot = r.first, behind
	}
}

// fill adds rows of the source at hand to a run.
func (r *reader) fill(run *series.Run, rows []row) {
	s, had := r.settings, run.Rows()
	run.Grow(had + len(rows))
	times := run.Times[had:]
	for i, row := range rows {
		run.Series[had+i] = r.source.device
		times[i] = s.time(r.source, row.at)
	}
	scratch := r.scratch[:len(rows)]
	for i := range r.sensors {
		if s.unaligned && uint32(i) != r.source.sensor {
			for row := range rows {
				run.SetNull(i, had+row)
			}
			continue
		}
		s.fill(&run.Columns[i], scratch, r.source.device, &r.sensors[i], rows, times)
	}
}
