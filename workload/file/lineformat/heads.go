package lineformat

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tsmark/tsmark/workload/file/input"
)

// Heads knows the heads of rows that were read so far: the texts that name a table and a series. Of
// a generated dataset, the readers of several goroutines share it.
type Heads struct {
	tables    []*input.Table
	index     *input.Index // nil: of a generated dataset
	generated *generated

	mu     sync.RWMutex // guards everything below, and generated
	byText map[string]*head
	free   []head // memory for further ones
	texts  []byte // and for their texts
}

// head is what begins the rows of one series. In line protocol its text is the row up to its first
// field that is not a tag; in timescaledb format, the row up to its time.
type head struct {
	text string
	rows
	// follower is the head of the row that came after one of this head the last time.
	follower atomic.Pointer[head]
}

// rows is what a head says about its rows.
type rows struct {
	table  *input.Table // nil: they are skipped
	series uint32
	width  int32 // number of fields that they have
	open   bool  // the text of another series begins with this one's, so that it is never guessed
}

// NewHeads returns the heads of a file whose series are, or get, a number in an index.
func NewHeads(x *input.Index) *Heads {
	return &Heads{tables: x.Tables, index: x, byText: make(map[string]*head)}
}

// find returns the head that has the text, or nil.
func (h *Heads) find(text []byte) *head {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.byText[string(text)]
}

// add adds a head, whose text is copied.
func (h *Heads) add(text []byte, found rows) *head {
	if len(h.free) == 0 {
		h.free = make([]head, 64)
	}
	added := &h.free[0]
	h.free = h.free[1:]
	if cap(h.texts)-len(h.texts) < len(text) {
		h.texts = make([]byte, 0, max(16<<10, len(text)))
	}
	begin := len(h.texts)
	h.texts = append(h.texts, text...)
	added.text = unsafe.String(&h.texts[begin], len(text)) // never written again
	added.rows = found
	h.byText[added.text] = added
	return added
}

// guesser guesses the head of a row by that of the row before: rows tend to repeat in one order.
type guesser struct{ last *head }

// guess returns the head that the next row is expected to have, or nil.
func (g *guesser) guess() *head {
	if g.last == nil {
		return nil
	}
	return g.last.follower.Load()
}

// follow makes a head that of the row before.
func (g *guesser) follow(h *head) {
	if g.last != nil && !h.open && g.last.follower.Load() != h {
		g.last.follower.Store(h)
	}
	g.last = h
}
