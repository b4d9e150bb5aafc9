package sqlkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// Aggregates says how a database maintains a continuous aggregate of a table: as a view of its own, or
// as a summary table as its users would make one.
type Aggregates struct {
	// Kind is the kind of the object that is created, as in List; empty: KindTable.
	Kind string
	// Make returns the statements that create the aggregate of the existing rows.
	Make func(*Aggregate) []string
	// Keep returns the statements that create an empty aggregate which is updated as rows are written.
	// NotKept is the reason why there are no such statements, to follow "not supported".
	Keep    func(*Aggregate) []string
	NotKept string
	// Alone means that the statements cannot form a transaction and run one by one.
	Alone bool
	// Lacks reports whether an error of a statement means that the system has no such aggregates, as in
	// some editions; nil: no error does.
	Lacks func(error) bool
	// Views are the suffixes of the names of additional views that fill it.
	Views []string
	// Bytes is the statement that returns the bytes of the aggregate on disk; nil: there is no such
	// statement.
	Bytes func(*query.Materialized) string
	// Covers is the statement that returns the number of rows that the aggregate covers; nil: the sum
	// of its query.RowCount.
	Covers func(*query.Materialized) string
}

// Aggregate is an aggregate to create.
type Aggregate struct {
	*query.Materialized
	Schema  *series.Schema
	Ident   string // its name, as SQL
	Rows    string // the table of rows, as SQL
	Columns []sql.MaterializedColumn
	Select  string // the query that computes its rows
	// New are the expressions that compute its columns from one new row, named NEW: the columns of a
	// trigger.
	New []sql.MaterializedColumn
}

// Names returns the names of the columns, as SQL.
func (a *Aggregate) Names() []string {
	names := make([]string, len(a.Columns))
	for i, c := range a.Columns {
		names[i] = c.Name
	}
	return names
}

// Fill returns the statement that fills a table with these columns.
func (a *Aggregate) Fill() string {
	return fmt.Sprintf("INSERT INTO %s (%s)\n%s", a.Ident, strings.Join(a.Names(), ", "), a.Select)
}

// RenderFrom is the RenderFrom of a driver.Driver whose dialect no option changes.
func RenderFrom(dialect func() *sql.Dialect) func(*query.Query, *query.Materialized, *series.Schema, driver.Options) (driver.Request, error) {
	return func(q *query.Query, m *query.Materialized, s *series.Schema, _ driver.Options) (driver.Request, error) {
		text, err := dialect().RenderFrom(q, m, s)
		return driver.Request{Text: text}, err
	}
}

// PlanAggregate implements driver.DB.
func (t *Tables) PlanAggregate(s *series.Schema, m *query.Materialized) ([]driver.Object, error) {
	if t.Aggregates == nil {
		return nil, fmt.Errorf("%w: tsmark makes no aggregates of %s", query.ErrUnsupported, t.Dialect.Name)
	}
	if _, err := t.Dialect.MaterializedColumns(m, s, ""); err != nil {
		return nil, err
	}
	l, err := t.Lay(s)
	if err != nil {
		return nil, err
	}
	objects := []driver.Object{{Kind: cmp.Or(t.Aggregates.Kind, KindTable), Name: m.Name()}}
	for _, end := range t.Aggregates.Views {
		objects = append(objects, driver.Object{Kind: "view", Name: m.Name() + end})
	}
	for i := range objects {
		if t.Dialect.Folds {
			objects[i].Key = strings.ToLower(objects[i].Name)
		}
	}
	return objects, Distinct(slices.Concat(objects, l.Objects))
}

// Materialize implements driver.DB.
func (t *Tables) Materialize(ctx context.Context, s *series.Schema, m *query.Materialized, keep bool) error {
	of, how := t.Aggregates, (*Aggregates).make
	if keep {
		how = (*Aggregates).keep
	}
	a, err := t.aggregate(s, m)
	var statements []string
	if err == nil {
		statements, err = how(of, a)
	}
	run := func(c Conn) error { return c.Exec(ctx, statements...) }
	switch {
	case err != nil:
	case of.Alone:
		err = run(t.Own)
	default:
		err = t.Change(ctx, []string{m.Name()}, run)
	}
	if err != nil && of.Lacks != nil && of.Lacks(err) {
		err = fmt.Errorf("%w: %w", query.ErrUnsupported, err)
	}
	if err != nil && !errors.Is(err, query.ErrUnsupported) { // reports show the error unchanged
		err = fmt.Errorf("making the aggregate %s: %w", m.Name(), err)
	}
	return err
}

func (a *Aggregates) make(m *Aggregate) ([]string, error) { return a.Make(m), nil }

func (a *Aggregates) keep(m *Aggregate) ([]string, error) {
	if a.Keep == nil {
		return nil, fmt.Errorf("%w: %s", query.ErrUnsupported, a.NotKept)
	}
	return a.Keep(m), nil
}

// aggregate returns the description of an aggregate before it is created.
func (t *Tables) aggregate(s *series.Schema, m *query.Materialized) (*Aggregate, error) {
	if t.Aggregates == nil {
		return nil, fmt.Errorf("%w: tsmark makes no aggregates of %s", query.ErrUnsupported, t.Dialect.Name)
	}
	d := t.Dialect
	columns, err := d.MaterializedColumns(m, s, "")
	if err != nil {
		return nil, err
	}
	fresh, err := d.MaterializedColumns(m, s, "NEW.")
	return &Aggregate{
		Materialized: m, Schema: s, Ident: d.Ident(m.Name()), Rows: d.Ident(m.Table),
		Columns: columns, Select: d.SelectMaterialized(m, columns), New: fresh,
	}, err
}

// CountCovered implements driver.DB.
func (t *Tables) CountCovered(ctx context.Context, m *query.Materialized) (int64, error) {
	text := fmt.Sprintf("SELECT CAST(coalesce(sum(%s), 0) AS %s) FROM %s", t.Dialect.Ident(query.RowCount), t.Dialect.IntegerType(), t.Dialect.Ident(m.Name()))
	if t.Aggregates.Covers != nil {
		text = t.Aggregates.Covers(m)
	}
	return t.one(ctx, "counting the rows of the aggregate "+m.Name(), text)
}

// AggregateFootprint implements driver.DB.
func (t *Tables) AggregateFootprint(ctx context.Context, m *query.Materialized) (int64, error) {
	if t.Aggregates == nil || t.Aggregates.Bytes == nil {
		return -1, nil
	}
	return t.one(ctx, "measuring the aggregate "+m.Name(), t.Aggregates.Bytes(m))
}

// one returns the whole number that a statement returns.
func (t *Tables) one(ctx context.Context, doing, text string) (int64, error) {
	row, err := QueryRow(ctx, t.Own, text)
	if err == nil && (len(row) != 1 || row[0].Kind != query.Int) {
		err = fmt.Errorf("expected one whole number, found %v", row)
	}
	if err != nil {
		return -1, fmt.Errorf("%s: %w", doing, err)
	}
	return row[0].Int, nil
}
