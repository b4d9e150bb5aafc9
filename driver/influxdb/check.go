package influxdb

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/series"
)

// checker finds values that InfluxDB would hold as others, or not at all. The
// tags of a series are looked at once.
type checker struct {
	tables []*series.Table
	seen   []series.Bitmap // per table, series whose tags are right
	unit   int64           // nanoseconds that times are multiples of
	text   []byte
}

func newChecker(s *series.Schema, unit time.Duration) *checker {
	c := &checker{tables: s.Tables, unit: int64(unit)}
	for range s.Tables {
		c.seen = append(c.seen, make(series.Bitmap, (int(s.Series)+63)/64))
	}
	return c
}

// batch returns an error for the first wrong value.
func (c *checker) batch(b *series.Batch) error {
	for i := range b.Runs {
		run := &b.Runs[i]
		at := slices.Index(c.tables, run.Table)
		if at < 0 {
			return fmt.Errorf("table %s is not of the schema that the database was prepared for", run.Table.Name)
		}
		err := c.series(run, c.seen[at])
		if err == nil {
			err = c.values(run)
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", run.Table.Name, err)
		}
	}
	return nil
}

func (c *checker) series(run *series.Run, seen series.Bitmap) error {
	for _, s := range run.Series {
		if seen.Has(int(s)) {
			continue
		}
		for i := range run.Table.Tags {
			tag := &run.Table.Tags[i]
			if tag.Numeric() {
				continue
			}
			value, ok := tag.Values.Append(c.text[:0], s)
			c.text = value
			if !ok {
				continue
			}
			if problem := tagProblem(value); problem != "" {
				return fmt.Errorf("tag %s of series %d is %q: %s; leave it out of the data", tag.Key, s, value, problem)
			}
		}
		seen.Set(int(s))
	}
	return nil
}

// tagProblem says why line protocol cannot hold the value of a tag; empty: it
// can.
func tagProblem(value []byte) string {
	switch {
	case len(value) == 0:
		return "InfluxDB has no empty tags"
	case bytes.IndexByte(value, '\n') >= 0:
		return "line protocol has no line breaks in tags"
	case ambiguous(value):
		return "line protocol cannot tell its backslash from one that escapes what comes behind"
	}
	return ""
}

// ambiguous reports whether a backslash stands before what is escaped, or at the
// end.
func ambiguous(text []byte) bool {
	for i, b := range text {
		if b == '\\' && (i+1 == len(text) || bytes.IndexByte([]byte(escaped), text[i+1]) >= 0) {
			return true
		}
	}
	return false
}

func (c *checker) values(run *series.Run) error {
	for _, t := range run.Times {
		switch {
		case t < math.MinInt64+2 || t > math.MaxInt64-1:
			return fmt.Errorf("a row's time %s is beyond the times that InfluxDB knows", timeText(t))
		case t%c.unit != 0:
			return fmt.Errorf("a row's time %s is no multiple of %v; give another precision", timeText(t), time.Duration(c.unit))
		}
	}
	for f, field := range run.Table.Fields {
		if field.Type.Whole() {
			continue
		}
		for row, v := range run.Columns[f].Floats {
			if v-v != 0 && !run.Lacks(f, row) { // not finite
				return fmt.Errorf("field %s of series %d at %s is %v, which InfluxDB does not take; leave it out of the data",
					field.Name, run.Series[row], timeText(run.Times[row]), v)
			}
		}
	}
	return nil
}

func timeText(t int64) string { return time.Unix(0, t).UTC().Format(time.RFC3339Nano) }

// checkSchema returns an error for names that InfluxDB has not.
func checkSchema(s *series.Schema) error {
	for _, t := range s.Tables {
		switch {
		case t.Name == note:
			return fmt.Errorf("a table is called %s, which is tsmark's own: rename it", t.Name)
		case t.Name == "" || strings.ContainsAny(t.Name, "=\n") || strings.HasPrefix(t.Name, "#") || ambiguous([]byte(t.Name)):
			return fmt.Errorf("a table is called %q, which no measurement can be in line protocol: rename it", t.Name)
		}
		taken := map[string]bool{"time": true}
		for _, name := range columnNames(t) {
			switch {
			case taken[name]:
				return fmt.Errorf("two tags or fields of table %s are called %s, or it has the name of the time: rename one", t.Name, name)
			case name == "" || strings.Contains(name, "\n") || ambiguous([]byte(name)):
				return fmt.Errorf("table %s has a tag or field called %q, which line protocol cannot say: rename it", t.Name, name)
			case strings.HasPrefix(name, ownPrefix):
				return fmt.Errorf("table %s has a tag or field called %s; what begins with %s is tsmark's own: rename it", t.Name, name, ownPrefix)
			}
			taken[name] = true
		}
	}
	return nil
}

// columnNames returns the names of a table's tags and fields.
func columnNames(t *series.Table) []string {
	var names []string
	for i := range t.Tags {
		names = append(names, t.Tags[i].Key)
	}
	for _, f := range t.Fields {
		names = append(names, f.Name)
	}
	return names
}
