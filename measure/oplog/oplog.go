// Package oplog stores every operation of a run in a compact file, so that each figure can be
// derived again later, as well as figures that were not planned at the time of the run.
//
// # Format, version 1
//
// A log is an append-only stream. It begins with the eight bytes of the magic, "tsmkops" and the
// version as one byte (0x01). Frames follow, each with the layout
//
//	kind     1 byte
//	length   4 bytes, little endian, of the payload
//	check    4 bytes, little endian: CRC-32C of kind, length and payload
//	payload
//
// and one of these kinds
//
//	'H'  header, the first frame: a Header as JSON
//	'C'  a cell as JSON, ahead of its operations; the n-th such frame declares cell n-1
//	'B'  a block: operations of one worker in one cell, in the order recorded; zstd (RFC 8878)
//	'E'  the end, which Close writes: an End as JSON; nothing follows it
//
// A block unpacks to three unsigned varints (LEB128), which are cell, worker and number of
// operations, and then columns in ascending order of number. Each column has its number (1 byte),
// its coding (1 byte), the length of its data (unsigned varint), and its data. A missing column is
// zero throughout; only logs of external drivers have column 13. With z a signed varint (zigzag), the codings are
//
//	0  plain     z for each operation
//	1  constant  one z for all operations
//	2  delta     z for each operation: the difference from the one before, the first from 0
//
// and the columns
//
//	1  outcome, plus flags                 7  duration
//	2  sequence                            8  sent
//	3  query minus sequence             9  rows
//	4  start minus end of the one before  10  bytes
//	5  intended start minus start         11  values
//	6  lag                                12  client
//	                                      13  service
//
// where the flags are 128 for the burn-in and 64 for an operation during which the client was
// paused, an end is start plus duration, times are in nanoseconds, and sums wrap around at 64 bits.
// The columns keep integers small in closed loops: a worker starts where it ended, so starts take a
// byte or two.
//
// A log that was truncated, for example by kill -9, is read up to its last whole frame, and the
// reader returns ErrTruncated.
package oplog

import (
	"fmt"
	"hash/crc32"
	"time"
)

// Op is one operation. Times are since the start of the log, to the
// nanosecond, by the client's monotonic clock. Zero means nothing to say.
type Op struct {
	Cell    uint32 // index of its Cell; Record sets it
	Worker  uint32 // Record sets it
	Outcome Outcome
	BurnIn  bool // it does not count

	Sequence int64 // place in the order in which operations were to start, from 0
	Query    int64 // identifier of a query; a query that is run again keeps it
	Start    time.Duration
	Intended time.Duration // when the schedule of an open loop wanted it to start; in a closed loop Start
	Lag      time.Duration // by how much the client itself released it later than intended
	Duration time.Duration // to the last byte of the answer, or to the acknowledgement of the batch
	Sent     time.Duration // of a batch: from Start until its last byte was handed over
	Rows     int64         // in the answer, or accepted
	Bytes    int64         // of the answer, or handed over
	Values   int64         // in a batch, without NULLs; in an answer, with them
	// Paused means that the client itself was paused during the operation, as it was stopped or had
	// no processor: the Duration does not count.
	Paused bool
	Client time.Duration // processor time that the client itself used for a query
	// Service is the time that an external driver took, by its own clock; 0: not reported.
	Service time.Duration
}

// Outcome says how an operation ended.
type Outcome uint8

// The outcomes.
const (
	OK             Outcome = iota // answered, or acknowledged
	Unacknowledged                // a batch was handed over, and the protocol does not acknowledge
	Flushed                       // no batch: what a writer still held was sent, and acknowledged unless Duration is 0
	AtLeast                       // cut off by the time limit: Duration is a lower bound
	Failed                        // the target refused it or is gone
	Wrong                         // answered, but not with the expected answer
	Stale                         // answered exactly for an older state of the data
	Dropped                       // due while the queue was full, and never started
	Interrupted                   // ended by the end of the run
	Retried                       // a batch that failed and was sent again; the operation that ended it is a separate one
	Started                       // no operation: the clock of a load started, at Start
	Outcomes                      // their number
)

// String returns the outcome as reports print it.
func (o Outcome) String() string {
	names := [Outcomes]string{"ok", "unacknowledged", "flushed", "at least", "failed", "wrong", "stale", "dropped", "interrupted", "retried", "started"}
	if o >= Outcomes {
		return fmt.Sprintf("outcome %d", uint8(o))
	}
	return names[o]
}

// MarshalText makes it a key of JSON objects.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Header describes a log.
type Header struct {
	Start  time.Time `json:"start"`            // wall clock; times in the log count from it
	Run    string    `json:"run,omitempty"`    // id of the run
	Client string    `json:"client,omitempty"` // which of several clients
	Tool   string    `json:"tool,omitempty"`   // version of tsmark
}

// Kind is the type of a cell's operations.
type Kind string

// The kinds.
const (
	Load  Kind = "load"  // batches
	Query Kind = "query" // queries
)

// Part is which part of a load operations belong to; empty: the load itself, or
// queries by themselves.
type Part string

// The parts.
const (
	Mixed Part = "mixed" // batches written and queries run concurrently
	Rest  Part = "rest"  // batches written alone after that
)

// Step is the part that a load is which goes in steps, from 2 on; the first is the load
// itself.
func Step(number int) Part { return Part(fmt.Sprintf("step %d", number)) }

// Event is the part with the batches that an event of a life wrote, from 1 on. The parts beside events
// are Mixed.
func Event(number int) Part { return Part(fmt.Sprintf("event %d", number)) }

// Cell is one measurement: what all its operations have in common. Two
// declarations that are equal are one cell.
type Cell struct {
	Kind     Kind   `json:"kind"`
	Target   string `json:"target"`
	Type     string `json:"type,omitempty"` // query type
	Part     Part   `json:"part,omitempty"`
	Repeat   int    `json:"repeat,omitempty"`   // which of several
	Setting  string `json:"setting,omitempty"`  // the setting that a sweep or a profile varies, as text
	Schedule string `json:"schedule,omitempty"` // of an open loop, as pace.Parse reads it; empty: a closed loop
	Workers  int    `json:"workers,omitempty"`  // 0: not said
	// Queries is the number of queries before they repeat; 0: unknown.
	Queries int `json:"queries,omitempty"`
	// First is the place of the first of them among all that were drawn of the type.
	First int `json:"first,omitempty"`
}

// End is the content of the last frame.
type End struct {
	Operations int64 `json:"operations"`     // in the log
	Lost       int64 `json:"lost,omitempty"` // not in the log: the disk was slower than the load for too long
	// Truncated is the number of truncated logs among those merged into this one.
	Truncated int `json:"truncated,omitempty"`
}

const (
	magic       = "tsmkops\x01"
	frameHeader = 9 // bytes

	headerFrame = 'H'
	cellFrame   = 'C'
	blockFrame  = 'B'
	endFrame    = 'E'

	// blockOps is the maximum number of operations of a block. Its columns, varints of up to 10
	// bytes, then fit in maxRaw.
	blockOps = 4096
	maxRaw   = 512 << 10 // bytes of a block, unpacked; no payload is longer
	maxCells = 1 << 20   // that a log may declare
)

// check is the checksum of a frame: CRC-32C, for which processors have an
// instruction.
func check(head, payload []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(head, table), table, payload)
}
