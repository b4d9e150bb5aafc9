package engine

import (
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// Journal records a mixed phase so that its answers can be checked afterwards. It grows by 24 bytes
// per batch, and hardly with the number of answers.
type Journal struct {
	Loaded int64          // rows that were loaded before the first batch
	Shares []WrittenShare // the rows behind the loaded ones that each client wrote
	Types  []AnsweredType
	// InParts is the target's Caps.ShowsInParts.
	InParts bool
	// Semantics are those of the target's driver.
	Semantics string
	// Hidden says that rows loaded before the phase may have been missing from answers: the load
	// did not wait until all of them were visible.
	Hidden bool
}

// HandedRows returns the number of rows that all clients handed to the target, whether or not it
// accepted them.
func (j *Journal) HandedRows() int64 {
	rows := int64(0)
	for i := range j.Shares {
		rows += j.Shares[i].HandedRows()
	}
	return rows
}

// WrittenShare is the batches of one client.
type WrittenShare struct {
	Writes []Written // in the order of the share
	// Own reduces a pass over the dataset behind the loaded rows to the rows of this share; nil:
	// all rows.
	Own func(workload.Reader) workload.Reader
	// Uncertainty is the uncertainty of the client's clock: the times of this share may differ from
	// those of the other shares by as much.
	Uncertainty time.Duration
}

// HandedRows returns the number of rows handed to the target. They are the first rows of the share.
func (s *WrittenShare) HandedRows() int64 {
	rows := int64(0)
	for _, w := range s.Writes {
		if w.Begin != Never {
			rows += w.Rows
		}
	}
	return rows
}

// AnsweredType holds random samples of the answers to one query type, as chosen by Sample.
type AnsweredType struct {
	Full    []Answered // answers included
	Counted []Answered // number of rows only
}

// Answered is a query with the part of its answer that was read.
type Answered struct {
	Query query.Query // with its actual window; not set by a Capture
	Place int         // place of the query among the queries drawn for its type
	// Position is the operation's position in the sample: its number in the phase, from 0.
	Position int64
	At       time.Duration // when it was run, since the phase began
	Rows     int64
	// One of these is set if the answer was kept: Digest if oracle.Expectation has a digest, else
	// Answer.
	Answer *query.Answer
	Digest *query.Digest
}

// maxCounted is the maximum number of answers, of all types together, whose number of rows is
// remembered. They are a random sample and take about 4 MB.
const maxCounted = 8_192
