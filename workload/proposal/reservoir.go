package proposal

import (
	"math/rand/v2"
	"slices"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/input"
)

// Bounds of the values that a survey remembers: reservoirSize values of each of the first
// SampledFields numeric fields of a table, and of MaxReservoirs fields in total.
const (
	reservoirSize = 1024
	SampledFields = 5
	MaxReservoirs = 1000
)

// Reservoir is a uniform sample of the values of a numeric field.
type Reservoir struct {
	random *rand.PCG
	seen   int64
	values []float64
	// odd reports values whose aggregates differ between systems: NaN, infinities, and integers
	// that a float64 does not hold.
	odd bool
}

// NewReservoirs returns the reservoirs of a table's fields, at most n; nil for a field without one.
func NewReservoirs(t *series.Table, n int) []*Reservoir {
	list := make([]*Reservoir, len(t.Fields))
	n = min(n, SampledFields)
	for i := range t.Fields {
		if n > 0 && t.Fields[i].Type.Numeric() {
			list[i] = &Reservoir{random: rand.NewPCG(uint64(i), reservoirSize)}
			n--
		}
	}
	return list
}

// Add adds the values of a field in consecutive rows.
func (r *Reservoir) Add(run *series.Run, field int) {
	c, ints := &run.Columns[field], run.Table.Fields[field].Type.UsesInts()
	all := c.Nulls == nil && run.Table.Widths == nil
	for row := range run.Times {
		if !all && run.Lacks(field, row) {
			continue
		}
		if ints {
			n := c.Ints[row]
			r.odd = r.odd || n > input.MaxExact || n < -input.MaxExact
			r.addValue(float64(n))
		} else {
			v := c.Floats[row]
			r.odd = r.odd || v-v != 0
			r.addValue(v)
		}
	}
}

// addValue adds a value, which replaces a random one of a full sample.
func (r *Reservoir) addValue(v float64) {
	r.seen++
	if len(r.values) < reservoirSize {
		r.values = append(r.values, v)
		return
	}
	if at := r.random.Uint64() % uint64(r.seen); at < reservoirSize {
		r.values[at] = v
	}
}

// quantiles returns the different values at shares of the sorted sample that some value exceeds,
// in ascending order.
func (r *Reservoir) quantiles(shares ...float64) []float64 {
	sorted := slices.Sorted(slices.Values(r.values))
	var list []float64
	for _, share := range shares {
		v := sorted[int(share*float64(len(sorted)-1))]
		if v < sorted[len(sorted)-1] && !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}
