package tsbs

import (
	"io"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// cpuFields are the fields of the cpu table, integers from 0 to 100.
func cpuFields() []string {
	return []string{
		"usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait",
		"usage_irq", "usage_softirq", "usage_steal", "usage_guest", "usage_guest_nice",
	}
}

const (
	cpuFieldCount = 10
	cpuLow        = 0
	cpuHigh       = 100
)

// cpuDataset is the dataset of the cpu-only use case: one table, a row a host
// and epoch, each field a random walk between 0 and 100.
type cpuDataset struct {
	spec   workload.Spec
	schema *series.Schema
}

func newCPUDataset(spec workload.Spec) *cpuDataset {
	tags := newHostTags(spec.Scale)
	drawHosts(newRandom(spec.Seed), spec.Scale, nil, tags)
	table := &series.Table{Name: "cpu", Tags: tags.tags()}
	for _, name := range cpuFields() {
		table.Fields = append(table.Fields, series.Field{Name: name, Type: series.Int})
	}
	return &cpuDataset{
		spec:   spec,
		schema: &series.Schema{Tables: []*series.Table{table}, Series: spec.Scale},
	}
}

// drawHosts makes all draws of building the hosts, in TSBS's order: for each
// host its first field values, then its tags. Either may be nil.
func drawHosts(r *random, scale uint32, states []float64, tags *hostTags) {
	regions := regions()
	for host := range scale {
		for f := range cpuFieldCount {
			x := r.float64() * cpuHigh
			if states != nil {
				states[int(host)*cpuFieldCount+f] = x
			}
		}
		tags.draw(r, regions, host)
	}
}

// Schema implements workload.Dataset.
func (d *cpuDataset) Schema() *series.Schema { return d.schema }

// Open implements workload.Dataset. A reader keeps 80 bytes a host.
func (d *cpuDataset) Open() workload.Reader {
	r := &cpuReader{
		table:  d.schema.Tables[0],
		random: newRandom(d.spec.Seed),
		states: make([]float64, int(d.spec.Scale)*cpuFieldCount),
		epochs: newEpochs(d.spec, 1),
	}
	drawHosts(r.random, d.spec.Scale, r.states, nil)
	return r
}

// cpuReader produces the rows of one pass. The tick of an epoch's hosts is
// made slice by slice, just before their rows, while the states are in cache:
// with one table the order of the draws is the order of the rows.
type cpuReader struct {
	table  *series.Table
	random *random
	states []float64 // cpuFieldCount a host
	epochs epochs
	host   uint32 // next one in this epoch
}

// sliceHosts keeps a slice's states (80 bytes a host) within the first-level
// cache.
const sliceHosts = 192

// Next implements workload.Reader.
func (r *cpuReader) Next(b *series.Batch, max int) error {
	b.Reset()
	run := b.Add(r.table)
	run.Grow(max)
	rows := 0
	for rows < max {
		if r.host == r.epochs.scale {
			r.host = 0
			r.epochs.advance()
		}
		n := min(uint64(max-rows), sliceHosts, uint64(r.epochs.scale-r.host), r.epochs.left)
		if n == 0 {
			break
		}
		from, to := r.host, r.host+uint32(n)
		states := r.states[int(from)*cpuFieldCount : int(to)*cpuFieldCount]
		if r.epochs.index > 0 {
			r.random.walk(states, cpuLow, cpuHigh)
		}
		rows += r.emit(run, rows, from, to, states)
		r.host = to
		r.epochs.left -= n
	}
	if rows == 0 {
		b.Reset()
		return io.EOF
	}
	run.Grow(rows)
	return nil
}

// emit writes the rows of hosts [from, to) that exist in this epoch and belong
// to the interleaved group, from row at on, and returns how many they are.
func (r *cpuReader) emit(run *series.Run, at int, from, to uint32, states []float64) int {
	e := &r.epochs
	exist := uint32(min(uint64(to), max(uint64(from), e.hosts))) - from
	if e.groups == 1 {
		n := int(exist)
		for i, series := 0, run.Series[at:at+n]; i < n; i++ {
			series[i] = from + uint32(i)
		}
		for i, times := 0, run.Times[at:at+n]; i < n; i++ {
			times[i] = e.time
		}
		for f := range cpuFieldCount {
			values := run.Columns[f].Ints[at : at+n]
			for i := range values {
				values[i] = int64(states[i*cpuFieldCount+f])
			}
		}
		return n
	}
	n := 0
	for i := range exist {
		if !e.mine() {
			continue
		}
		run.Series[at+n] = from + i
		run.Times[at+n] = e.time
		for f := range cpuFieldCount {
			run.Columns[f].Ints[at+n] = int64(states[int(i)*cpuFieldCount+f])
		}
		n++
	}
	return n
}
