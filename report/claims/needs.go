package claims

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// thin returns why a run has too little data to decide the claim; empty: it has enough.
func (r rule) thin(e *document.Experiment, run *result.Run) string {
	n := r.needs
	if n.Devices == 0 && n.RowsPerDevice == 0 && n.Density == 0 && n.Pressure == 0 || e.IsWhole(r.m.Size) {
		return ""
	}
	extents := r.extents[e.Name]
	if extents == nil {
		var err error
		if extents, err = r.d.Extents(e, r.m.Size); err != nil {
			return err.Error()
		}
		r.extents[e.Name] = extents
	}
	here, own, err := extents.ScalesAt(run.Parameters)
	if err != nil {
		return err.Error()
	}
	var short []string
	for _, quantity := range []struct {
		words     string
		need      document.Least
		here, own float64
	}{
		{"devices", n.Devices, here.Devices, own.Devices},
		{"rows per device", n.RowsPerDevice, here.RowsPerDevice, own.RowsPerDevice},
		{"rows per device and hour", n.Density, here.Density, own.Density},
	} {
		if need := quantity.need.Bound(quantity.own); quantity.here < need {
			short = append(short, fmt.Sprintf("%s %s (%s has %s, the document %s)", wholeNumber(need), quantity.words, strings.TrimSpace(e.Name+pointName(run)), wholeNumber(quantity.here), wholeNumber(quantity.own)))
		}
	}
	if n.Pressure > 0 {
		volume := 8 * float64(run.Dataset.Metrics)
		own := volume * own.Devices * own.RowsPerDevice / (here.Devices * here.RowsPerDevice) / float64(r.d.Memory)
		if memory := memoryOf(run); memory == 0 {
			short = append(short, "a server whose memory is known")
		} else if pressure := volume / memory; pressure < n.Pressure.Bound(own) {
			short = append(short, fmt.Sprintf("data of %.2g times the server's memory (%s has %.2g, the document %.2g)", n.Pressure.Bound(own), strings.TrimSpace(e.Name+pointName(run)), pressure, own))
		}
	}
	return atThisSize(r.m.Size, short)
}

// atThisSize says that a size is too small to test a claim; empty: nothing is short.
func atThisSize(size document.Size, short []string) string {
	if len(short) == 0 {
		return ""
	}
	return fmt.Sprintf("not tested at size %s: it needs %s", size, strings.Join(short, ", "))
}

// wholeNumber formats a quantity as a whole number.
func wholeNumber(v float64) string { return format.Count(int64(math.Ceil(v))) }

// memoryOf returns the memory of a run's servers in bytes, the largest of them; 0: unknown.
func memoryOf(run *result.Run) float64 {
	most := int64(0)
	for i := range run.Targets {
		t := &run.Targets[i]
		memory := t.ServerMemory
		if memory == 0 {
			if !t.Embedded && !t.CoLocated {
				return 0
			}
			memory = int64(run.Host.Memory)
		}
		most = max(most, memory)
	}
	return float64(most)
}

// brief returns why the loads of a side are too short to decide the claim; empty: they are not, or
// the rule is about queries.
func (r rule) brief(s side) string {
	if len(r.Types) > 0 || r.metric() == compare.Disk || r.Figure == document.DiskShare || r.needs.Batches == 0 && r.needs.LoadTime == 0 || s.target == nil {
		return ""
	}
	var short []string
	seconds := estimate.Loads(s.target, func(l *result.Load) float64 { return l.Settled })
	batches := estimate.Loads(s.target, func(l *result.Load) float64 {
		return float64(l.Rows) / float64(max(l.BatchSize, 1)*max(l.Workers, 1))
	})
	for i := range seconds {
		if took := time.Duration(seconds[i] * float64(time.Second)); took < r.needs.LoadTime {
			short = append(short, fmt.Sprintf("loads of %v (one of %s took %v)", r.needs.LoadTime, s.name, took.Round(time.Millisecond)))
			break
		}
	}
	for i := range batches {
		if batches[i] < r.needs.Batches {
			short = append(short, fmt.Sprintf("%s batches from each worker (one load of %s had %.3g)", wholeNumber(r.needs.Batches), s.name, batches[i]))
			break
		}
	}
	return atThisSize(r.m.Size, short)
}
