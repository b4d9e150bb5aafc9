package result

// Retries describes batches that failed and were sent again.
type Retries struct {
	Tries int64 `json:"tries"` // failed attempts that were followed by another one
	// Values is the total number of values in the batches of these attempts, excluding NULLs; 0:
	// not recorded.
	Values int64 `json:"values,omitempty"`
	// SentTwice is the number of rows that were sent again although the target may have stored
	// them: the maximum number of duplicates.
	SentTwice int64  `json:"sent_twice"`
	Cause     string `json:"cause"` // the first failure
}

// Add adds the retries of another part of the same load.
func (r *Retries) Add(other *Retries) *Retries {
	switch {
	case r == nil:
		return other
	case other == nil:
		return r
	}
	return &Retries{Tries: r.Tries + other.Tries, Values: r.Values + other.Values, SentTwice: r.SentTwice + other.SentTwice, Cause: r.Cause}
}

// AllRetries returns the retries of the whole load, including a mixed phase; nil: nothing failed.
func (l *Load) AllRetries() *Retries {
	if l.Mixed == nil {
		return l.Retries
	}
	return l.Retries.Add(l.Mixed.Writes.Retries)
}

// FinalCensus is the comparison of the target's contents with the expected rows, by table: after the
// load, or after the life that followed it. Empty: nothing was compared.
func (l *Load) FinalCensus() []CensusResult {
	if l.Life != nil {
		return l.Life.Census
	}
	return l.Census
}

// LostRows returns how many acknowledged rows were missing from the census.
func (l *Load) LostRows() int64 {
	n := int64(0)
	for _, c := range l.FinalCensus() {
		n += c.Lost
	}
	return n
}

// Duplicates returns the number of rows that the census found twice because they were sent twice.
func (l *Load) Duplicates() int64 {
	n := int64(0)
	for _, c := range l.FinalCensus() {
		n += c.Duplicates
	}
	return n
}

// UndetectedLoss returns why acknowledged rows may be missing although the census found no
// difference; empty: no row is missing.
func (l *Load) UndetectedLoss() string {
	for _, c := range l.FinalCensus() {
		if c.Contents != nil && c.Contents.PossiblyMissing != "" {
			return c.Contents.PossiblyMissing
		}
	}
	return ""
}

// Settle records that the load settled the given number of seconds later than the clock said: a
// census then found the rows that had been missing.
func (l *Load) Settle(later float64) {
	if l.Visible == nil {
		l.Visible = &Visible{}
	}
	l.Settled, l.Visible.Late = l.Settled+later, later
}
