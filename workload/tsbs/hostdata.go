package tsbs

import (
	"io"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// hostDataset is the dataset of a use case of hosts: a row a host, table and
// epoch, in the order epoch, table, host.
type hostDataset struct {
	spec       workload.Spec
	schema     *series.Schema
	subsystems []*subsystem
	stride     int // states a host
}

func newHostDataset(spec workload.Spec, subsystems []*subsystem) *hostDataset {
	d := &hostDataset{spec: spec, schema: &series.Schema{Series: spec.Scale}, subsystems: subsystems}
	for _, s := range subsystems {
		s.first = d.stride
		d.stride += len(s.walks)
	}
	tags := newHostTags(spec.Scale)
	d.draw(newRandom(spec.Seed), nil, tags)
	for _, s := range subsystems {
		s.table.Tags, s.table.Dense = append(tags.tags(), s.table.Tags...), true
		d.schema.Tables = append(d.schema.Tables, s.table)
	}
	return d
}

// draw makes all draws of building the hosts, in TSBS's order: for each host its subsystems, then
// its tags. Without states the drawn states are discarded; without tags, an earlier call has stored
// the constants.
func (d *hostDataset) draw(r *random, states []float64, tags *hostTags) {
	regions := regions()
	scratch := make([]float64, d.stride)
	for host := range d.spec.Scale {
		of := scratch
		if states != nil {
			of = states[int(host)*d.stride:][:d.stride]
		}
		for _, s := range d.subsystems {
			s.draw(r, host, of[s.first:], tags != nil)
		}
		tags.draw(r, regions, host)
	}
}

// Schema implements workload.Dataset.
func (d *hostDataset) Schema() *series.Schema { return d.schema }

// Open implements workload.Dataset. A reader keeps 8 bytes a host and state.
func (d *hostDataset) Open() workload.Reader {
	r := &hostReader{
		hostDataset: d,
		random:      newRandom(d.spec.Seed),
		states:      make([]float64, int(d.spec.Scale)*d.stride),
		epochs:      newEpochs(d.spec, uint64(len(d.subsystems))),
	}
	d.draw(r.random, r.states, nil)
	return r
}

// hostReader produces the rows of one pass.
type hostReader struct {
	*hostDataset
	random *random
	states []float64 // stride a host
	epochs epochs
	table  int    // of the next row
	host   uint32 // of the next row
}

// sliceStates keeps the states of a slice of hosts within the first-level
// cache.
const sliceStates = 2000

// Next implements workload.Reader.
func (r *hostReader) Next(b *series.Batch, max int) error {
	b.Reset()
	e := &r.epochs
	rows := 0
	var run *series.Run
	filled := 0 // rows of run
	for rows < max && e.left > 0 {
		if r.host == e.scale {
			r.host, r.table = 0, r.table+1
			if r.table == len(r.subsystems) {
				r.table = 0
				e.advance()
				if len(r.subsystems) > 1 {
					r.tick(0, e.scale)
				}
			}
		}
		s := r.subsystems[r.table]
		if run == nil || run.Table != s.table {
			if run != nil {
				run.Grow(filled)
			}
			run = b.Add(s.table)
			room := max - rows
			if len(r.subsystems) > 1 {
				// A batch of few hosts has many runs, and every run keeps its memory: room for a
				// whole batch in each would take gigabytes.
				room = min(room, int(e.scale-r.host))
			}
			run.Grow(room)
			filled = 0
		}
		n := min(uint64(max-rows), uint64(e.scale-r.host), e.left, uint64(sliceStates/r.stride+1))
		from, to := r.host, r.host+uint32(n)
		if e.index > 0 && len(r.subsystems) == 1 {
			// With one table the order of the draws is the order of the rows:
			// the states are written out while they are in the cache.
			r.tick(from, to)
		}
		made := r.emit(s, run, filled, from, to)
		filled += made
		rows += made
		r.host = to
		e.left -= n
	}
	if rows == 0 {
		b.Reset()
		return io.EOF
	}
	run.Grow(filled)
	if filled == 0 {
		b.Runs = b.Runs[:len(b.Runs)-1]
	}
	return nil
}

// tick moves all states of hosts [from, to) to the next epoch.
func (r *hostReader) tick(from, to uint32) {
	if len(r.subsystems) == 1 && r.subsystems[0].step == nil {
		// The walks of cpu's fields are all alike.
		r.random.walk(r.states[int(from)*r.stride:int(to)*r.stride], cpuLow, cpuHigh)
		return
	}
	for host := from; host < to; host++ {
		states := r.states[int(host)*r.stride:][:r.stride]
		for _, s := range r.subsystems {
			if s.step != nil {
				s.step(r.random, host, states[s.first:])
			} else {
				r.random.step(states[s.first:], s.walks)
			}
		}
	}
}

// emit writes the rows of hosts [from, to) that exist in this epoch and belong
// to the interleaved group, from row at on, and returns how many they are.
func (r *hostReader) emit(s *subsystem, run *series.Run, at int, from, to uint32) int {
	e := &r.epochs
	exist := int(min(uint64(to), max(uint64(from), e.hosts)) - uint64(from))
	seconds := e.elapsedUnits(time.Second)
	if e.groups == 1 {
		r.put(s, run, at, from, exist, seconds)
		return exist
	}
	n := 0
	for i := range exist {
		if e.mine() {
			r.put(s, run, at+n, from+uint32(i), 1, seconds)
			n++
		}
	}
	return n
}

// put writes the rows of consecutive hosts.
func (r *hostReader) put(s *subsystem, run *series.Run, at int, first uint32, hosts int, seconds int64) {
	series, times := run.Series[at:at+hosts], run.Times[at:at+hosts]
	for i := range series {
		series[i] = first + uint32(i)
	}
	for i := range times {
		times[i] = r.epochs.time
	}
	if hosts > 0 {
		s.rows(run, at, first, hosts, r.states[int(first)*r.stride:], r.stride, seconds)
	}
}
