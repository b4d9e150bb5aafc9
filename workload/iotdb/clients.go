package iotdb

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Shards implements workload.Sharded.
func (d *Dataset) Shards() int { return max(d.clients, 1) }

// OpenShard implements workload.Sharded.
func (d *Dataset) OpenShard(client int) workload.Reader {
	of := d.of
	if of == 0 {
		of = d.Shards()
	}
	first, last := d.devicesOf(d.first+client, of)
	return d.Part(first, last, 0, d.settings.rows)
}

// devicesOf returns the first device of a client and the one after its last. Each client has a
// contiguous range of devices, and the first clients have one more if the devices cannot be divided
// evenly, as in the tool.
func (d *Dataset) devicesOf(client, of int) (first, last uint32) {
	s := d.settings
	each, more := int(s.last-s.first)/of, int(s.last-s.first)%of
	from := client*each + min(client, more)
	to := from + each
	if client < more {
		to++
	}
	return s.first + uint32(from), s.first + uint32(to)
}

// Client implements workload.Dealt: it is the inverse of devicesOf.
func (d *Dataset) Client(device uint32, of int) int {
	s := d.settings
	each, more := int(s.last-s.first)/of, int(s.last-s.first)%of
	n := int(device - s.first)
	if large := more * (each + 1); n >= large {
		return more + (n-large)/each
	}
	return n / (each + 1)
}

// Deal implements workload.Dealt.
func (d *Dataset) Deal(clients, rows int) (workload.Dataset, error) {
	if devices := int(d.settings.last - d.settings.first); clients > devices {
		return nil, fmt.Errorf("%d exceeds the number of devices, %d, and each client needs devices of its own; lower it, or raise --scale", clients, devices)
	}
	dealt := *d
	dealt.clients, dealt.quantum = clients, rows
	return &dealt, nil
}

// Share implements workload.Divided.
func (d *Dataset) Share(s workload.Share) workload.Dataset {
	if s.Single() {
		return d
	}
	share := *d
	if d.clients > 1 {
		first, end := s.Range(d.clients)
		share.first, share.of, share.clients = first, d.clients, end-first
	} else {
		share.first, share.of = s.Index, s.Count
	}
	return &share
}

// scheduler reads the rows of several clients, a quantum at a time. The next quantum comes from the
// client that is furthest behind in time, and among several from the one that has sent nothing for
// longest. So no client gets ahead of the others by more than a block of rows and a quantum, even if
// it has fewer devices.
type scheduler struct {
	clients []client
	rows    int // of a quantum
	at      int // the client that sends
	left    int // rows of its quantum; 0: it has sent all
	begun   int // quanta
}

type client struct {
	reader workload.Reader
	newest int64 // time that it has sent
	last   int   // number of its last quantum
	ended  bool
}

func (d *Dataset) openScheduler() *scheduler {
	t := &scheduler{rows: d.quantum}
	for i := range d.clients {
		t.clients = append(t.clients, client{reader: d.OpenShard(i), newest: math.MinInt64})
	}
	return t
}

// Next implements workload.Reader.
func (t *scheduler) Next(b *series.Batch, most int) error {
	for {
		if t.left == 0 && !t.begin() {
			b.Reset()
			return io.EOF
		}
		c := &t.clients[t.at]
		if err := c.reader.Next(b, min(most, t.left)); errors.Is(err, io.EOF) {
			c.ended, t.left = true, 0
			continue
		} else if err != nil {
			return err
		}
		for i := range b.Runs {
			if times := b.Runs[i].Times; len(times) > 0 {
				c.newest = max(c.newest, slices.Max(times))
			}
		}
		t.left -= b.Rows()
		return nil
	}
}

// begin begins the next quantum; false: no client has any rows left.
func (t *scheduler) begin() bool {
	t.at = -1
	for i := range t.clients {
		c := &t.clients[i]
		if c.ended {
			continue
		}
		if t.at < 0 || c.newest < t.clients[t.at].newest || c.newest == t.clients[t.at].newest && c.last < t.clients[t.at].last {
			t.at = i
		}
	}
	if t.at < 0 {
		return false
	}
	t.begun++
	t.clients[t.at].last, t.left = t.begun, t.rows
	return true
}
