package result

// Life is a year in the life of a database: steady ingest beside dashboards at fixed rates, and
// events beside them.
type Life struct {
	// Base is the ingest and the dashboards. Its answers were checked against the rows that the
	// target had at the time of each query.
	Base     Mixed       `json:"base"`
	Course   []LifePoint `json:"course"`   // over time
	Interval float64     `json:"interval"` // of Course, in seconds
	Events   []LifeEvent `json:"events"`   // in order
	// Failed is the number of queries without an answer, and FailedWhy the first of their errors.
	Failed    int64  `json:"failed,omitempty"`
	FailedWhy string `json:"failed_why,omitempty"` // see Failed
	// FreshnessUnknown is the reason why no freshness was measured; empty: it was.
	FreshnessUnknown string         `json:"freshness_unknown,omitempty"`
	Census           []CensusResult `json:"census,omitempty"`   // of the contents at the end
	Withheld         string         `json:"withheld,omitempty"` // reason to withhold the figures; empty: none
}

// LifePoint is an interval of a life.
type LifePoint struct {
	At        float64 `json:"at"`                  // end, in seconds since the start
	Queries   int64   `json:"queries"`             // that ended with an answer
	Failed    int64   `json:"failed,omitempty"`    // queries without an answer
	Median    float64 `json:"median"`              // of their response times; 0: no query ended
	P99       float64 `json:"p99,omitempty"`       // of their response times, or the largest if they are few
	Rows      int64   `json:"rows"`                // of the base that were written
	Freshness float64 `json:"freshness,omitempty"` // longest time from acknowledgement until a row was visible; 0: not measured
	DiskBytes int64   `json:"disk_bytes"`          // -1: not measured
}

// LifeEvent is an event of a life. Its times are seconds since the start.
type LifeEvent struct {
	Do          string  `json:"do" redact:"-"`         // as the experiment names it
	What        string  `json:"what"`                  // in words, with the target's way to do it
	Due         float64 `json:"due"`                   // by the schedule
	Begin       float64 `json:"begin"`                 // 0: it did not begin
	End         float64 `json:"end"`                   // 0: it did not begin
	Unsupported string  `json:"unsupported,omitempty"` // reason; nothing was done
	Failed      string  `json:"failed,omitempty"`      // the error that ended it
	Rows        int64   `json:"rows,omitempty"`        // that were written or corrected

	// Before is the dashboards' queries in the ten seconds before the event, During the queries that
	// ended within it, or within its first second, and After the queries of the ten seconds after it,
	// up to the next event.
	Before LifePeriod `json:"before"`
	During LifePeriod `json:"during"` // see Before
	After  LifePeriod `json:"after"`  // see Before
	// Slower is the time of the queries during the event, as a multiple of the time before: the
	// median over the queries, each by the median of its type before. 0: too few queries.
	Slower float64 `json:"slower,omitempty"`
	// Limit is the largest multiple that is usual; 0: unknown, since too few queries ran before.
	Limit float64 `json:"limit,omitempty"`
	// UsualAfter is the time from the begin of the event until the queries were as usual again; 0:
	// they always were. -1: not before the next event, or the end. Only with Limit.
	UsualAfter float64 `json:"usual_after"`

	DiskBefore int64 `json:"disk_before"` // bytes; -1: unknown
	DiskAfter  int64 `json:"disk_after"`  // bytes, at the end of the event; -1: unknown
	// DiskLeast is the least size after the event and before the next one, which it had
	// DiskLeastAfter seconds after the event's begin; -1: unknown.
	DiskLeast      int64   `json:"disk_least"`
	DiskLeastAfter float64 `json:"disk_least_after,omitempty"` // see DiskLeast
	// WrittenBytes is what the servers wrote to disk during the event; -1: unknown.
	WrittenBytes int64 `json:"written_bytes"`

	Checked   int `json:"checked"`             // answers compared, of queries during the event
	Undecided int `json:"undecided,omitempty"` // of further ones: they match neither the state before nor the one after
}

// LifePeriod is the queries of a part of a life.
type LifePeriod struct {
	Queries   int64   `json:"queries"`             // that ended with an answer
	Failed    int64   `json:"failed,omitempty"`    // queries without an answer
	Median    float64 `json:"median"`              // of their response times
	P99       float64 `json:"p99,omitempty"`       // 0: too few
	Freshness float64 `json:"freshness,omitempty"` // longest; 0: not measured
}

// HasFigure reports whether the event has figures.
func (e *LifeEvent) HasFigure() bool { return e.Unsupported == "" && e.Failed == "" && e.End > 0 }

// Problem returns the reason to withhold the figures of a life; empty: they count, or there is no life.
func (l *Life) Problem() string {
	switch {
	case l == nil:
		return ""
	case l.Withheld != "":
		return l.Withheld
	}
	return l.Base.Problem()
}
