package experiment

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/internal/suggest"
)

// Life follows the load: the last rows of the dataset are written at a steady rate while dashboards
// run Queries.Types at a steady rate, and events happen beside them. The zero value has no life.
type Life struct {
	Ingest     int           `yaml:"ingest"`     // rows a second
	Dashboards int           `yaml:"dashboards"` // queries a second, of all types in turn
	Duration   time.Duration `yaml:"duration"`
	Events     []Event       `yaml:"events,omitempty"` // in order of time
}

// Event is something that operators do, or that happens to them.
type Event struct {
	At time.Duration `yaml:"at"` // since the start; later if the event before has not ended
	Do string        `yaml:"do"` // one of EventWords, or StepPrefix and the name of a driver's step
	// Share is a percentage: for EventBackfill, of the rows before the life, the oldest ones, which
	// the load leaves out; for EventLate and EventCorrect, of the series; for EventDrop, of the time
	// that the rows cover, the oldest. 0: 10.
	Share int `yaml:"share,omitempty"`
	// For is how long the series of EventLate send nothing, before they send everything at once. 0:
	// 5s.
	For time.Duration `yaml:"for,omitempty"`
	// Tag and Value are those of the series of EventDelete. Empty: the first tag, and its value in
	// one of the series.
	Tag   string `yaml:"tag,omitempty"`
	Value string `yaml:"value,omitempty"`
}

// The events.
const (
	EventBackfill   = "backfill"      // old rows are written at once
	EventLate       = "late"          // some series send nothing for a while, and then everything
	EventCorrect    = "correct"       // values of stored rows are replaced
	EventDelete     = "delete-tenant" // the rows of all series with a tag are removed
	EventDrop       = "drop-before"   // the oldest rows are removed, as retention does
	EventDownsample = "downsample"    // an aggregate of all rows is made
	EventGrow       = "grow"          // rows have a further field from then on
	EventRestart    = "restart"       // the server is stopped and started
	StepPrefix      = "step:"         // a step of the driver, such as step:vacuum
)

// EventWords lists the values of Event.Do, without steps.
func EventWords() []string {
	return []string{EventBackfill, EventLate, EventCorrect, EventDelete, EventDrop, EventDownsample, EventGrow, EventRestart}
}

// Defaults of Event.Share, in percent, and of Event.For.
const (
	DefaultShare = 10
	DefaultFor   = 5 * time.Second
)

// Enabled reports whether the load has a life after it.
func (l *Life) Enabled() bool { return l.Duration > 0 }

// Rows returns the number of rows of the dataset that are written during the life.
func (l *Life) Rows() int64 { return int64(float64(l.Ingest) * l.Duration.Seconds()) }

// BackfillShare returns the percentage of the rows before the life that an event writes; 0: none.
func (l *Life) BackfillShare() int {
	for i := range l.Events {
		if l.Events[i].Do == EventBackfill {
			return l.Events[i].ShareOf()
		}
	}
	return 0
}

// ShareOf returns Share, or its default.
func (e *Event) ShareOf() int {
	if e.Share == 0 {
		return DefaultShare
	}
	return e.Share
}

// maxLifeRate limits the rates of a life, and maxEvents its events.
const (
	maxLifeRate = 10_000_000
	maxEvents   = 100
)

func (c *checker) life(e *Experiment) {
	l := &e.Life
	if !l.Enabled() {
		if l.Duration < 0 || l.Ingest != 0 || l.Dashboards != 0 || l.Events != nil {
			c.add("life.duration", "must say how long the life lasts, such as 60s")
		}
		return
	}
	c.checkRange("life.ingest", l.Ingest, 1, maxLifeRate)
	c.checkRange("life.dashboards", l.Dashboards, 1, maxLifeRate)
	switch {
	case len(e.Queries.Types) == 0:
		c.add("life", "has dashboards; name their query types in queries.types")
	case e.Mixed.Enabled():
		c.add("mixed", "cannot stand beside a life; leave one of the sections out")
	case e.Load.File != "":
		c.add("life", "is for rows that are generated, not for those of a file; leave out load.file or the section")
	case e.Load.Limit > 0:
		c.add("life", "needs all rows of the dataset; leave out load.limit or the section")
	case e.Load.Columns != "":
		c.add("life", "cannot stand beside columns that appear; leave out load.columns or the section")
	case e.Materialize.Enabled():
		c.add("life", "makes its aggregate in the event %s; leave out the section materialize", EventDownsample)
	case e.Queries.Verbatim():
		c.add("life", "verifies answers, which is impossible with queries.query-texts: %s; leave one of them out", TextsTSBS)
	case e.Adopt:
		c.add("life", "follows a load; leave out adopt or the section")
	}
	if len(l.Events) > maxEvents {
		c.add("life.events", "has %d events; the most are %d", len(l.Events), maxEvents)
	}
	seen := map[string]int{}
	for i := range l.Events {
		do := l.Events[i].Do
		c.event(fmt.Sprintf("life.events[%d]", i), &l.Events[i], l, i)
		if seen[do]++; seen[do] == 2 && (do == EventBackfill || do == EventGrow) {
			c.add(fmt.Sprintf("life.events[%d].do", i), "is the second %s; one is possible", do)
		}
	}
}

// event checks the i-th event.
func (c *checker) event(path string, v *Event, l *Life, i int) {
	step, isStep := strings.CutPrefix(v.Do, StepPrefix)
	switch {
	case v.Do == "":
		c.add(path+".do", "must be one of %s, or %sNAME", strings.Join(EventWords(), ", "), StepPrefix)
		return
	case isStep && step == "":
		c.add(path+".do", "must name a step of the driver, as in %svacuum", StepPrefix)
	case !isStep && !slices.Contains(EventWords(), v.Do):
		c.add(path+".do", "%q is not an event%s", v.Do, suggest.Names(v.Do, append(EventWords(), StepPrefix+"NAME")))
		return
	}
	switch {
	case v.At < 0 || v.At >= l.Duration:
		c.add(path+".at", "must be from 0 to less than life.duration, %s, not %s", DurationText(l.Duration), DurationText(v.At))
	case i > 0 && v.At < l.Events[i-1].At:
		c.add(path+".at", "is before the %s of the event before it; write the events in order", DurationText(l.Events[i-1].At))
	}
	c.checkRange(path+".share", v.Share, 0, 90)
	for _, of := range []struct {
		key   string
		set   bool
		words []string
	}{
		{"share", v.Share != 0, []string{EventBackfill, EventLate, EventCorrect, EventDrop}},
		{"for", v.For != 0, []string{EventLate}},
		{"tag", v.Tag != "", []string{EventDelete}},
		{"value", v.Value != "", []string{EventDelete}},
	} {
		if of.set && !slices.Contains(of.words, v.Do) {
			c.add(path+"."+of.key, "means nothing for %s; it is for %s", v.Do, strings.Join(of.words, ", "))
		}
	}
	if v.Do == EventLate && v.For < 0 {
		c.add(path+".for", "must be more than 0, not %s", DurationText(v.For))
	}
	if v.Do == EventDelete && (v.Tag == "") != (v.Value == "") {
		c.add(path+".tag", "needs a value: write tag and value, or neither")
	}
}
