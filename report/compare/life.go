package compare

import (
	"slices"

	"github.com/tsmark/tsmark/result"
)

// compareLife compares lives event by event: the time of queries during each, and the time that it
// took. It returns nothing if neither side has a life.
func compareLife(a, b Subject) []Figure {
	var figures []Figure
	for _, name := range lifeEvents(a, b) {
		for _, m := range []Metric{EventMedian, EventTook} {
			f := Figure{Subject: name, Metric: m, Unit: Seconds, Better: Lower}
			figures = append(figures, f.addSides(a, b, func(l *result.Load) (float64, string) { return eventTime(l, name, m) }))
		}
	}
	return figures
}

func lifeEvents(a, b Subject) (names []string) {
	for _, t := range slices.Concat(a.targets, b.targets) {
		for _, r := range t.MeasuredRepeats() {
			if r.Load == nil || r.Load.Life == nil {
				continue
			}
			for _, name := range r.Load.Life.EventNames() {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// eventTime returns EventMedian or EventTook of an event, or why it is missing.
func eventTime(l *result.Load, name string, m Metric) (seconds float64, missing string) {
	if l.Life == nil {
		return 0, "no life followed the load"
	}
	at := slices.Index(l.Life.EventNames(), name)
	if at < 0 {
		return 0, "not run"
	}
	e := &l.Life.Events[at]
	switch problem := l.Life.Problem(); {
	case problem != "":
		return 0, "withheld: " + problem
	case e.Failed != "":
		return 0, "failed: " + e.Failed
	case e.Unsupported != "":
		return 0, "n/a: " + e.Unsupported
	case !e.HasFigure():
		return 0, "not run"
	case m == EventTook:
		return e.End - e.Begin, ""
	case e.During.Median == 0:
		return 0, "no query ended during the event"
	}
	return e.During.Median, ""
}
