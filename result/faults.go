package result

// Retries is what became of batches that failed and were sent again.
type Retries struct {
	Tries int64 `json:"tries"` // that failed and were followed by another one
	// Values is how many the batches of these tries had together, NULLs left
	// out; 0: not recorded.
	Values int64 `json:"values,omitempty"`
	// SentTwice is how many rows were sent again although the target may have
	// stored them: so many duplicates, at most, it may hold.
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

// AllRetries returns the retries of the whole load, those of a mixed phase
// included; nil: nothing failed.
func (l *Load) AllRetries() *Retries {
	if l.Mixed == nil {
		return l.Retries
	}
	return l.Retries.Add(l.Mixed.Writes.Retries)
}

// LostRows returns how many acknowledged rows were missing from the census.
func (l *Load) LostRows() int64 {
	n := int64(0)
	for i := range l.Census {
		n += l.Census[i].Lost
	}
	return n
}

// Duplicates returns how many rows the census found twice because they were
// sent twice.
func (l *Load) Duplicates() int64 {
	n := int64(0)
	for i := range l.Census {
		n += l.Census[i].Duplicates
	}
	return n
}

// UndetectedLoss returns why acknowledged rows may be missing although the census
// agrees; empty: none is.
func (l *Load) UndetectedLoss() string {
	for i := range l.Census {
		if c := l.Census[i].Contents; c != nil && c.Unexcluded != "" {
			return c.Unexcluded
		}
	}
	return ""
}

// Settle notes that the load settled so many seconds later than the clock said: a census then
// found rows that had been missing.
func (l *Load) Settle(later float64) {
	if l.Visible == nil {
		l.Visible = &Visible{}
	}
	l.Settled, l.Visible.Late = l.Settled+later, later
}
