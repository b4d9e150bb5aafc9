package ingest

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tsmark/tsmark/series"
)

// table is the parser's view of a table.
type table struct {
	*series.Table
	keys    []string       // of the fields, with "=" behind them
	byKey   map[string]int // field of a key
	numeric []string       // keys of the numeric tags; in influx format they precede the fields
	index   *seriesIndex
}

func newTable(t *series.Table) *table {
	w := &table{Table: t, keys: make([]string, len(t.Fields)), byKey: make(map[string]int, len(t.Fields))}
	for i, f := range t.Fields {
		w.keys[i] = f.Name + "="
		w.byKey[w.keys[i]] = i
	}
	for i := range t.Tags {
		if t.Tags[i].Numeric() {
			w.numeric = append(w.numeric, t.Tags[i].Key+"=")
		}
	}
	return w
}

// begin is a text at the beginning of rows, and the table and series it stands for.
type begin struct {
	text   []byte
	table  *table
	series uint32
	width  int  // fields of the rows
	open   bool // a longer text of another series begins with it
	// follower is the begin of the row that came after one of this series the
	// last time: most often it does so again.
	follower atomic.Pointer[begin]
}

// catalog holds the tables and series of the dataset that generated a source. The parsing goroutines
// share it.
type catalog struct {
	format Format
	series uint32            // number of all series
	tables map[string]*table // by name

	mu     sync.RWMutex // guards begins, and the index of each table
	begins map[string]*begin
}

// newCatalog returns the catalog of a schema.
func newCatalog(f Format, known *series.Schema) *catalog {
	c := &catalog{format: f, series: known.Series, begins: make(map[string]*begin), tables: make(map[string]*table, len(known.Tables))}
	for _, t := range known.Tables {
		c.tables[t.Name] = newTable(t)
	}
	return c
}

// find returns the begin that has the text, or nil.
func (c *catalog) find(text []byte) *begin {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.begins[string(text)]
}

// resolve adds a begin: the text of a row, and its table's name. The error is the problem
// with the line.
func (c *catalog) resolve(text, name []byte) (*begin, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.begins[string(text)]; b != nil {
		return b, nil
	}
	t := c.tables[string(name)]
	if t == nil {
		return nil, fmt.Errorf("the dataset has no table %q; check the flags that say what generated the file", name)
	}
	if t.index == nil {
		t.index = newSeriesIndex(c.series, rowBegin(c.format, t.Table))
	}
	found, ok := t.index.find(text)
	if !ok {
		return nil, fmt.Errorf("the dataset has no series with these tags; check the flags that say what generated the file (--use-case, --seed, --scale …)")
	}
	b := &begin{text: bytes.Clone(text), table: t, series: found, width: t.Width(found)}
	for _, key := range t.numeric {
		b.open = b.open || c.format == Influx && !bytes.Contains(text, []byte(key))
	}
	c.begins[string(b.text)] = b
	return b, nil
}
