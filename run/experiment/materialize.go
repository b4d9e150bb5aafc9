package experiment

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
)

// Materialize creates a continuous aggregate of a table on each target that supports it, and runs
// query types on the rows and on the aggregate. The zero value creates none.
type Materialize struct {
	Bucket time.Duration `yaml:"bucket"` // width of the aggregate's buckets; 0: no aggregate
	// Table is the table of rows; empty: the table of the first of Types.
	Table string `yaml:"table,omitempty"`
	// Aggregates are some of mean, max, min, sum and count; empty: the aggregates of Types.
	Aggregates []string `yaml:"aggregates,flow,omitempty"`
	// Fields are the aggregated fields; empty: the fields of Types.
	Fields []string `yaml:"fields,flow,omitempty"`
	// Types are the types of Queries.Types that are also run on the aggregate; empty: all that it
	// can answer. Their windows are aligned as by Queries.AlignWindows.
	Types []string `yaml:"types,flow,omitempty"`
	// WhileLoading loads once more with an aggregate that is maintained during the load, to measure
	// the cost and the delay until the aggregate includes every row.
	WhileLoading bool `yaml:"while-loading,omitempty"`
}

// Enabled reports whether aggregates are created.
func (m *Materialize) Enabled() bool { return m.Bucket > 0 }

// meanWord is the name of query.Avg in experiments.
const meanWord = "mean"

// AggregateWords lists the valid values of Materialize.Aggregates.
func AggregateWords() []string { return []string{meanWord, "max", "min", "sum", "count"} }

// AggregateWord returns the name of an aggregate in experiments.
func AggregateWord(a query.Aggregate) string {
	if a == query.Avg {
		return meanWord
	}
	return string(a)
}

// Chosen returns the selected aggregates.
func (m *Materialize) Chosen() []query.Aggregate {
	var list []query.Aggregate
	for _, word := range m.Aggregates {
		if word == meanWord {
			word = string(query.Avg)
		}
		list = append(list, query.Aggregate(word))
	}
	return list
}

func (c *checker) materialize(e *Experiment) {
	m := &e.Materialize
	if !m.Enabled() {
		if m.Bucket < 0 {
			c.add("materialize.bucket", "must be 0 (no aggregate) or more, not %s", DurationText(m.Bucket))
		} else if m.Table != "" || m.Aggregates != nil || m.Fields != nil || m.Types != nil || m.WhileLoading {
			c.add("materialize.bucket", "is missing; say how wide the buckets of the aggregate are, such as 1h")
		}
		return
	}
	for i, word := range m.Aggregates {
		if !slices.Contains(AggregateWords(), word) {
			c.add(fmt.Sprintf("materialize.aggregates[%d]", i), "%q is not an aggregate; known: %s", word, strings.Join(AggregateWords(), ", "))
		}
	}
	for i, name := range m.Types {
		if !e.Queries.chosenByWord() && !slices.Contains(e.Queries.Types, name) {
			c.add(fmt.Sprintf("materialize.types[%d]", i), "%q is not in queries.types; add it there", name)
		}
	}
	switch {
	case e.Load.File != "":
		c.add("materialize", "is for rows that are generated, not for those of a file; leave out load.file or the section")
	case e.Mixed.Enabled():
		c.add("materialize", "cannot stand beside a mixed part; leave one of the sections out")
	case len(e.Queries.Types) == 0 && (m.Table == "" || m.Aggregates == nil || m.Fields == nil):
		c.add("materialize", "takes table, aggregates and fields from the query types, and queries.types is empty; set all three, or add query types")
	}
}
