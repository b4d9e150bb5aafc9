// Package peertest connects the clients of a mixed phase in one process, for tests.
package peertest

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Phase is what the clients of a phase have in common.
type Phase struct {
	clients int
	every   time.Duration

	mu       sync.Mutex
	values   map[string]map[int]int64 // by name and client
	least    map[string]int64         // as last told
	sharedAt time.Time
}

// New returns a phase with a number of clients. They receive each other's values at the given
// interval, so the values are mostly outdated, as over a network.
func New(clients int, every time.Duration) *Phase {
	return &Phase{clients: clients, every: every, values: map[string]map[int]int64{}, least: map[string]int64{}}
}

// Client is one of them, by a number that no other one has.
func (p *Phase) Client(i int) *Client { return &Client{p, i} }

// Client implements engine.Peers.
type Client struct {
	of *Phase
	i  int
}

// Share implements engine.Peers.
func (c *Client) Share(name string, value int64) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.of.values[name] == nil {
		c.of.values[name] = map[int]int64{}
	}
	if last, ok := c.of.values[name][c.i]; !ok || value > last {
		c.of.values[name][c.i] = value
	}
}

// Minimum implements engine.Peers.
func (c *Client) Minimum(name string) (int64, bool) {
	p := c.of
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.sharedAt) >= p.every {
		p.sharedAt = time.Now()
		for name, values := range p.values {
			if len(values) < p.clients {
				continue
			}
			p.least[name] = slices.Min(slices.Collect(maps.Values(values)))
		}
	}
	v, ok := p.least[name]
	return v, ok
}
