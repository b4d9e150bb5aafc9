package postgres

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/tsmark/tsmark/series"
)

// copyRows sends rows, and returns their size.
func (w *rowWriter) copyRows(ctx context.Context, runs []*series.Run) (int64, error) {
	r := &w.reader
	r.reset(w.encoder, runs)
	stored, err := w.l.conn.Copy(ctx, w.l.first()+w.copyText, r)
	switch {
	case r.err != nil:
		return 0, r.err // the server only reports that the client ended the COPY
	case err != nil:
		return 0, err
	case stored != r.tuples:
		return 0, fmt.Errorf("the server stored %d rows of %d", stored, r.tuples)
	}
	w.l.ended = r.ended
	return r.bytes, nil
}

// copyReader is runs of one table in COPY's binary format, encoded while they are sent.
type copyReader struct {
	encoder *encoder
	runs    []*series.Run
	row     int    // index of the next row in the first run
	buffer  []byte // encoded; read up to at
	at      int
	last    bool // buffer contains the trailer
	tuples  int64
	bytes   int64
	ended   time.Time
	err     error // of encoding
}

// chunk is the approximate number of bytes encoded at a time.
const chunk = 64 << 10

func (r *copyReader) reset(e *encoder, runs []*series.Run) {
	*r = copyReader{encoder: e, runs: runs, buffer: append(r.buffer[:0], copySignature...)}
}

// Read implements io.Reader.
func (r *copyReader) Read(p []byte) (int, error) {
	for r.at == len(r.buffer) || len(r.buffer)-r.at < len(p) && !r.last {
		if r.last {
			r.ended = time.Now()
			return 0, io.EOF
		}
		r.buffer = r.buffer[:copy(r.buffer, r.buffer[r.at:])]
		r.at = 0
		if r.err = r.fill(); r.err != nil {
			return 0, r.err
		}
	}
	n := copy(p, r.buffer[r.at:])
	r.at += n
	r.bytes += int64(n)
	return n, nil
}

// fill encodes rows until the buffer contains a chunk.
func (r *copyReader) fill() error {
	for len(r.runs) > 0 {
		run := r.runs[0]
		for r.row < run.Rows() {
			if len(r.buffer) >= chunk {
				return nil
			}
			var err error
			if r.buffer, err = r.encoder.row(r.buffer, run, r.row); err != nil {
				return err
			}
			r.tuples += r.encoder.tuples(run, r.row)
			r.row++
		}
		r.runs, r.row = r.runs[1:], 0
	}
	r.buffer = append(r.buffer, copyTrailer...)
	r.last = true
	return nil
}
