package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// attempts is how often the coordinator reads a result that is at the server.
const attempts = 5

// fetch reads a result from the server into a file, whose digest it checks, and removes it
// there.
func (c *Coordinator) fetch(name string, size int64) (file string, err error) {
	for n := 1; ; n++ {
		if file, err = c.fetchOnce(name, size); err == nil {
			_ = c.results.Delete(c.ctx, name) // Close removes what stays
			return file, nil
		}
		if n == attempts || wait(c.ctx, c.options.Timing.Beat) != nil {
			return "", err
		}
	}
}

func (c *Coordinator) fetchOnce(name string, size int64) (_ string, err error) {
	ctx, cancel := transfer(c.ctx, c.bulk, size)
	defer cancel()
	// A cluster that has just lost a server leaves requests without an answer.
	stalled := time.AfterFunc(stallTime, cancel)
	defer stalled.Stop()
	object, err := c.results.Get(ctx, name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	f, err := os.CreateTemp(c.options.Dir, "tsmark-result-*")
	if err != nil {
		return "", fmt.Errorf("making a file for it: %w", err)
	}
	_, err = io.Copy(f, &attended{object, stalled}) // whose end says whether the digest is right
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// stallTime is how long a server may take to answer a request, or to send the next chunk of a
// result. That takes less on the slowest network.
const stallTime = 10 * time.Second

// attended is a reader that puts off a timer each time that it brings something.
type attended struct {
	io.Reader
	stalled *time.Timer
}

// Read implements io.Reader.
func (a *attended) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if n > 0 {
		a.stalled.Reset(stallTime)
	}
	return n, err
}

// transfer is the context of one attempt to move so many bytes over a connection. It ends when
// that breaks: what was on its way may be lost then, and nobody answers it.
func transfer(ctx context.Context, c *nats.Conn, size int64) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, transferTime(size))
	broken := c.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	go func() {
		defer c.RemoveStatusListener(broken)
		select {
		case <-ctx.Done():
		case <-broken:
			cancel()
		}
	}()
	return ctx, cancel
}

// transferTime is how long one attempt to move so many bytes may take: as if the network were
// slow beyond all use. It is the end of what got stuck without a connection that broke.
func transferTime(size int64) time.Duration {
	const start, slowest = 30 * time.Second, 100_000 // bytes a second
	return start + time.Duration(size/slowest)*time.Second
}

// put brings a file to the server whole, however often the connection breaks meanwhile, until
// ctx ends.
func (m *membership) put(ctx context.Context, name, file string, size int64) error {
	for {
		err := m.putOnce(ctx, name, file, size)
		var path *os.PathError
		if err == nil || errors.As(err, &path) {
			return err
		}
		if cause := wait(ctx, m.welcome.Timing.Beat/2); cause != nil {
			return cause
		}
	}
}

func (m *membership) putOnce(ctx context.Context, name, file string, size int64) error {
	c, err := m.transfers()
	if err != nil {
		return err
	}
	ctx, cancel := transfer(ctx, c, size)
	defer cancel()
	js, err := jetstream.New(c)
	if err != nil {
		return err
	}
	asking, done := context.WithTimeout(ctx, stallTime)
	defer done()
	store, err := js.ObjectStore(asking, m.welcome.Bucket)
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = store.Put(ctx, jetstream.ObjectMeta{Name: name}, f)
	return err
}

// transfers is the connection for results, made when the first one is due: heartbeats do not
// wait behind them.
func (m *membership) transfers() (*nats.Conn, error) {
	m.transferring.Lock()
	defer m.transferring.Unlock()
	if m.bulk != nil {
		return m.bulk, nil
	}
	c, err := m.broker.Connect(m.ctx, "tsmark results of "+m.id)
	if err == nil {
		m.bulk = c
	}
	return c, err
}
