package result

import "cmp"

// Outcome says whether the figures of a query type are valid, and why not.
type Outcome int

// The outcomes, from worst to best.
const (
	NotRun      Outcome = iota // not recorded, or only checked
	Unsupported                // the system cannot answer: see Queries.Unsupported
	Withheld                   // an answer was wrong, or a check cast doubt on it: see Queries.Reason
	Failed                     // a query had no answer: see Queries.Failed
	Empty                      // correct, but all expected answers are empty
	Unverified                 // the answers were not compared
	Verified
)

// Outcome returns whether the figures are valid; NotRun if q is nil.
func (q *Queries) Outcome() Outcome {
	switch {
	case q == nil:
		return NotRun
	case q.Unsupported != "":
		return Unsupported
	case q.Withheld != "" || q.Verdict.Difference != "":
		return Withheld
	case q.Failed != nil:
		return Failed
	case q.Service.Count == 0:
		return NotRun
	case q.Verdict.Checked == 0:
		return Unverified
	case q.Verdict.Empty == q.Verdict.Checked:
		return Empty
	}
	return Verified
}

// Reason is why the figures are withheld, if they are.
func (q *Queries) Reason() string { return cmp.Or(q.Withheld, "the answers are wrong") }

// SameDataset reports whether two runs used the same rows.
func SameDataset(a, b *Dataset) bool { return a.Fingerprint == b.Fingerprint }
