package result

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Cause is the reason why a query had no answer.
type Cause string

// The causes.
const (
	// TimedOut: the target did not send a complete answer within the time limit.
	TimedOut Cause = "timeout"
	// ServerError: the target refused the query or reported an error.
	ServerError Cause = "error"
	// ConnectionLost: the connection broke, and the target accepted a new one.
	ConnectionLost Cause = "connection"
)

// Failure is why a query type has no figure although no answer was wrong: a query had no answer. It
// withholds nothing else. In particular the target's load keeps its figures.
type Failure struct {
	Cause Cause   `json:"cause"`           // timeout, error or connection
	Limit float64 `json:"limit,omitempty"` // of TimedOut: the time limit in seconds
	// Reason names the query and includes the server's complete message, with its advice.
	Reason string `json:"reason"`
}

// NewFailure returns the failure of a query whose error names it.
func NewFailure(cause Cause, err error) *Failure {
	reason := err.Error()
	if cause == ConnectionLost {
		reason += "; the server answers on a new connection"
	}
	return &Failure{Cause: cause, Reason: reason}
}

// NewTimeout returns the failure of a query that was cut off after the limit.
func NewTimeout(limit time.Duration, query int) *Failure {
	return &Failure{
		Cause: TimedOut, Limit: limit.Seconds(),
		Reason: fmt.Sprintf("query %d had no answer by then; allow more with --timeout", query),
	}
}

// Word is the text in place of a figure in tables: > 1 min, or failed.
func (f *Failure) Word() string {
	if f.Cause == TimedOut {
		return "> " + limitText(f.Limit)
	}
	return "failed"
}

// Error implements error.
func (f *Failure) Error() string { return f.Word() + ": " + f.Reason }

// limitText formats a time limit in its largest whole unit.
func limitText(seconds float64) string {
	for _, unit := range []struct {
		seconds float64
		name    string
	}{{3600, "h"}, {60, "min"}} {
		if n := seconds / unit.seconds; n >= 1 && n == math.Trunc(n) {
			return strconv.FormatFloat(n, 'f', 0, 64) + " " + unit.name
		}
	}
	if seconds < 1 {
		return strconv.FormatFloat(seconds*1000, 'g', 3, 64) + " ms"
	}
	return strconv.FormatFloat(seconds, 'g', 4, 64) + " s"
}

// WithoutFigure reports whether MissingFigure has a reason.
func (q *Queries) WithoutFigure() bool {
	return q.Unsupported != "" || q.Withheld != "" || q.Failed != nil
}

// WithoutFigure is Queries.WithoutFigure.
func (t *MixedType) WithoutFigure() bool {
	return t.Unsupported != "" || t.Withheld != "" || t.Failed != nil
}

// MissingFigure says why the figures of the type are missing: a word for tables, and the reason.
// Both are empty if there are figures, and if the type was not run.
func (q *Queries) MissingFigure() (word, why string) {
	return missingFigure(q.Outcome(), q.Unsupported, q.Reason(), q.Failed)
}

// MissingFigure is Queries.MissingFigure.
func (t *MixedType) MissingFigure() (word, why string) {
	switch {
	case t.Unsupported != "":
		return missingFigure(Unsupported, t.Unsupported, "", nil)
	case t.Withheld != "":
		return missingFigure(Withheld, "", t.Withheld, nil)
	case t.Failed != nil:
		return missingFigure(Failed, "", "", t.Failed)
	}
	return "", ""
}

func missingFigure(o Outcome, unsupported, withheld string, failed *Failure) (word, why string) {
	switch o {
	case Unsupported:
		return "n/a", unsupported
	case Withheld:
		return "withheld", withheld
	case Failed:
		return failed.Word(), failed.Reason
	}
	return "", ""
}
