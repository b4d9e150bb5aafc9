package oplog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"time"
)

// Codings of a column.
const (
	plain    = 0
	constant = 1
	delta    = 2
)

// burnIn is added to an outcome in the log.
const burnIn = 128

// paused is the flag added to an outcome; all outcomes are smaller.
const paused = 64

// columns is the number of columns of a block; the number of each in the log is its index plus one.
const columns = 13

// split returns an operation as values of columns. Before is the end of the
// operation before it.
func split(op *Op, before time.Duration) [columns]int64 {
	flags := int64(op.Outcome)
	if op.BurnIn {
		flags += burnIn
	}
	if op.Paused {
		flags += paused
	}
	return [columns]int64{
		flags, op.Sequence, op.Query - op.Sequence,
		int64(op.Start - before), int64(op.Intended - op.Start), int64(op.Lag), int64(op.Duration), int64(op.Sent),
		op.Rows, op.Bytes, op.Values, int64(op.Client), int64(op.Service),
	}
}

// join is the reverse of split.
func join(op *Op, v *[columns]int64, before time.Duration) error {
	flags := v[0]
	op.BurnIn = flags >= burnIn
	if op.BurnIn {
		flags -= burnIn
	}
	if op.Paused = flags >= paused; op.Paused {
		flags -= paused
	}
	if flags < 0 || flags >= int64(Outcomes) {
		return fmt.Errorf("outcome %d is unknown", flags)
	}
	op.Outcome = Outcome(flags)
	op.Sequence, op.Query = v[1], v[1]+v[2]
	op.Start = before + time.Duration(v[3])
	op.Intended = op.Start + time.Duration(v[4])
	op.Lag, op.Duration, op.Sent = time.Duration(v[5]), time.Duration(v[6]), time.Duration(v[7])
	op.Rows, op.Bytes, op.Values = v[8], v[9], v[10]
	op.Client, op.Service = time.Duration(v[11]), time.Duration(v[12])
	return nil
}

// encoder turns operations into blocks. Its buffers are reused.
type encoder struct {
	values [columns][blockOps]int64
	column []byte
}

// append adds the block of some operations, at most blockOps of one worker in
// one cell, to b.
func (e *encoder) append(b []byte, ops []Op) []byte {
	b = binary.AppendUvarint(b, uint64(ops[0].Cell))
	b = binary.AppendUvarint(b, uint64(ops[0].Worker))
	b = binary.AppendUvarint(b, uint64(len(ops)))
	before := time.Duration(0)
	for i := range ops {
		for c, v := range split(&ops[i], before) {
			e.values[c][i] = v
		}
		before = ops[i].Start + ops[i].Duration
	}
	for c := range e.values {
		values := e.values[c][:len(ops)]
		coding, zero := choose(values)
		if zero {
			continue
		}
		e.column = appendColumn(e.column[:0], values, coding)
		b = append(b, byte(c+1), coding)
		b = binary.AppendUvarint(b, uint64(len(e.column)))
		b = append(b, e.column...)
	}
	return b
}

// choose returns the shortest coding, and whether all values are zero.
func choose(values []int64) (coding byte, zero bool) {
	same := true
	plainSize, deltaSize := 0, 0
	last := int64(0)
	for _, v := range values {
		same = same && v == values[0]
		plainSize += size(v)
		deltaSize += size(v - last)
		last = v
	}
	switch {
	case same:
		return constant, values[0] == 0
	case deltaSize < plainSize:
		return delta, false
	}
	return plain, false
}

// size is the length of v as a signed varint.
func size(v int64) int {
	zigzag := uint64(v)<<1 ^ uint64(v>>63)
	return (bits.Len64(zigzag|1) + 6) / 7
}

func appendColumn(b []byte, values []int64, coding byte) []byte {
	if coding == constant {
		return binary.AppendVarint(b, values[0])
	}
	last := int64(0)
	for _, v := range values {
		b = binary.AppendVarint(b, v-last)
		if coding == delta {
			last = v
		}
	}
	return b
}

// decoder turns blocks into operations. Its buffers are reused.
type decoder struct {
	values [columns][blockOps]int64
	ops    [blockOps]Op
}

// decode returns the operations of a block, which stay valid until the next
// call.
func (d *decoder) decode(b []byte) ([]Op, error) {
	cell, b, err := uvarint(b, 1<<32-1)
	if err != nil {
		return nil, fmt.Errorf("cell: %w", err)
	}
	worker, b, err := uvarint(b, 1<<32-1)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	n, b, err := uvarint(b, blockOps)
	if err != nil {
		return nil, fmt.Errorf("number of operations: %w", err)
	}
	if err := d.columns(b, int(n)); err != nil {
		return nil, err
	}
	ops := d.ops[:n]
	before := time.Duration(0)
	var v [columns]int64
	for i := range ops {
		for c := range v {
			v[c] = d.values[c][i]
		}
		ops[i] = Op{Cell: uint32(cell), Worker: uint32(worker)}
		if err := join(&ops[i], &v, before); err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
		before = ops[i].Start + ops[i].Duration
	}
	return ops, nil
}

// columns reads all columns of n operations.
func (d *decoder) columns(b []byte, n int) error {
	for c := range d.values {
		clear(d.values[c][:n])
	}
	last := byte(0)
	for len(b) > 0 {
		if len(b) < 2 {
			return errShort
		}
		number, coding := b[0], b[1]
		if number <= last || number > columns || coding > delta {
			return fmt.Errorf("column %d in coding %d is unknown or out of order", number, coding)
		}
		length, rest, err := uvarint(b[2:], maxRaw)
		if err != nil || length > uint64(len(rest)) {
			return fmt.Errorf("column %d: length: %w", number, errors.Join(err, errShort))
		}
		if err := decodeColumn(rest[:length], d.values[number-1][:n], coding); err != nil {
			return fmt.Errorf("column %d: %w", number, err)
		}
		last, b = number, rest[length:]
	}
	return nil
}

func decodeColumn(b []byte, values []int64, coding byte) error {
	last := int64(0)
	for i := range values {
		if coding == constant && i > 0 {
			values[i] = values[0]
			continue
		}
		v, n := binary.Varint(b)
		if n <= 0 {
			return errShort
		}
		values[i], b = last+v, b[n:]
		if coding == delta {
			last = values[i]
		}
	}
	if len(b) > 0 {
		return fmt.Errorf("%d bytes too many", len(b))
	}
	return nil
}

var errShort = errors.New("too short")

// uvarint reads a number no larger than most.
func uvarint(b []byte, most uint64) (v uint64, rest []byte, err error) {
	v, n := binary.Uvarint(b)
	switch {
	case n <= 0:
		return 0, nil, errShort
	case v > most:
		return 0, nil, fmt.Errorf("%d is more than %d", v, most)
	}
	return v, b[n:], nil
}
