// Package fold merges the results of the statements that make up one query, such as one statement for
// each partition or for each series. A Plan, which is part of a driver.Request's Plan, says how. Each
// row of a result comes with the tags of its series.
package fold

import (
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/query"
)

// Plan says how the rows of results are processed: exactly one field is set.
type Plan struct {
	Rows   *Rows   `json:"rows,omitempty"`
	Newest *Newest `json:"newest,omitempty"`
	Fold   *Fold   `json:"fold,omitempty"`
}

// Rows passes rows on: the time, the tags, the fields.
type Rows struct {
	Tags  []int       `json:"tags,omitempty"` // indexes into the tags of the row's series
	Order query.Order `json:"order,omitempty"`
	Limit int         `json:"limit,omitempty"` // 0: all
}

// Newest keeps the newest row of all series with the same value of the first tag.
type Newest struct {
	Tags   []int            `json:"tags"`
	Having *query.Condition `json:"having,omitempty"`
	Field  int              `json:"field,omitempty"` // index of the field that Having compares
	Over   int              `json:"over,omitempty"`  // 1 + index of the tag that divides it; 0: none
}

// Fold combines aggregates. The result of a statement has the start of the bucket, if there are
// buckets, the number of rows, and the columns of each part.
type Fold struct {
	Buckets bool    `json:"buckets,omitempty"`
	Width   int64   `json:"width,omitempty"` // of a bucket, in milliseconds
	Keys    []int   `json:"keys,omitempty"`  // tags that distinguish groups
	Unit    int     `json:"unit,omitempty"`  // 1 + index of the tag whose values count once each in means of means; 0: none
	Over    int     `json:"over,omitempty"`  // 1 + index of the tag that divides these; 0: none
	Parts   []Part  `json:"parts"`
	Having  *Having `json:"having,omitempty"`
	// Activity computes the results of the activity shapes from the buckets of units.
	Activity *Activity   `json:"activity,omitempty"`
	Order    query.Order `json:"order,omitempty"`
	Limit    int         `json:"limit,omitempty"`
}

// Part is a column of the result.
type Part struct {
	Make string `json:"make"`          // max, min, sum, count or avg; see MakeTag and MakeZeros
	Tag  int    `json:"tag,omitempty"` // for tag
}

// MakeTag is the Make of a mean of a tag.
const MakeTag = "tag"

// Columns returns the number of columns that a part reads from a statement's result. A sum comes with
// the number of values.
func (p Part) Columns() int {
	switch p.Make {
	case "sum", "avg", MakeZeros:
		return 2
	case MakeTag:
		return 0
	}
	return 1
}

// Having filters groups by one of their parts.
type Having struct {
	Part int `json:"part"`
	query.Condition
}

// New returns a plan that merges the results of a query's statements, and the fields that the
// statements read, in the plan's order. The function tag returns the index of a tag among the tags of a
// row. The error for a query that cannot be run names the language as the reason.
func New(q *query.Query, language string, tag func(key string) int) (p Plan, fields []string, err error) {
	tags := func(keys ...string) (at []int) {
		for _, key := range keys {
			if key != "" {
				at = append(at, tag(key))
			}
		}
		return at
	}
	switch s := q.Shape.(type) {
	case query.Rows:
		p.Rows = &Rows{Tags: tags(s.Tag), Order: s.Order}
		return p, s.Fields, nil
	case query.AnyRows:
		p.Rows = &Rows{Tags: tags(s.Tag), Limit: s.Limit}
		return p, s.Fields, nil
	case query.Last:
		p.Newest = &Newest{Tags: tags(append([]string{s.By}, s.Tags...)...)}
		if s.Having != nil {
			p.Newest.Having, p.Newest.Field = &s.Having.Condition, slices.Index(s.Fields, s.Having.Field)
			if s.Having.Over != "" {
				p.Newest.Over = 1 + tag(s.Having.Over)
			}
		}
		return p, s.Fields, nil
	case query.Buckets:
		if s.Width%time.Millisecond != 0 {
			return p, nil, fmt.Errorf("%w: buckets of %v, which is not a multiple of a millisecond", query.ErrUnsupported, s.Width)
		}
		p.Fold = &Fold{Keys: tags(s.GroupBy), Order: s.Order, Limit: s.Limit, Parts: parts(s.Aggregate, s.Fields), Buckets: true, Width: int64(s.Width / time.Millisecond)}
		return p, s.Fields, nil
	case query.Totals:
		p.Fold = &Fold{Keys: tags(s.GroupBy), Parts: parts(s.Aggregate, s.Fields)}
		return p, s.Fields, nil
	case query.Means:
		p.Fold = &Fold{Keys: tags(s.Group...), Parts: parts(query.Avg, s.Fields)}
		for _, key := range s.MeanTags {
			p.Fold.Parts = append(p.Fold.Parts, Part{Make: MakeTag, Tag: tag(key)})
		}
		if s.Having != nil {
			p.Fold.Having = &Having{slices.Index(s.Fields, s.Having.Field), *s.Having}
		}
		return p, s.Fields, nil
	case query.UnitMeans:
		p.Fold = &Fold{Keys: tags(s.Group...), Unit: 1 + tag(s.Unit), Parts: parts(query.Avg, s.Fields)}
		if s.Over != "" {
			p.Fold.Over = 1 + tag(s.Over)
		}
		return p, s.Fields, nil
	case query.RowSet:
		return p, nil, fmt.Errorf("%w: %s has no UNION, INTERSECT or EXCEPT", query.ErrUnsupported, language)
	}
	if a := q.Activity(); a != nil {
		p.Fold = activity(q, tags)
		return p, []string{a.Field}, nil
	}
	return p, nil, fmt.Errorf("%w: there is no such query in %s", query.ErrUnsupported, language)
}

// parts returns one part for each field, with the same aggregate.
func parts(a query.Aggregate, fields []string) (all []Part) {
	for range fields {
		all = append(all, Part{Make: string(a)})
	}
	return all
}
