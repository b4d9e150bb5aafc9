package engine

import (
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// Journal is what a mixed phase has to remember so that its answers can be
// checked afterwards. Its memory grows by 24 bytes a batch, and hardly with the
// answers.
type Journal struct {
	Loaded int64          // rows that were there before the first batch
	Shares []WrittenShare // what each client wrote of the dataset's rows behind these
	Types  []AnsweredType
	// InParts is the target's Caps.ShowsInParts.
	InParts bool
	// Hidden says that rows which were loaded before may have been missing all the same: the
	// load went on before all of them were visible.
	Hidden bool
}

// HandedRows returns how many rows were handed to the target, whatever it said of
// them, by all clients together.
func (j *Journal) HandedRows() int64 {
	rows := int64(0)
	for i := range j.Shares {
		rows += j.Shares[i].HandedRows()
	}
	return rows
}

// WrittenShare is the batches of one client.
type WrittenShare struct {
	Writes []Written // by their place in the share
	// Own leaves the rows of the share of a pass over the dataset behind the loaded rows;
	// nil: all of them.
	Own func(workload.Reader) workload.Reader
	// Uncertainty is by how much the times of the share may differ from those of the
	// others: that of the client's clock.
	Uncertainty time.Duration
}

// HandedRows returns how many rows were handed to the target: the first ones of the share.
func (s *WrittenShare) HandedRows() int64 {
	rows := int64(0)
	for _, w := range s.Writes {
		if w.Begin != Never {
			rows += w.Rows
		}
	}
	return rows
}

// AnsweredType holds remembered answers to one query type: random
// samples, as Sample chooses them.
type AnsweredType struct {
	Full    []Answered // with their answers
	Counted []Answered // with the number of rows only
}

// Answered is a query with its answer, as far as it was read.
type Answered struct {
	Query query.Query // with the window that it had; not set by a Capture
	Place int         // of the query among those drawn for its type
	// Position is the operation's in the sample: its number in the phase, from 0.
	Position int64
	At       time.Duration // when it was run, since the phase began
	Rows     int64
	// One of these is set for an answer that was kept: the digest where
	// oracle.Expectation has one.
	Answer *query.Answer
	Digest *query.Digest
}

// maxCounted bounds the answers of all types together whose number of rows is
// remembered: a random sample of so many, some 4 MB.
const maxCounted = 8_192
