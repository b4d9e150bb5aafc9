package engine

import (
	"time"

	"github.com/tsmark/tsmark/query"
)

// Journal is what a mixed phase has to remember so that its answers can be
// checked afterwards. Its memory is bounded but for 24 bytes a batch.
type Journal struct {
	Loaded int64     // rows that were there before the first batch
	Writes []Written // by their place in the dataset
	Types  []AnsweredType
}

// Handed returns how many rows were handed to the target, whatever it said of
// them: the first ones of the dataset behind the loaded ones.
func (j *Journal) Handed() int64 {
	rows := int64(0)
	for _, w := range j.Writes {
		if w.Begin != Never {
			rows += w.Rows
		}
	}
	return rows
}

// AnsweredType is what is remembered of the answers to one query type: evenly
// spread over the phase, and about half as many as were allowed, or more, where
// there were so many.
type AnsweredType struct {
	Full    []Answered // with their answers
	Counted []Answered // with the number of rows only
}

// Answered is a question and what is known of its answer.
type Answered struct {
	Query query.Query   // with the window that was asked
	At    time.Duration // when it was asked, since the phase began
	Rows  int64
	// One of these is set for an answer that was kept: the digest where
	// oracle.Expectation has one.
	Answer *query.Answer
	Digest *query.Digest
}

// maxCounted bounds the answers of all types together whose number of rows is
// remembered: some 15 MB.
const maxCounted = 32_768

// keepOneOf is how many answers of a type there are at least for each that is
// kept in full, since those have no latency.
const keepOneOf = 4

// sample keeps some of the things it is offered: at first one of step, then of
// twice as many, and so on, the more of them the fewer. So they are spread
// evenly and never more than limit.
type sample[T any] struct {
	limit int
	step  int
	kept  []T
	at    []int // place among all of each kept one
}

// newSample keeps limit things at most, and no more than one of so many as step.
func newSample[T any](limit, step int) sample[T] { return sample[T]{limit: max(limit, 1), step: step} }

// wants reports whether the n-th thing, from 0, is to be offered.
func (s *sample[T]) wants(n int) bool { return n%s.step == 0 }

// offer keeps the n-th thing if it is still wanted.
func (s *sample[T]) offer(n int, v T) {
	if !s.wants(n) {
		return
	}
	s.kept, s.at = append(s.kept, v), append(s.at, n)
	for len(s.kept) > s.limit {
		s.step *= 2
		left := 0
		for i, n := range s.at {
			if s.wants(n) {
				s.kept[left], s.at[left] = s.kept[i], n
				left++
			}
		}
		clear(s.kept[left:])
		s.kept, s.at = s.kept[:left], s.at[:left]
	}
}
