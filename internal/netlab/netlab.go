// Package netlab lets tests run programs as if on distant machines, on one machine: each program
// has its own network namespace. A switch in the test's process connects them, and delays, drops or
// blocks packets as configured. It does to packets what Linux's netem does, which many kernels
// lack, above all those of virtual machines. It needs Linux, root, iproute2 and /dev/net/tun. Only
// tests import it.
package netlab

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Link describes the treatment of the packets that a host sends.
type Link struct {
	Delay time.Duration // until they arrive, the same for all, so that none overtakes another
	Loss  float64       // how many are lost, from 0 to 1, each by chance
}

// most is the maximum number of packets in transit from one host. Further ones are lost, as with a
// full queue.
const most = 4096

// packet is one that is on its way.
type packet struct {
	to   int
	due  time.Time
	data []byte
}

// network decides what becomes of packets between hosts.
type network struct {
	mu     sync.Mutex // guards what follows
	links  []Link
	apart  map[[2]int]bool
	random *rand.Rand
	lost   int
}

func newNetwork(hosts int, seed uint64) *network {
	return &network{links: make([]Link, hosts), apart: make(map[[2]int]bool), random: rand.New(rand.NewPCG(seed, 0))}
}

// pass says when a packet from one host arrives at another; false: never.
func (n *network) pass(from, to int, now time.Time) (due time.Time, arrives bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	link := n.links[from]
	if n.apart[pair(from, to)] || link.Loss > 0 && n.random.Float64() < link.Loss {
		n.lost++
		return now, false
	}
	return now.Add(link.Delay), true
}

// pair names two hosts, whichever comes first.
func pair(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }

func (n *network) set(host int, l Link) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.links[host] = l
}

func (n *network) cut(a, b int, apart bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.apart[pair(a, b)] = apart
}
