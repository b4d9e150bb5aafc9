package estimate

import (
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// SettledRate returns the rows per second of a load until all had settled; 0: not
// measured.
func SettledRate(l *result.Load) float64 { return result.PerSecond(l.Rows, l.Settled) }

// AckedRate returns the rows per second until the last one was acknowledged; 0: the
// protocol does not acknowledge.
func AckedRate(l *result.Load) float64 { return result.PerSecond(l.Rows, l.Acked) }

// SentRate returns the rows per second until the last one was handed over; 0: not measured.
func SentRate(l *result.Load) float64 { return result.PerSecond(l.Rows, l.Sent) }

// Disk returns the bytes after settling and all steps; 0: unknown, or incomplete.
func Disk(l *result.Load) float64 { return float64(max(l.Disk(), 0)) }

// Loads returns a figure of each load of a target, in the order in which they
// were made. It is nil if one of them is not valid or lacks the figure.
func Loads(t *result.Target, of func(*result.Load) float64) []float64 {
	var list []float64
	for _, l := range verifiedLoads(t) {
		v := of(l)
		if v <= 0 {
			return nil
		}
		list = append(list, v)
	}
	return slices.Clip(list)
}

// verifiedLoads returns the measured loads of a target; nil if one of them has no verified figures.
func verifiedLoads(t *result.Target) (loads []*result.Load) {
	for _, r := range t.MeasuredRepeats() {
		if r.Load == nil {
			continue
		}
		if !r.Load.HasFigures() || r.Load.Unverified != "" {
			return nil
		}
		loads = append(loads, r.Load)
	}
	return loads
}

// Batches returns the times of the batches of all measured loads of a target. It returns the zero Latency if a load has
// no verified figures, or if loads have no histograms to merge.
func Batches(t *result.Target) result.Latency {
	var times []*result.Latency
	for _, l := range verifiedLoads(t) {
		times = append(times, &l.Batches)
	}
	all, _ := result.MergedLatency(times...) // without histograms there is nothing to show
	return all
}

// Load returns the estimate of a figure of a target's loads: their median, and its
// interval if there are at least two. Its N is 0 if the loads are not valid.
func Load(t *result.Target, of func(*result.Load) float64) stats.Estimate {
	return stats.Summarize(Loads(t, of))
}
