package result

// Mixed is a phase in which rows are written while queries run.
type Mixed struct {
	// Share is how many of all operations, batches and queries, were batches:
	// above 0 and below 1. 0: each side went at its own rate.
	Share     float64 `json:"share,omitempty"`
	RowRate   string  `json:"row_rate,omitempty"`   // as pace.Parse reads it, in rows; empty: as fast as the target took them
	QueryRate string  `json:"query_rate,omitempty"` // likewise, in queries; empty: each querier sent its next query when it had its answer
	Duration  float64 `json:"duration,omitempty"`   // no batch began later; 0: until the dataset was written
	Windows   string  `json:"windows"`              // where windows lie: workload.Windows
	Lateness  float64 `json:"lateness"`             // windows end so much before the newest time read, or earlier
	Loaded    int64   `json:"loaded"`               // rows that were there before
	Rest      int64   `json:"rest,omitempty"`       // rows that were loaded, alone, after it
	Wall      float64 `json:"wall"`                 // from the start until the last batch and the last answer
	// Writes is what was written. Its times begin with the phase, and settling
	// comes after it.
	Writes Load `json:"writes"`
	// Response is from when the last row of a batch was due until the batch was
	// acknowledged; nil: no rate was set.
	Response *Latency `json:"response,omitempty"`

	Queriers int   `json:"queriers"` // connections that ran queries
	Queue    int   `json:"queue"`    // arrivals that could wait for a querier
	Arrivals int64 `json:"arrivals"` // queries that were due, by the rate or by the share; 0: neither was set
	Dropped  int64 `json:"dropped"`  // of these, found the queue full
	// Early is how many of these came when no window of any type fitted below
	// the watermark, so that no query was run.
	Early int64 `json:"early"`
	// Waiting is how many of these were in the queue when the writes ended, and
	// were not run: the queriers did not keep up.
	Waiting int64 `json:"waiting,omitempty"`
	// Lag is by how much the client itself released queries later than intended.
	Lag   *Latency    `json:"lag,omitempty"`
	Types []MixedType `json:"types"` // in the order run, in turn
}

// MixedType is what was measured of one query type while rows were written.
//
// An answer is stale where it is right for an older state of the database: the
// rows of the batches that had been acknowledged up to some earlier moment.
// Any other answer that is not the expected one is wrong.
type MixedType struct {
	Type        string   `json:"type" redact:"-"`       // name of the query type
	Unsupported string   `json:"unsupported,omitempty"` // reason; no query was run
	Withheld    string   `json:"withheld,omitempty"`    // why the figures below are not shown as a result
	Failed      *Failure `json:"failed,omitempty"`      // as in Queries
	Executed    int64    `json:"executed"`              // those cut off counted
	AtLeast     int64    `json:"at_least"`              // cut off by the time limit: their latency is at least what is recorded
	PerSecond   float64  `json:"per_second"`            // queries per second of all workers
	Rows        int64    `json:"rows"`                  // of all answers
	Bytes       int64    `json:"bytes"`                 // of all answers
	// Service is from sending a query until its answer was read to the last byte.
	Service Latency `json:"service"`
	// Values and Accumulated are those of Queries.
	Values      int64     `json:"values,omitempty"`
	Accumulated []float64 `json:"accumulated,omitempty"` // see Values
	// Response, of the same queries, is from the intended start to the last
	// byte; nil: no rate was set.
	Response *Latency `json:"response,omitempty"`

	Verdict Verdict `json:"verdict"`          // of the answers that were kept in full, a random sample
	Wanted  int     `json:"wanted,omitempty"` // as in Sample; 0: none
	Counted int64   `json:"counted"`          // further answers whose number of rows was compared
	Stale   int64   `json:"stale"`            // of both, right for an older state
	// InParts is how many of the stale ones are right for no state of whole batches, as of a
	// system that shows the rows of a batch apart. They have no part in Freshness.
	InParts int64 `json:"in_parts,omitempty"`
	// Unmatched is how many of InParts match no state that was tried: sums and means of groups with
	// many rows that may have been missing, of which only the limits were examined, and
	// answers of which nothing but the number of rows was.
	Unmatched int64 `json:"unmatched,omitempty"`
	// Unexamined answers were not right, and too many to look at all of them:
	// those that were looked at were stale, unless the type is withheld.
	Unexamined int64 `json:"unexamined,omitempty"`
	// Freshness is, of each stale answer, the time from the acknowledgement of
	// the first batch that it lacks to the start of its query: for that long, at least,
	// acknowledged rows were not visible.
	Freshness Latency `json:"freshness"`
}

// MostStale is the share of stale answers above which a time is no figure of its own: the system
// answered from less data than others, so that reports compare it with nothing. One in a
// hundred, since so few hardly move a median.
const MostStale = 0.01

// StaleShare is the share of the checked answers that were stale, from 0 to 1.
func (t *MixedType) StaleShare() float64 {
	checked := int64(t.Verdict.Checked) + t.Counted
	if checked == 0 {
		return 0
	}
	return float64(t.Stale) / float64(checked)
}

// Problem returns the first reason for which a figure of the phase is withheld;
// empty: there is none, or no phase.
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

// Failure returns the first failure of a query type; nil: there is none, or no phase.
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

// AllRows returns the rows of the whole load, those of a mixed phase included.
func (l *Load) AllRows() int64 {
	if l.Mixed == nil {
		return l.Rows
	}
	return l.Rows + l.Mixed.Writes.Rows + l.Mixed.Rest
}
