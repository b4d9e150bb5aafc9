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
	ctx, cancel := context.WithTimeout(c.ctx, transferTime(size))
	defer cancel()
	object, err := c.results.Get(ctx, name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	f, err := os.CreateTemp(c.options.Dir, "tsmark-result-*")
	if err != nil {
		return "", fmt.Errorf("making a file for it: %w", err)
	}
	_, err = io.Copy(f, object) // whose end says whether the digest is right
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
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
	ctx, cancel := context.WithTimeout(ctx, transferTime(size))
	defer cancel()
	c, err := m.transfers()
	if err != nil {
		return err
	}
	// What was on its way when the connection broke may be lost, and nobody answers it.
	broken := c.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	defer c.RemoveStatusListener(broken)
	go func() {
		select {
		case <-ctx.Done():
		case <-broken:
			cancel()
		}
	}()
	js, err := jetstream.New(c)
	if err != nil {
		return err
	}
	store, err := js.ObjectStore(ctx, m.welcome.Bucket)
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
