package query

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/series"
)

// Materialized is a continuous aggregate: aggregates of a table's rows that a system maintains so
// that queries need not read the rows. It has one row for each series and each time bucket that
// contains rows of the series, with aggregates of fields.
type Materialized struct {
	Table      string        // of the rows
	Bucket     time.Duration // width of the buckets, which start at multiples of it since 1970
	Aggregates []Aggregate   // that queries can have of it
	Fields     []string      // that are aggregated: numbers
}

// RowCount is the column of an aggregate that counts the rows of a bucket.
const RowCount = "row_count"

// Name returns the name of the table or view in the database: cpu_1h.
func (m *Materialized) Name() string { return m.Table + "_" + m.Width() }

// Width is the width of the buckets, as names have it: 1h, 90s.
func (m *Materialized) Width() string {
	text := m.Bucket.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return strings.ReplaceAll(text, ".", "_")
}

// StoredAggregates returns the aggregates that are stored. A mean is kept as a sum and a count, of
// which means over several buckets or series can be made.
func (m *Materialized) StoredAggregates() []Aggregate {
	var kept []Aggregate
	for _, a := range m.Aggregates {
		of := []Aggregate{a}
		if a == Avg {
			of = []Aggregate{Sum, Count}
		}
		for _, a := range of {
			if !slices.Contains(kept, a) {
				kept = append(kept, a)
			}
		}
	}
	return kept
}

// Column is the name of the column of a field's aggregate.
func (Materialized) Column(a Aggregate, field string) string { return string(a) + "_" + field }

// StoredFields returns the fields of an aggregate of a table: the number of rows, and the
// aggregates of each field. Sums are doubles.
func (m *Materialized) StoredFields(t *series.Table) ([]series.Field, error) {
	stored := []series.Field{{Name: RowCount, Type: series.Int}}
	for _, field := range m.Fields {
		at := t.FieldIndex(field)
		switch {
		case at < 0:
			return nil, fmt.Errorf("aggregate %s: table %s has no field %q", m.Name(), m.Table, field)
		case !t.Fields[at].Type.Numeric():
			return nil, fmt.Errorf("aggregate %s: the values of field %s are not numbers", m.Name(), field)
		}
		for _, a := range m.StoredAggregates() {
			kind := t.Fields[at].Type
			switch a {
			case Count:
				kind = series.Int
			case Sum:
				kind = series.Float
			}
			stored = append(stored, series.Field{Name: m.Column(a, field), Type: kind})
		}
	}
	return stored, nil
}

// Answers returns nil where the query can be answered from the aggregate: its answer is
// then the same as from rows. Otherwise its error wraps ErrUnsupported and says why not.
func (m *Materialized) Answers(q *Query) error {
	s, ok := q.Shape.(Buckets)
	why := ""
	switch {
	case q.Table != m.Table:
		why = fmt.Sprintf("it reads table %s", q.Table)
	case !ok:
		why = "it aggregates no buckets of time"
	case q.Filter != nil:
		why = "it chooses rows by a value"
	case s.Width%m.Bucket != 0:
		why = fmt.Sprintf("its buckets of %v are not a multiple of %v", s.Width, m.Bucket)
	case !q.Start.IsZero() && BucketOf(q.Start.UnixNano(), m.Bucket) != q.Start.UnixNano():
		why = "its window begins within a bucket"
	case !q.End.IsZero() && BucketOf(q.End.UnixNano(), m.Bucket) != q.End.UnixNano():
		why = "its window ends within a bucket"
	case !slices.Contains(m.Aggregates, s.Aggregate):
		why = fmt.Sprintf("it computes the %s", s.Aggregate)
	}
	for _, f := range s.Fields {
		if why == "" && !slices.Contains(m.Fields, f) {
			why = fmt.Sprintf("it reads field %s", f)
		}
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("%w: the aggregate %s cannot answer it: %s", ErrUnsupported, m.Name(), why)
}
