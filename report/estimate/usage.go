package estimate

import (
	"slices"

	"github.com/tsmark/tsmark/result"
)

// Sources returns the resource readings of a target's server, and whether they are from
// tsmark's own process, which an embedded target shares. A run that was resumed has
// several. The list is empty if the server could not be read.
func Sources(r *result.Run, t *result.Target) (list []*result.Resources, shared bool) {
	names := []string{result.ServerSource(t.Name)}
	switch {
	case t.Embedded:
		names = []string{result.ClientSource}
	case t.SameServer != "":
		names = append(names, result.ServerSource(t.SameServer))
	}
	for i := range r.Resources {
		if slices.Contains(names, r.Resources[i].Source) {
			list = append(list, &r.Resources[i])
		}
	}
	return list, t.Embedded
}

// The usage of a measurement is known if it lasts for at least enoughPeriods readings,
// since each of its ends is uncertain by up to one; or if it was read at both ends and
// lasts long enough in seconds, since Linux counts CPU time in hundredths of one.
const (
	enoughPeriods = 5
	nearEnds      = 0.02 // of its time
	leastSeconds  = 0.25
)

// SumUsage adds up the usage during cells. It is unknown if a cell was too short, or was not
// watched as a whole.
func SumUsage(sources []*result.Resources, cells []*result.Cell) (sum result.Usage, known bool) {
	sum = result.Usage{RSSMax: result.Absent()}
	for _, c := range cells {
		found := false
		for _, s := range sources {
			u := s.Usage(c.From, c.To)
			if !u.CPU.IsKnown() || u.Wall < enoughPeriods*s.Period && (u.Wall < leastSeconds || !s.ReadAt(result.CPU, c.From, c.To, nearEnds)) {
				continue
			}
			found = true
			sum.Wall += u.Wall
			sum.CPU += u.CPU
			sum.DiskRead += u.DiskRead
			sum.DiskWritten += u.DiskWritten
			sum.NetReceived += u.NetReceived
			sum.NetSent += u.NetSent
			if !sum.RSSMax.IsKnown() || u.RSSMax > sum.RSSMax {
				sum.RSSMax = u.RSSMax
			}
			break
		}
		if !found {
			return sum, false
		}
	}
	return sum, len(cells) > 0
}

// loadSpan returns the first load of a target, and the times at which it and its mixed phase began and ended; nil: it
// has no figures.
func loadSpan(t *result.Target) (l *result.Load, from, to float64) {
	for _, r := range t.MeasuredRepeats() {
		if l = r.Load; l == nil {
			continue
		}
		if !l.HasFigures() || l.To <= l.From {
			return nil, 0, 0
		}
		from, to = l.From, l.To
		if l.Mixed != nil {
			to = max(to, l.Mixed.Writes.To)
		}
		return l, from, to
	}
	return nil, 0, 0
}

// MostMemory is the largest resident memory of a target's server during its first load, in bytes; absent if it was not
// read, or includes tsmark itself.
func MostMemory(r *result.Run, t *result.Target) result.Value {
	most := result.Absent()
	sources, shared := Sources(r, t)
	l, from, to := loadSpan(t)
	for _, s := range sources {
		if v := s.Max(result.RSS, from, to); l != nil && !shared && !most.IsKnown() {
			most = v
		}
	}
	return most
}

// emptyShare is the largest share of the size on disk that an empty server has before a load.
const emptyShare = 0.05

// MemoryPerSeries is the resident memory that a server gained during its first load, in bytes for each series of the
// dataset. It is absent unless tsmark started the server, without data, and unless memory was read at both ends.
func MemoryPerSeries(r *result.Run, t *result.Target) result.Value {
	sources, shared := Sources(r, t)
	l, from, to := loadSpan(t)
	if l == nil || shared || t.Idle == "" || t.SameServer != "" || r.Dataset.Series == 0 ||
		l.DiskBytes > 0 && float64(l.DiskBefore) > emptyShare*float64(l.DiskBytes) {
		return result.Absent()
	}
	for _, s := range sources {
		if gained := s.Increase(result.RSS, from, to); gained > 0 {
			return gained / result.Value(r.Dataset.Series)
		}
	}
	return result.Absent()
}

// leastPerThird is the minimum number of readings of a gauge in a third of a measurement for
// using their mean.
const leastPerThird = 2

// GaugeGrowth is the mean of a gauge in the last third of a cell by that in its first
// third. It is absent where a third has too few readings.
func GaugeGrowth(sources []*result.Resources, c *result.Cell, gauge result.Metric) result.Value {
	third := (c.To - c.From) / 3
	for _, s := range sources {
		if third < leastPerThird*s.Period {
			continue
		}
		if growth := s.Mean(gauge, c.To-third, c.To) / s.Mean(gauge, c.From, c.From+third); growth.IsKnown() {
			return growth
		}
	}
	return result.Absent()
}
