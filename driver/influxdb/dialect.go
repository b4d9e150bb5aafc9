package influxdb

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// ownPrefix begins the names of columns that are no part of an answer. Some are
// there since InfluxQL always returns a time; others since InfluxDB knows values
// and no rows: a row whose fields in the answer are all NULL is returned only where
// something else of it is selected as well.
const ownPrefix = "tsmark_"

// timeColumn is the name of a time that the query does not return.
const timeColumn = ownPrefix + "time"

// zeroPrefix begins the names of columns in which NULL means 0: InfluxQL counts
// nothing as NULL where other columns of the row have something.
const zeroPrefix = ownPrefix + "zero_"

// nullField is a field, always true, of the rows that have no other.
const nullField = ownPrefix + "null"

// render renders a query as one statement of InfluxQL. The columns of what
// it returns are those of query.Columns, but for those that begin with
// ownPrefix; tags by which the answer is grouped come behind the time.
func render(q *query.Query, s *series.Schema, _ driver.Options) (driver.Request, error) {
	r := renderer{q: q, table: s.Table(q.Table), schema: s}
	st, err := r.render()
	if err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, err)
	}
	return driver.Request{Text: st.String()}, nil
}

// renderer renders one query.
type renderer struct {
	q      *query.Query
	table  *series.Table
	schema *series.Schema
}

func (r *renderer) render() (*statement, error) {
	if r.table == nil {
		return nil, fmt.Errorf("there is no table %q", r.q.Table)
	}
	if err := r.q.Check(r.table); err != nil {
		return nil, err
	}
	switch s := r.q.Shape.(type) {
	case query.Buckets:
		return r.buckets(s)
	case query.Totals:
		return r.totals(s)
	case query.Rows:
		return r.rows(s)
	case query.AnyRows:
		all, err := r.rows(query.Rows{Fields: s.Fields, Tag: s.Tag})
		if err == nil {
			all.limit = s.Limit // without a GROUP BY, one of all rows
		}
		return all, err
	case query.RowSet:
		return nil, unsupported("InfluxQL has no set operations: its statements take rows of measurements and of one another, and compare none")
	case query.Last:
		return r.last(s)
	case query.Means:
		return r.means(s)
	case query.UnitMeans:
		return r.unitMeans(s)
	}
	return r.activity(r.q.Activity())
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{query.ErrUnsupported}, args...)...)
}

// numeric reports whether a tag is a number, which line protocol has as a field.
func (r *renderer) numeric(key string) bool { return r.table.Tag(key).Numeric() }

// groupable returns an error where one of the tags is a number.
func (r *renderer) groupable(keys ...string) error {
	for _, key := range keys {
		if key != "" && r.numeric(key) {
			return unsupported("%s is a number, which line protocol holds as a field, and InfluxQL groups by tags only", key)
		}
	}
	return nil
}

// where returns the conditions that the query sets on rows.
func (r *renderer) where() ([]string, error) {
	var all []string
	if in := r.q.In; in != nil {
		values, err := r.equals(in)
		if err != nil {
			return nil, err
		}
		condition := strings.Join(values, " OR ")
		if len(values) > 1 {
			condition = "(" + condition + ")"
		}
		all = append(all, condition)
	}
	for _, key := range r.present() {
		if r.numeric(key) {
			all = append(all, fmt.Sprintf("(%s > 0 OR %[1]s <= 0)", ident(key))) // it is there
		} else {
			all = append(all, ident(key)+" != ''")
		}
	}
	if above := r.q.Above; above != nil {
		for _, field := range above.All() {
			all = append(all, exceeds(field, above.Value, r.table.Fields[r.table.FieldIndex(field)].Type))
		}
	}
	if !r.q.Start.IsZero() {
		all = append(all, "time >= "+instant(r.q.Start))
	}
	if !r.q.End.IsZero() {
		all = append(all, "time < "+instant(r.q.End))
	}
	return all, nil
}

// equals returns a comparison for each value of a filter.
func (r *renderer) equals(in *query.TagIn) ([]string, error) {
	var all []string
	for _, v := range in.Values {
		if !r.numeric(in.Key) {
			all = append(all, ident(in.Key)+" = "+text(v))
			continue
		}
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return nil, fmt.Errorf("the filter on tag %s, whose values are numbers, has %q", in.Key, v)
		}
		all = append(all, ident(in.Key)+" = "+number(n))
	}
	return all, nil
}

// exceeds returns the condition that a field is above a threshold.
func exceeds(field string, threshold float64, t series.Type) string {
	if !t.Integer() {
		return fmt.Sprintf("%s > %s", ident(field), number(threshold))
	}
	// Like is compared with like, so that no integer is rounded.
	switch v := math.Floor(threshold); {
	case v >= 1<<63:
		return fmt.Sprintf("%s > %d", ident(field), int64(math.MaxInt64)) // none is
	case v < -1<<63:
		return fmt.Sprintf("%s >= %d", ident(field), int64(math.MinInt64)) // all are
	default:
		return fmt.Sprintf("%s > %d", ident(field), int64(v))
	}
}

// present returns the tags that a row must have and that no filter demands.
func (r *renderer) present() []string {
	return slices.DeleteFunc(r.q.Demands(), func(key string) bool { return r.q.In != nil && r.q.In.Key == key })
}

// idents returns names as they stand in InfluxQL.
func idents(names []string) []string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = ident(n)
	}
	return list
}
