package stage

import (
	"context"
	"errors"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
)

// cache is a database with values in memory, which it writes on request, unless it refuses.
type cache struct {
	driver.Required
	refusal error
	holds   string // data that it cannot write; empty: none
	written bool
	settled bool // since it has written
}

func (c *cache) FlushMemory(context.Context) error {
	c.written, c.settled = c.refusal == nil, false
	return c.refusal
}

func (c *cache) Settle(context.Context) error {
	c.settled = true
	return nil
}

func (c *cache) Footprint(context.Context) (driver.Footprint, error) {
	if !c.written || !c.settled {
		return driver.Footprint{Bytes: 1000, Pending: "rows are in memory"}, nil
	}
	return driver.Footprint{Bytes: 100, Pending: c.holds}, nil
}

// The size on disk is measured after the memory was flushed and merged; data not yet written is
// reported with the reason, and such a size is not comparable with the size before a step.
func TestMeasureDisk(t *testing.T) {
	for name, c := range map[string]struct {
		target  cache
		bytes   int64
		pending string
		settled int64
	}{
		"written":        {cache{}, 100, "", 100},
		"refused":        {cache{refusal: errors.New("no operator")}, 1000, "rows are in memory; no operator", -1},
		"not everything": {cache{holds: "the newest rows"}, 100, "the newest rows", -1},
	} {
		t.Run(name, func(t *testing.T) {
			l := &load{on: &Opened{DB: driver.DB{Required: &c.target, Optional: driver.Optional{FlushMemory: c.target.FlushMemory}}}, found: &result.Load{}}
			if err := l.measureDisk(t.Context()); err != nil {
				t.Fatal(err)
			}
			if l.found.DiskBytes != c.bytes || l.found.DiskPending != c.pending || (l.found.Disk() >= 0) != (c.pending == "") {
				t.Errorf("%d bytes, pending %q, want %d, %q", l.found.DiskBytes, l.found.DiskPending, c.bytes, c.pending)
			}
			if n := l.bytesWritten(t.Context()); n != c.settled {
				t.Errorf("%d bytes before a step, want %d", n, c.settled)
			}
		})
	}
}
