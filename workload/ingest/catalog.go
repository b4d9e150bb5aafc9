package ingest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/series"
)

// table is what parsing needs of a table.
type table struct {
	*series.Table
	keys    []string       // of the fields, with "=" behind them
	byKey   map[string]int // field of a key
	learned *fieldList     // the fields while they are learnt from rows; nil: Fields has them
	numeric []string       // keys of the numeric tags, likewise; in influx format they stand before the fields
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

// begin is a text that rows begin with, and what it says: their table and
// series.
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

// catalog is the tables and series of a source, as far as they are known. The
// goroutines that parse share it.
type catalog struct {
	format Format
	known  *series.Schema // whose series these are; nil: those of the source itself
	most   uint32         // series that there may be; 0: any number

	mu     sync.RWMutex
	begins map[string]*begin
	tables map[string]*table
	order  []*table
	tags   *tagTexts // where known is nil
	// learning: tables and tags that are not there are added.
	learning bool
}

// newCatalog returns the catalog of a known schema, or an empty one.
func newCatalog(f Format, known *series.Schema) *catalog {
	c := &catalog{format: f, known: known, begins: make(map[string]*begin), tables: make(map[string]*table)}
	if known == nil {
		c.tags = &tagTexts{numbers: make(map[string]uint32)}
		return c
	}
	for _, t := range known.Tables {
		c.add(newTable(t))
	}
	return c
}

func (c *catalog) add(t *table) {
	c.tables[t.Name] = t
	c.order = append(c.order, t)
}

// find returns the begin that has the text, nil where it was not there yet.
func (c *catalog) find(text []byte) *begin {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.begins[string(text)]
}

// table returns the named table, nil where there is none.
func (c *catalog) table(name []byte) *table {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.tables[string(name)]
}

// resolve adds a begin: the text of a row, its table's name, its tags as
// ",key=value…", and the number of its fields, -1 where that does not show. The
// error is the problem with the line.
func (c *catalog) resolve(text, name, tags []byte, width int) (*begin, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.begins[string(text)]; b != nil {
		return b, nil
	}
	t := c.tables[string(name)]
	if t == nil {
		if !c.learning {
			return nil, fmt.Errorf("the dataset has no table %q; check the flags that say what generated the file%s", name, c.orFile())
		}
		t = newTable(&series.Table{Name: string(name)})
		t.learned = newFieldList()
	}
	b := &begin{table: t, width: len(t.Fields)}
	var err error
	if c.known != nil {
		if t.index == nil {
			t.index = newSeriesIndex(c.known.Series, rowBegin(c.format, t.Table))
		}
		var ok bool
		if b.series, ok = t.index.find(text); !ok {
			return nil, fmt.Errorf("the dataset has no series with these tags; check the flags that say what generated the file (--use-case, --seed, --scale …)")
		}
		b.width = t.Width(b.series)
	} else {
		if width >= 0 {
			b.width = width
		}
		if b.width > len(t.Fields) {
			return nil, fmt.Errorf("%d values, where the header names %d fields", b.width, len(t.Fields))
		}
		if b.series, err = c.number(t, tags); err != nil {
			return nil, err
		}
	}
	if c.tables[t.Name] == nil {
		c.add(t)
	}
	b.text = bytes.Clone(text)
	for _, key := range t.numeric {
		b.open = b.open || c.format == Influx && !bytes.Contains(text, []byte(key))
	}
	c.begins[string(b.text)] = b
	return b, nil
}

func (c *catalog) orFile() string {
	if c.known != nil {
		return ""
	}
	return ", or give the file's name in place of standard input"
}

// maxTags bounds the tags of a table. Each row's are looked up one by one.
const maxTags = 1000

// number checks tags and returns the number of their series. Tag keys that
// the table does not have yet are added to it while learning.
func (c *catalog) number(t *table, tags []byte) (uint32, error) {
	keys := slices.Clone(t.Tags)
	at := 0
	for rest := tags; len(rest) > 0; {
		pair := rest[1:]
		if rest[0] != ',' {
			return 0, fmt.Errorf("a tag does not begin with a comma")
		}
		end := bytes.IndexByte(pair, ',')
		if end < 0 {
			end = len(pair)
		}
		rest, pair = pair[end:], pair[:end]
		key, value, ok := bytes.Cut(pair, []byte{'='})
		switch {
		case !ok || len(key) == 0:
			return 0, fmt.Errorf("the tag %q is no key=value", pair)
		case bytes.ContainsAny(pair, "\\\" ") && c.format == Influx:
			return 0, fmt.Errorf("the tag %q has an escape or a quote, which TSBS does not write", pair)
		}
		i := slices.IndexFunc(keys, func(tag series.Tag) bool { return tag.Key == string(key) })
		if i < 0 {
			if !c.learning {
				return 0, fmt.Errorf("table %s has no tag %q so far; give the file's name in place of standard input, or the flags that say what generated it", t.Name, key)
			}
			if len(keys) == maxTags {
				return 0, fmt.Errorf("table %s has more than %d tags, which no system has", t.Name, maxTags)
			}
			i = at
			keys = slices.Insert(keys, i, series.Tag{Key: string(key)})
		} else if bytes.Contains(tags[:len(tags)-len(rest)-len(pair)], append(append([]byte{','}, key...), '=')) {
			return 0, fmt.Errorf("the tag %q is there twice", key)
		}
		if keys[i].Numeric() && len(value) > 0 {
			if _, ok := number.Float(value); !ok {
				return 0, fmt.Errorf("the tag %q is no number", pair)
			}
		}
		at = i + 1
	}
	n, err := c.tags.number(tags, c.most)
	if err == nil {
		t.Tags = keys
	}
	return n, err
}

// tagTexts are the tags of the series that a source itself has, each as
// ",key=value…".
type tagTexts struct {
	mu      sync.RWMutex
	numbers map[string]uint32
	texts   []string // per series
}

// number returns the number of the series with the tags, a new one where
// there is none.
func (t *tagTexts) number(tags []byte, most uint32) (uint32, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n, ok := t.numbers[string(tags)]; ok {
		return n, nil
	}
	if most > 0 && uint32(len(t.texts)) >= most {
		return 0, fmt.Errorf("a series after %d others, which are too many for standard input; give the name of a file", most)
	}
	n := uint32(len(t.texts))
	text := string(tags)
	t.texts = append(t.texts, text)
	t.numbers[text] = n
	return n, nil
}

func (t *tagTexts) count() uint32 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return uint32(len(t.texts))
}

// tagValues is the values of one tag in tagTexts.
type tagValues struct {
	texts *tagTexts
	begin string // ",key="
}

// Append implements series.TagValues. A series without the tag lacks it, and
// so does one whose value is empty.
func (v tagValues) Append(dst []byte, s uint32) ([]byte, bool) {
	v.texts.mu.RLock()
	defer v.texts.mu.RUnlock()
	if int(s) >= len(v.texts.texts) {
		return dst, false
	}
	text := v.texts.texts[s]
	at := strings.Index(text, v.begin)
	if at < 0 {
		return dst, false
	}
	value, _, _ := strings.Cut(text[at+len(v.begin):], ",")
	return append(dst, value...), value != ""
}
