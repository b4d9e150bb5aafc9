package ingest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// pieceSize is the number of bytes read at a time: few enough to stay in a core's own cache while
// their lines are counted.
const pieceSize = 256 << 10

// piece is consecutive bytes of the input. Those who still need it share it.
type piece struct {
	data   []byte // of the memory below
	lines  int    // ends of lines in data
	users  atomic.Int32
	pool   *sync.Pool
	memory [pieceSize]byte
}

func newPool() *sync.Pool {
	pool := new(sync.Pool)
	pool.New = func() any { return &piece{pool: pool} }
	return pool
}

func take(pool *sync.Pool) *piece {
	p := pool.Get().(*piece)
	p.users.Store(1)
	return p
}

// release frees the memory once it is unused.
func (p *piece) release() {
	if p.users.Add(-1) == 0 {
		p.pool.Put(p)
	}
}

func (p *piece) fill(n int) {
	p.data = p.memory[:n]
	p.lines = bytes.Count(p.data, newline)
}

var newline = []byte{'\n'}

// pieces is the input in order. next returns io.EOF after the last piece.
type pieces interface {
	next() (*piece, error)
	close()
}

// pending is a piece that a goroutine is about to read.
type pending struct {
	at    int64
	piece *piece
	err   error
	done  chan struct{}
}

// filePieces reads an uncompressed file in several goroutines: if the file is in the page cache,
// copying takes most of the time.
type filePieces struct {
	ordered chan *pending
	ended   chan struct{}
	once    sync.Once
}

// newFilePieces reads from an offset to the size that the file has now. It
// closes the file.
func newFilePieces(f *os.File, from int64) (*filePieces, error) {
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	readers := runtime.GOMAXPROCS(0)
	p := &filePieces{ordered: make(chan *pending, 4*readers), ended: make(chan struct{})}
	work := make(chan *pending, 4*readers)
	go func() {
		defer close(work)
		defer close(p.ordered)
		for at := from; at < info.Size(); at += pieceSize {
			one := &pending{at: at, done: make(chan struct{})}
			for _, to := range []chan *pending{p.ordered, work} {
				select {
				case to <- one:
				case <-p.ended:
					return
				}
			}
		}
	}()
	pool := newPool()
	var group sync.WaitGroup
	for range readers {
		group.Go(func() {
			for one := range work {
				one.piece = take(pool)
				n, err := f.ReadAt(one.piece.memory[:min(pieceSize, info.Size()-one.at)], one.at)
				one.piece.fill(n)
				if one.err = err; errors.Is(err, io.EOF) && n > 0 {
					one.err = nil
				}
				close(one.done)
			}
		})
	}
	go func() {
		group.Wait()
		f.Close() // only read
	}()
	return p, nil
}

func (p *filePieces) next() (*piece, error) {
	one, more := <-p.ordered
	if !more {
		return nil, io.EOF
	}
	select {
	case <-one.done:
		return one.piece, one.err
	case <-p.ended:
		return nil, io.EOF
	}
}

func (p *filePieces) close() { p.once.Do(func() { close(p.ended) }) }

// streamPieces reads a stream ahead, in one goroutine.
type streamPieces struct {
	ordered chan *pending
	ended   chan struct{}
	once    sync.Once
}

// newStreamPieces reads r to its end, and then closes it.
func newStreamPieces(r io.ReadCloser) *streamPieces {
	p := &streamPieces{ordered: make(chan *pending, 8), ended: make(chan struct{})}
	pool := newPool()
	go func() {
		defer close(p.ordered)
		defer r.Close() // only read
		for {
			one := &pending{piece: take(pool)}
			n, err := readFull(r, one.piece.memory[:])
			one.piece.fill(n)
			if err != io.EOF {
				one.err = err
			} else if n == 0 {
				return
			}
			select {
			case p.ordered <- one:
			case <-p.ended:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return p
}

// readFull fills the buffer as far as the reader goes. Unlike io.ReadFull it
// returns the reader's own error, since that of compressed data that was cut
// off is io.ErrUnexpectedEOF.
func readFull(r io.Reader, buffer []byte) (int, error) {
	n := 0
	for n < len(buffer) {
		m, err := r.Read(buffer[n:])
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (p *streamPieces) next() (*piece, error) {
	one, more := <-p.ordered
	if !more {
		return nil, io.EOF
	}
	return one.piece, one.err
}

func (p *streamPieces) close() { p.once.Do(func() { close(p.ended) }) }
