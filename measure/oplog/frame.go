package oplog

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// frameWriter writes frames, each by one call of Write, until the first error.
type frameWriter struct {
	out     io.Writer
	err     error
	encoder encoder
	zstd    *zstd.Encoder
	raw     []byte
	frame   []byte
	written int64 // operations
}

func newFrameWriter(out io.Writer, h Header) (*frameWriter, error) {
	// The checksum of frames covers those of zstd, and a window as large as a
	// block is enough.
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(maxRaw), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("compressing the operation log: %w", err)
	}
	w := &frameWriter{out: out, zstd: z}
	w.frame = append(w.frame[:0], magic...)
	w.json(headerFrame, h)
	return w, w.err
}

// block writes operations of one worker in one cell, however many.
func (w *frameWriter) block(ops []Op) {
	for len(ops) > 0 && w.err == nil {
		n := min(len(ops), blockOps)
		w.raw = w.encoder.append(w.raw[:0], ops[:n])
		begin := len(w.frame)
		w.frame = w.zstd.EncodeAll(w.raw, append(w.frame, blockFrame, 0, 0, 0, 0, 0, 0, 0, 0))
		w.send(begin)
		if w.err == nil {
			w.written += int64(n)
		}
		ops = ops[n:]
	}
}

// json writes a frame whose payload is v as JSON.
func (w *frameWriter) json(kind byte, v any) {
	text, err := json.Marshal(v)
	if err == nil && len(text) > maxRaw {
		err = fmt.Errorf("%d bytes are too long for a frame", len(text))
	}
	if err != nil {
		w.fail(err)
		return
	}
	begin := len(w.frame)
	w.frame = append(append(w.frame, kind, 0, 0, 0, 0, 0, 0, 0, 0), text...)
	w.send(begin)
}

// send completes the frame that begins there, and writes all that is pending.
func (w *frameWriter) send(begin int) {
	frame := w.frame[begin:]
	binary.LittleEndian.PutUint32(frame[1:], uint32(len(frame)-frameHeader))
	binary.LittleEndian.PutUint32(frame[5:], check(frame[:5], frame[frameHeader:]))
	if w.err == nil {
		_, err := w.out.Write(w.frame)
		w.fail(err)
	}
	w.frame = w.frame[:0]
}

func (w *frameWriter) fail(err error) {
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("writing the operation log: %w", err)
	}
}

// Errors of incomplete logs, wrapped with the cause and the place.
var (
	// ErrTruncated means that a log ends before its end frame: the program that wrote it was
	// killed, or the file was cut. The operations read before are valid.
	ErrTruncated = errors.New("the operation log was cut off")
	// ErrDamaged means that a log was changed after it was written, or that the file is not an
	// operation log.
	ErrDamaged = errors.New("the operation log is damaged")
)

// frameReader reads frames.
type frameReader struct {
	in      *bufio.Reader
	offset  int64 // of the frame being read
	payload []byte
}

// next returns the next frame. Its payload stays valid until the next call.
func (r *frameReader) next() (kind byte, payload []byte, err error) {
	var head [frameHeader]byte
	if err := r.read(head[:]); err != nil {
		return 0, nil, err
	}
	length := binary.LittleEndian.Uint32(head[1:])
	if length > maxRaw {
		return 0, nil, r.damageError("a frame of %d bytes is too long", length)
	}
	if cap(r.payload) < int(length) {
		r.payload = make([]byte, length)
	}
	payload = r.payload[:length]
	if err := r.read(payload); err != nil {
		return 0, nil, err
	}
	if check(head[:5], payload) != binary.LittleEndian.Uint32(head[5:]) {
		return 0, nil, r.damageError("wrong checksum")
	}
	r.offset += int64(frameHeader + len(payload))
	return head[0], payload, nil
}

func (r *frameReader) read(b []byte) error {
	_, err := io.ReadFull(r.in, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w at byte %d", ErrTruncated, r.offset)
	} else if err != nil {
		return fmt.Errorf("reading the operation log: %w", err)
	}
	return nil
}

func (r *frameReader) damageError(format string, args ...any) error {
	return fmt.Errorf("%w at byte %d: %w", ErrDamaged, r.offset, fmt.Errorf(format, args...))
}
