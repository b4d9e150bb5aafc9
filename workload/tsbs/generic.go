package tsbs

import (
	"fmt"
	"io"
	"math/rand"
	"slices"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Settings of the devops-generic use case.
const (
	genericHigh       = 1000 // of every metric
	genericSeed       = 1234 // of widths and lives, whatever the dataset's seed
	genericSkew       = 1.01 // of their Zipf distribution
	defaultMaxMetrics = 100
)

// genericDataset is the dataset of the devops-generic use case: one ragged table of hosts with
// different numbers of metrics. Half of the hosts live only for a part of the time range.
type genericDataset struct {
	spec   workload.Spec
	schema *series.Schema
	lives  []uint64 // per host, the epochs from its first row on in which it has rows; 0: all
	ends   []int    // per host, where its states end among all states
}

func newGenericDataset(spec workload.Spec) *genericDataset {
	d := &genericDataset{spec: spec}
	scale := int(spec.Scale)
	most := int(spec.MaxMetrics)
	if most == 0 {
		most = defaultMaxMetrics
	}
	table := &series.Table{Name: "generic_metrics", Widths: make([]uint32, scale), Dense: true}
	for i := range most {
		table.Fields = append(table.Fields, series.Field{Name: fmt.Sprintf("metric_%d", i), Type: series.Int})
	}
	for i, n := range append(zipf(scale-1, most), uint64(most)) {
		table.Widths[i] = uint32(n)
	}
	epochs := int(spec.End.Sub(spec.Start) / spec.Interval)
	mortal := zipf(scale/2, epochs)
	slices.SortFunc(mortal, func(a, b uint64) int { return int(b) - int(a) })
	d.lives = append(make([]uint64, scale-scale/2), mortal...)
	d.ends = make([]int, scale)
	states := 0
	for i, n := range table.Widths {
		states += int(n)
		d.ends[i] = states
	}
	tags := newHostTags(spec.Scale)
	d.draw(newRandom(spec.Seed), nil, tags)
	table.Tags = tags.tags()
	d.schema = &series.Schema{Tables: []*series.Table{table}, Series: spec.Scale}
	return d
}

// zipf returns n numbers from 1 to most of the distribution that TSBS draws
// from a source of its own.
func zipf(n, most int) []uint64 {
	source := rand.NewZipf(rand.New(rand.NewSource(genericSeed)), genericSkew, 1, uint64(most))
	drawn := make([]uint64, n)
	for i := range drawn {
		drawn[i] = min(source.Uint64()+1, uint64(most))
	}
	return drawn
}

// draw makes all draws of building the hosts. Either of states and tags may be
// nil.
func (d *genericDataset) draw(r *random, states []float64, tags *hostTags) {
	regions := regions()
	from := 0
	for host := range d.spec.Scale {
		for i := from; i < d.ends[host]; i++ {
			if x := r.float64() * genericHigh; states != nil {
				states[i] = x
			}
		}
		from = d.ends[host]
		tags.draw(r, regions, host)
	}
}

// Schema implements workload.Dataset.
func (d *genericDataset) Schema() *series.Schema { return d.schema }

// Open implements workload.Dataset. A reader keeps 8 bytes a metric of a host.
func (d *genericDataset) Open() workload.Reader {
	spec := d.spec
	if spec.InitialScale == 0 || spec.InitialScale == spec.Scale {
		spec.InitialScale = max(1, spec.Scale/2)
	}
	r := &genericReader{
		genericDataset: d,
		random:         newRandom(spec.Seed),
		states:         make([]float64, d.ends[len(d.ends)-1]),
		born:           make([]uint64, spec.Scale),
		epochs:         newEpochs(spec, 1),
	}
	d.draw(r.random, r.states, nil)
	return r
}

// genericReader produces the rows of one pass.
type genericReader struct {
	*genericDataset
	random *random
	states []float64
	born   []uint64 // per host, one more than the epoch of its first row; 0: it had none
	epochs epochs
	host   uint32 // of the next row
}

// maxCells bounds the values of a batch: hosts may have thousands of metrics.
const maxCells = 1 << 21

// Next implements workload.Reader.
func (r *genericReader) Next(b *series.Batch, most int) error {
	b.Reset()
	table := r.schema.Tables[0]
	most = min(most, max(1, maxCells/len(table.Fields)))
	run := b.Add(table)
	run.Grow(most)
	rows := 0
	e := &r.epochs
	for ; rows < most && e.left > 0; e.left-- {
		if r.host == e.scale {
			r.host = 0
			e.advance()
		}
		from := 0
		if r.host > 0 {
			from = r.ends[r.host-1]
		}
		states := r.states[from:r.ends[r.host]]
		if e.index > 0 {
			r.random.walk(states, 0, genericHigh)
		}
		if r.lives[r.host] == 0 && uint64(r.host) < e.hosts || r.alive() {
			if e.groups == 1 || e.mine() {
				run.Series[rows], run.Times[rows] = r.host, e.time
				for f, x := range states {
					run.Columns[f].Ints[rows] = int64(x)
				}
				rows++
			}
		}
		r.host++
	}
	run.Grow(rows)
	if rows == 0 {
		b.Reset()
		return io.EOF
	}
	return nil
}

// alive reports whether a mortal host has a row in this epoch.
func (r *genericReader) alive() bool {
	e := &r.epochs
	if uint64(r.host) >= e.hosts {
		return false
	}
	born := &r.born[r.host]
	if *born == 0 {
		*born = e.index + 1
	}
	return *born-1+r.lives[r.host] > e.index
}
