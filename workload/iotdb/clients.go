package iotdb

import (
	"fmt"

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
