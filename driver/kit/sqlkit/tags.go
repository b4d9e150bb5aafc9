// Package sqlkit is what drivers share that keep datasets in SQL tables: the
// note's table, the census, and which series have their row of tags.
package sqlkit

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// Tags is a table of series, in which each series has one row. All writers
// share it.
type Tags struct {
	Name string // unquoted
	Tags []series.Tag
	// Of is the first table of the schema whose series they are.
	Of *series.Table

	series  series.Span // that there are
	mu      sync.Mutex
	claimed series.Bitmap // series whose row a writer has written or is writing, counted from the first one
}

// TagsOf returns the table of series of each table of a schema. Tables that
// have their tags in common share it.
func TagsOf(s *series.Schema) map[*series.Table]*Tags {
	of, byName := make(map[*series.Table]*Tags), make(map[string]*Tags)
	for _, t := range s.Tables {
		name := sql.TagsTable(s, t)
		if byName[name] == nil {
			byName[name] = &Tags{Name: name, Tags: t.Tags, Of: t, series: s.Range(t), claimed: bitmap(s.Range(t))}
		}
		of[t] = byName[name]
	}
	return of
}

func bitmap(of series.Span) series.Bitmap { return make(series.Bitmap, (int(of.End-of.First)+63)/64) }

// claim reports whether the caller is to write the row of the series at a place: true
// once a series.
func (t *Tags) claim(place int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.claimed.Has(place) {
		return false
	}
	t.claimed.Set(place)
	return true
}

// Row takes the tags of a series as columns, which are numbered from 0. A text
// is the caller's again on return.
type Row interface {
	SetNull(column int)
	SetFloat(column int, v float64)
	SetText(column int, v []byte)
}

// Claims is what one writer knows of a table of series.
type Claims struct {
	*Tags
	known series.Bitmap // series that need no look into the shared table, as in claimed
	held  []uint32      // series whose rows are in the open transaction
	value []byte        // of a tag
}

// NewClaims returns the claims of a writer that has not seen any series.
func (t *Tags) NewClaims() *Claims { return &Claims{Tags: t, known: bitmap(t.series)} }

// Introduce calls write for each of the series that has no row yet and that no other writer is writing.
// After the rows are committed, call Keep, otherwise Release.
func (c *Claims) Introduce(numbers []uint32, write func(s uint32) error) error {
	for _, s := range numbers {
		if !c.series.Has(s) {
			return fmt.Errorf("series %d is not of the schema that the database was prepared for", s)
		}
		place := int(s - c.series.First)
		if c.known.Has(place) {
			continue
		}
		c.known.Set(place)
		if !c.claim(place) {
			continue
		}
		c.held = append(c.held, s)
		if err := write(s); err != nil {
			return err
		}
	}
	return nil
}

// Put puts the tags of a series into a row, and returns the size of the values.
func (c *Claims) Put(s uint32, into Row) (bytes int64, err error) {
	for i := range c.Tags.Tags {
		tag := &c.Tags.Tags[i]
		var ok bool
		c.value, ok = tag.Values.Append(c.value[:0], s)
		switch {
		case !ok:
			into.SetNull(i)
		case !tag.Numeric():
			into.SetText(i, c.value)
			bytes += int64(len(c.value))
		default:
			number, err := strconv.ParseFloat(string(c.value), 64)
			if err != nil {
				return bytes, fmt.Errorf("tag %s of series %d: %w", tag.Key, s, err)
			}
			into.SetFloat(i, number)
			bytes += 8
		}
	}
	return bytes, nil
}

// Keep marks the rows of claimed series as committed.
func (c *Claims) Keep() { c.held = c.held[:0] }

// Release takes back the claims of rows that are not there.
func (c *Claims) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.held {
		s -= c.series.First
		c.claimed[s>>6] &^= 1 << (s & 63)
		c.known[s>>6] &^= 1 << (s & 63)
	}
	c.held = c.held[:0]
}
