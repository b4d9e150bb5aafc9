package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tsmark/tsmark/run/agents/broker"
)

// Results are sent in chunks. Each chunk is a request that the coordinator answers once it has
// written the chunk to its file. An agent keeps its result until the last chunk was answered, and
// repeats chunks that may be lost; the offset tells the coordinator whether it already has a chunk.
const (
	chunkSize = 128 << 10
	// MostResult is the maximum size of a command's result in bytes.
	MostResult = 4 << 30
	// chunkTime is the time limit for the coordinator to answer a chunk, including interruptions. A
	// disk that takes longer is considered broken.
	chunkTime = time.Minute
)

// Headers of a chunk.
const (
	commandHeader = "Tsmark-Command"
	offsetHeader  = "Tsmark-Offset"
)

// intake is a result in transfer from its agent to a file of the coordinator. It has its own lock,
// because writes to a slow disk must not delay heartbeats.
type intake struct {
	mu     sync.Mutex
	file   *os.File // nil: nothing received yet
	size   int64
	closed bool
}

// resultFile creates a file for a result. The folder may have been deleted: an agent waits for
// days, and machines clean up temporary files.
func resultFile(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "tsmark-result-*")
	if errors.Is(err, os.ErrNotExist) && dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		return os.CreateTemp(dir, "tsmark-result-*")
	}
	return f, err
}

// add writes a chunk at the offset, unless it is already written.
func (i *intake) add(dir string, offset int64, chunk []byte) (err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	end := offset + int64(len(chunk))
	switch {
	case offset < 0 || end > MostResult:
		return fmt.Errorf("the result is larger than %d bytes", int64(MostResult))
	case end <= i.size && len(chunk) > 0: // repeated chunk
		return nil
	case i.closed:
		return errors.New("nobody waits for the result any longer")
	case offset != i.size || len(chunk) == 0:
		return fmt.Errorf("a chunk begins at byte %d, and byte %d is next", offset, i.size)
	}
	if i.file == nil {
		if i.file, err = resultFile(dir); err != nil {
			return fmt.Errorf("the coordinator cannot keep the result: %w", err)
		}
	}
	if n, err := i.file.WriteAt(chunk, offset); err != nil {
		return fmt.Errorf("the coordinator cannot keep the result: writing %d of %d bytes: %w", n, len(chunk), err)
	}
	i.size = end
	return nil
}

// take returns the file of a result, which is complete if it has the given size; empty: no result.
func (i *intake) take(size int64) (name string, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	if i.file == nil {
		if size != 0 {
			return "", errors.New("nothing of it came")
		}
		return "", nil
	}
	err = i.file.Close()
	if err == nil && i.size != size {
		err = fmt.Errorf("%d of %d bytes came", i.size, size)
	}
	if err != nil {
		_ = os.Remove(i.file.Name())
		return "", err
	}
	return i.file.Name(), nil
}

// drop removes the received part of a result that was not taken.
func (i *intake) drop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return
	}
	if i.closed = true; i.file != nil {
		_ = i.file.Close()
		_ = os.Remove(i.file.Name())
	}
}

// chunk handles a chunk of a result.
func (c *Coordinator) chunk(m *nats.Msg) {
	offset, err := strconv.ParseInt(m.Header.Get(offsetHeader), 10, 64)
	c.mu.Lock()
	r := c.runOf(senderOf(m), m.Header.Get(commandHeader))
	c.mu.Unlock()
	switch {
	case r == nil:
		err = errors.New("nobody waits for the result any longer")
	case err == nil:
		err = r.intake.add(c.options.Dir, offset, m.Data)
	}
	if err != nil {
		reply(m, answer{err.Error()})
		return
	}
	reply(m, answer{})
}

// put sends a whole file to the coordinator, however often the connection breaks, until ctx ends.
func (m *membership) put(ctx context.Context, command, file string, size int64) error {
	c, err := m.transfers(ctx)
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close() // only used for reading
	chunk := make([]byte, min(chunkSize, max(c.MaxPayload()/2, 1<<10)))
	for offset := int64(0); offset < size; {
		n, err := f.ReadAt(chunk[:min(int64(len(chunk)), size-offset)], offset)
		if err != nil && !errors.Is(err, io.EOF) || n == 0 {
			return fmt.Errorf("reading the result: %w", err)
		}
		message := nats.NewMsg(subjectOf(chunkSubject, m.welcome.Coordinator, m.id))
		message.Header.Set(commandHeader, command)
		message.Header.Set(offsetHeader, strconv.FormatInt(offset, 10))
		message.Data = chunk[:n]
		if err := m.putChunk(ctx, c, message); err != nil {
			return err
		}
		offset += int64(n)
	}
	return nil
}

// putChunk repeats a chunk until it is answered.
func (m *membership) putChunk(ctx context.Context, c *nats.Conn, chunk *nats.Msg) error {
	ctx, cancel := context.WithTimeoutCause(ctx, chunkTime, fmt.Errorf("the coordinator does not take it for %v; see whether its disk is full or hangs", chunkTime))
	defer cancel()
	return untilAnswered(ctx, 2*m.welcome.Timing.Beat, func(ctx context.Context) (*nats.Msg, error) { return c.RequestMsgWithContext(ctx, chunk) })
}

// untilAnswered repeats a request until it is answered, and reads the answer. Each attempt waits
// twice as long as the previous one, up to sixteen times the first: on a busy machine all answers
// may be late. The error is the cause of ctx's end, or the error in the answer.
func untilAnswered(ctx context.Context, each time.Duration, request func(context.Context) (*nats.Msg, error)) error {
	for longest := 16 * each; ; each = min(2*each, longest) {
		once, cancel := context.WithTimeout(ctx, each)
		got, err := request(once)
		cancel()
		if err == nil {
			var a answer
			switch {
			case json.Unmarshal(got.Data, &a) != nil:
				return errors.New("the answer is not a message of tsmark")
			case a.Error != "":
				return errors.New(a.Error)
			}
			return nil
		}
		if err := wait(ctx, each/4); err != nil {
			return err
		}
	}
}

// transfers returns the connection for results, which is made for the first result, so that results
// do not delay heartbeats. It retries an unreachable broker for chunkTime.
func (m *membership) transfers(ctx context.Context) (*nats.Conn, error) {
	m.transferring.Lock()
	defer m.transferring.Unlock()
	if m.bulk != nil {
		return m.bulk, nil
	}
	ctx, cancel := context.WithTimeout(ctx, chunkTime)
	defer cancel()
	for {
		c, err := m.broker.Connect(m.ctx, "tsmark results of "+m.id, m.process())
		if err == nil {
			m.bulk = c
			return c, nil
		}
		if !errors.Is(err, broker.ErrUnreachable) || wait(ctx, m.welcome.Timing.Beat) != nil {
			return nil, err
		}
	}
}
