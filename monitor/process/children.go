package process

import "sync"

// Children are the processes that Start started among them and that have not
// ended. The zero value has none; nil keeps no list.
type Children struct {
	mu   sync.Mutex
	runs map[*Process]bool
}

func (c *Children) add(p *Process) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs == nil {
		c.runs = make(map[*Process]bool)
	}
	c.runs[p] = true
}

func (c *Children) remove(p *Process) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.runs, p)
}

// Kill kills all children and their descendants without waiting until they have ended. It is for a
// process that is about to exit.
func (c *Children) Kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range c.runs {
		p.killNow()
	}
}
