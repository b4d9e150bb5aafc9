package result

// Mixed is a phase in which rows are written while queries run.
type Mixed struct {
	// Share is the share of batches among all operations (batches and queries), between 0 and 1
	// exclusive. 0: writes and queries had independent rates.
	Share     float64 `json:"share,omitempty"`
	RowRate   string  `json:"row_rate,omitempty"`   // as pace.Parse reads it, in rows; empty: as fast as the target took them
	QueryRate string  `json:"query_rate,omitempty"` // likewise, in queries; empty: each worker sent its next query once it had its answer
	Duration  float64 `json:"duration,omitempty"`   // no batch began later; 0: until the whole dataset was written
	Windows   string  `json:"windows"`              // position of windows: workload.Windows
	Lateness  float64 `json:"lateness"`             // distance of the end of windows from the newest time read, at least
	Loaded    int64   `json:"loaded"`               // rows loaded before the phase
	Rest      int64   `json:"rest,omitempty"`       // rows loaded alone after the phase
	Wall      float64 `json:"wall"`                 // from the start until the last batch and the last answer
	// Writes is the measurement of the writes. Its times start with the phase; settling follows the
	// phase.
	Writes Load `json:"writes"`
	// Response is the time from when the last row of a batch was due until the batch was
	// acknowledged; nil: no rate was set.
	Response *Latency `json:"response,omitempty"`

	Queriers int   `json:"queriers"` // connections that ran queries
	Queue    int   `json:"queue"`    // arrivals that could wait for a connection
	Arrivals int64 `json:"arrivals"` // scheduled queries, by the rate or by the share; 0: neither was set
	Dropped  int64 `json:"dropped"`  // of these, arrivals that found the queue full
	// Early is the number of arrivals for which no window of any type fitted below the watermark,
	// so that no query ran.
	Early int64 `json:"early"`
	// Waiting is the number of arrivals still in the queue when the writes ended. They were not
	// run: the connections did not keep up.
	Waiting int64 `json:"waiting,omitempty"`
	// Saturated describes how a rate was missed; empty: the rates were kept, or none was set.
	Saturated string `json:"saturated,omitempty"`
	// Lag is the delay with which the client itself released queries.
	Lag   *Latency    `json:"lag,omitempty"`
	Types []MixedType `json:"types"` // in order of execution, round-robin
}

// MixedType is the measurement of one query type while rows were written.
//
// An answer is stale if it is correct for an older state of the database: the rows of the batches
// that had been acknowledged up to an earlier time. Any other unexpected answer is wrong.
type MixedType struct {
	Type        string   `json:"type" redact:"-"`       // name of the query type
	Unsupported string   `json:"unsupported,omitempty"` // reason; no query was run
	Withheld    string   `json:"withheld,omitempty"`    // why the figures below are not shown as a result
	Failed      *Failure `json:"failed,omitempty"`      // as in Queries
	Executed    int64    `json:"executed"`              // including those cut off
	AtLeast     int64    `json:"at_least"`              // cut off by the time limit: their latency is at least the recorded one
	PerSecond   float64  `json:"per_second"`            // queries per second of all workers
	Rows        int64    `json:"rows"`                  // of all answers
	Bytes       int64    `json:"bytes"`                 // of all answers
	// Service is the time from sending a query to the last byte of its answer.
	Service Latency `json:"service"`
	// Values and Accumulated are those of Queries.
	Values      int64     `json:"values,omitempty"`
	Accumulated []float64 `json:"accumulated,omitempty"` // see Values
	// Response, of the same queries, is the time from the intended start to the last byte; nil: no
	// rate was set.
	Response *Latency `json:"response,omitempty"`
	// Course is how the times went while rows were written, as in Load.Rates.
	Course []MeanPoint `json:"course,omitempty"`

	Verdict Verdict `json:"verdict"`          // of the answers that were kept in full, a random sample
	Wanted  int     `json:"wanted,omitempty"` // as in Sample; 0: none
	Counted int64   `json:"counted"`          // further answers with only the number of rows compared
	Stale   int64   `json:"stale"`            // answers of both groups that are correct for an older state
	// PartialBatches is the number of stale answers that match no state of whole batches, because the
	// system shows the rows of a batch separately. Freshness excludes them.
	PartialBatches int64 `json:"partial_batches,omitempty"`
	// Unmatched is the number of PartialBatches answers that match no state that was tried: sums and means
	// of groups with many possibly missing rows, for which only the limits were examined, and
	// answers with only the number of rows compared.
	Unmatched int64 `json:"unmatched,omitempty"`
	// Unexamined is the number of unexpected answers that were not examined because there were too
	// many; all examined ones were stale, unless the type is withheld.
	Unexamined int64 `json:"unexamined,omitempty"`
	// Freshness is, for each stale answer, the time from the acknowledgement of the first batch
	// that it lacks to the start of its query. Acknowledged rows were invisible for at least that
	// long.
	Freshness Latency `json:"freshness"`
}

// MeanPoint is the queries that ended in a reporting period.
type MeanPoint struct {
	At    float64 `json:"at"`    // seconds since the start of the phase, end of the period
	Count int64   `json:"count"` // of queries that ended in it
	Mean  float64 `json:"mean"`  // of their times in seconds: see Time
}

// Time returns the times that reports compare: response times if queries had a rate.
func (t *MixedType) Time() *Latency {
	if t.Response != nil {
		return t.Response
	}
	return &t.Service
}

// MostStale is the largest share of stale answers for a comparable time. Beyond it the system
// answered from less data than others, and reports do not compare its time. One in a hundred hardly
// moves a median.
const MostStale = 0.01

// StaleShare is the share of the checked answers that were stale, from 0 to 1.
func (t *MixedType) StaleShare() float64 {
	checked := int64(t.Verdict.Checked) + t.Counted
	if checked == 0 {
		return 0
	}
	return float64(t.Stale) / float64(checked)
}

// TooStale reports whether the type has a time that is not compared because too many answers were
// stale: see MostStale.
func (t *MixedType) TooStale() bool { return !t.WithoutFigure() && t.StaleShare() > MostStale }

// Problem returns the first reason to withhold a figure of the phase; empty: no figure is withheld,
// or there is no phase.
func (m *Mixed) Problem() string {
	if m == nil {
		return ""
	}
	if m.Writes.Withheld != "" {
		return m.Writes.Withheld
	}
	for i := range m.Types {
		if t := &m.Types[i]; t.Withheld != "" {
			return t.Type + ": " + t.Withheld
		}
	}
	return ""
}

// Failure returns the first failure of a query type; nil: no type failed, or there is no phase.
func (m *Mixed) Failure() *Failure {
	if m == nil {
		return nil
	}
	for i := range m.Types {
		if f := m.Types[i].Failed; f != nil {
			return f
		}
	}
	return nil
}

// AllRows returns the rows of the whole load, including a mixed phase.
func (l *Load) AllRows() int64 {
	if l.Mixed == nil {
		return l.Rows
	}
	return l.Rows + l.Mixed.Writes.Rows + l.Mixed.Rest
}
