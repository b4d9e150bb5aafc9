package lie

import (
	"slices"
	"strings"
)

// timeSeries is a series of a request that writes samples.
type timeSeries struct {
	labels  []byte // its fields that are labels, as they came
	name    string // of the metric
	key     string // the other labels
	samples []sample
}

type sample struct {
	value uint64 // the bits of a double
	time  uint64
}

// samples applies the lie to rows of the table: a row is the samples of one time whose
// series have the same labels.
func (p *proxy) samples(all []*timeSeries) {
	type row struct {
		key  string
		time uint64
	}
	numbers, rows := map[row]int{}, []row{}
	values := map[string]map[row]uint64{} // by the metric's name
	for _, s := range all {
		if !strings.HasPrefix(s.name, p.table+"_") {
			continue
		}
		if values[s.name] == nil {
			values[s.name] = map[row]uint64{}
		}
		for _, one := range s.samples {
			at := row{s.key, one.time}
			if _, ok := numbers[at]; !ok {
				numbers[at] = len(rows)
				rows = append(rows, at)
			}
			values[s.name][at] = one.value
		}
	}
	fates := p.fates(len(rows))
	for _, s := range all {
		if !strings.HasPrefix(s.name, p.table+"_") {
			continue
		}
		var samples []sample
		for _, one := range s.samples {
			n := numbers[row{s.key, one.time}]
			other := -1 // the row with which it exchanges its values
			switch {
			case fates[n] == Swap && n > 0:
				other = n - 1
			case n+1 < len(fates) && fates[n+1] == Swap:
				other = n + 1
			}
			if other >= 0 {
				if v, ok := values[s.name][rows[other]]; ok {
					one.value = v
				}
			}
			if fates[n] == Zero {
				one.value = 0
			}
			samples = append(samples, slices.Repeat([]sample{one}, fates[n].copies())...)
		}
		s.samples = samples
	}
}
