package oplog

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// Reader reads a log. It keeps one block in memory, whatever is in the log,
// and is used by one goroutine.
type Reader struct {
	frames  frameReader
	header  Header
	cells   []Cell
	end     End
	zstd    *zstd.Decoder
	raw     []byte
	decoder decoder
	pending []Op
	read    int64
	err     error // what Next returns from now on
}

// NewReader reads the beginning of a log. Errors are the underlying reader's, ErrTruncated and
// ErrDamaged.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{frames: frameReader{in: bufio.NewReaderSize(in, 64<<10)}}
	var start [len(magic)]byte
	if err := r.frames.read(start[:]); err != nil {
		return nil, err
	}
	last := len(magic) - 1
	switch {
	case string(start[:last]) != magic[:last]:
		return nil, r.frames.damageError("not an operation log of tsmark")
	case start[last] != magic[last]:
		return nil, r.frames.damageError("version %d of the format is unknown to this tsmark, which reads version %d", start[last], magic[last])
	}
	r.frames.offset = int64(len(magic))
	kind, payload, err := r.frames.next()
	if err != nil {
		return nil, err
	}
	if kind != headerFrame {
		return nil, r.frames.damageError("no header")
	}
	if err := json.Unmarshal(payload, &r.header); err != nil {
		return nil, r.frames.damageError("header: %w", err)
	}
	r.raw = make([]byte, 0, maxRaw)
	r.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxRaw), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, fmt.Errorf("unpacking the operation log: %w", err)
	}
	return r, nil
}

// Header returns the header of the log.
func (r *Reader) Header() Header { return r.header }

// Cells returns the cells of all operations read so far, by index. It must not
// be changed.
func (r *Reader) Cells() []Cell { return r.cells }

// End returns what the log's end says; it is zero before Next returned io.EOF.
func (r *Reader) End() End { return r.end }

// Next reads the next operation. Operations of one worker and cell come in the order recorded;
// those of different ones are mixed block by block. It returns io.EOF after the last operation of a
// complete log, and otherwise an error that wraps ErrTruncated or ErrDamaged, or the underlying
// reader's error; all operations before the error are valid. It allocates nothing.
func (r *Reader) Next(op *Op) error {
	for len(r.pending) == 0 {
		ops, err := r.block()
		if err != nil {
			return err
		}
		r.pending = ops
	}
	*op, r.pending = r.pending[0], r.pending[1:]
	return nil
}

// All returns the operations that Next would, and at last its error unless
// that is io.EOF.
func (r *Reader) All() iter.Seq2[*Op, error] {
	return func(yield func(*Op, error) bool) {
		var op Op
		for {
			err := r.Next(&op)
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(nil, err)
				return
			case !yield(&op, nil):
				return
			}
		}
	}
}

// block returns the operations of the next block.
func (r *Reader) block() ([]Op, error) {
	var ops []Op
	for r.err == nil && ops == nil {
		ops, r.err = r.frame()
	}
	return ops, r.err
}

// frame reads one frame, and returns its operations if it is a block.
func (r *Reader) frame() ([]Op, error) {
	kind, payload, err := r.frames.next()
	if errors.Is(err, ErrTruncated) {
		return nil, fmt.Errorf("%w, after %d whole operations", err, r.read)
	} else if err != nil {
		return nil, err
	}
	switch kind {
	case cellFrame:
		var c Cell
		if err := json.Unmarshal(payload, &c); err != nil {
			return nil, r.frames.damageError("cell %d: %w", len(r.cells), err)
		}
		if len(r.cells) == maxCells {
			return nil, r.frames.damageError("more than %d cells", maxCells)
		}
		r.cells = append(r.cells, c)
		return nil, nil
	case blockFrame:
		return r.unpack(payload)
	case endFrame:
		return nil, r.finish(payload)
	}
	return nil, r.frames.damageError("frame kind %d is unknown", kind)
}

func (r *Reader) unpack(payload []byte) ([]Op, error) {
	raw, err := r.zstd.DecodeAll(payload, r.raw)
	if err != nil {
		return nil, r.frames.damageError("unpacking: %w", err)
	}
	ops, err := r.decoder.decode(raw)
	if err != nil {
		return nil, r.frames.damageError("block: %w", err)
	}
	if len(ops) == 0 {
		return nil, r.frames.damageError("a block without operations")
	}
	if int64(ops[0].Cell) >= int64(len(r.cells)) {
		return nil, r.frames.damageError("cell %d was not declared", ops[0].Cell)
	}
	r.read += int64(len(ops))
	return ops, nil
}

// finish checks the end of the log, and returns io.EOF if all is well.
func (r *Reader) finish(payload []byte) error {
	if err := json.Unmarshal(payload, &r.end); err != nil {
		return r.frames.damageError("end: %w", err)
	}
	if r.end.Operations != r.read {
		return r.frames.damageError("%d operations, the end says %d", r.read, r.end.Operations)
	}
	if _, err := r.frames.in.ReadByte(); err == nil {
		return r.frames.damageError("something follows the end")
	} else if err != io.EOF {
		return fmt.Errorf("reading the operation log: %w", err)
	}
	return io.EOF
}
