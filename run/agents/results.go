package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// attempts is how often the coordinator reads a result that is at the server.
const attempts = 5

// fetch reads a result from the server into a file, whose digest it checks, and removes it
// there.
func (c *Coordinator) fetch(name string) (file string, err error) {
	for n := 1; ; n++ {
		if file, err = c.fetchOnce(name); err == nil {
			_ = c.results.Delete(c.ctx, name) // Close removes what stays
			return file, nil
		}
		if n == attempts || wait(c.ctx, c.options.Timing.Beat) != nil {
			return "", err
		}
	}
}

func (c *Coordinator) fetchOnce(name string) (_ string, err error) {
	object, err := c.results.Get(c.ctx, name)
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

// putTime is how long one attempt to deliver a result may take. It is long: within it, only
// a connection that breaks is a reason to begin again.
const putTime = 6 * time.Hour

// put brings a file to the server whole, however often the connection breaks meanwhile, until
// ctx ends.
func put(ctx context.Context, store func(context.Context) (jetstream.ObjectStore, error), name, file string, pause time.Duration) error {
	for {
		err := putOnce(ctx, store, name, file)
		var path *os.PathError
		if err == nil || errors.As(err, &path) {
			return err
		}
		if cause := wait(ctx, pause); cause != nil {
			return cause
		}
	}
}

func putOnce(ctx context.Context, open func(context.Context) (jetstream.ObjectStore, error), name, file string) error {
	ctx, cancel := context.WithTimeout(ctx, putTime)
	defer cancel()
	store, err := open(ctx)
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
