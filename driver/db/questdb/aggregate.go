package questdb

import (
	"context"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// renamedAggregate returns an aggregate with QuestDB's names.
func renamedAggregate(m *query.Materialized) *query.Materialized {
	of := *m
	of.Table, of.Fields = tableName(m.Table), make([]string, len(m.Fields))
	for i, name := range m.Fields {
		of.Fields[i] = columnName(name)
	}
	return &of
}

// renderFrom renders a query that an aggregate answers, with QuestDB's names.
func renderFrom(q *query.Query, m *query.Materialized, s *series.Schema, _ driver.Options) (driver.Request, error) {
	table := s.Table(m.Table)
	if table == nil {
		return driver.Request{}, fmt.Errorf("there is no table %q", m.Table)
	}
	if err := m.Answers(q); err != nil { // before the names change
		return driver.Request{}, err
	}
	renamed, err := q.Rename(tableName, columnName)
	if err != nil {
		return driver.Request{}, err
	}
	text, err := newDialect().RenderFrom(renamed, renamedAggregate(m), renamedSchema(table))
	return driver.Request{Text: text}, err
}

// view returns the statement that creates an aggregate: QuestDB's materialized view, which is updated
// with each transaction of the table's log.
func (s *settings) view(m *query.Materialized, schema *series.Schema) (string, error) {
	if !s.tables.wal {
		return "", fmt.Errorf("%w: QuestDB has materialized views only of tables with a write-ahead log; give %s=on", query.ErrUnsupported, optionWAL)
	}
	table := schema.Table(m.Table)
	if table == nil {
		return "", fmt.Errorf("there is no table %q", m.Table)
	}
	of := renamedAggregate(m)
	columns, err := newDialect().MaterializedColumns(of, renamedSchema(table), "")
	if err != nil {
		return "", err
	}
	columns[0].Expression = columns[0].Name // SAMPLE BY turns it into buckets
	list := make([]string, len(columns))
	for i, c := range columns {
		if list[i] = c.Expression; c.Expression != c.Name {
			list[i] += " AS " + c.Name
		}
	}
	return fmt.Sprintf("CREATE MATERIALIZED VIEW %s REFRESH IMMEDIATE AS\nSELECT\n  %s\nFROM %s\nSAMPLE BY %s",
		quoteIdent(of.Name()), strings.Join(list, ",\n  "), quoteIdent(of.Table), sql.InUnits(of.Bucket, [...]string{"d", "h", "m", "s", "", "U", ""})), nil
}

// PlanAggregate implements driver.DB.
func (d *database) PlanAggregate(s *series.Schema, m *query.Materialized) ([]driver.Object, error) {
	if _, err := d.settings.view(m, s); err != nil {
		return nil, err
	}
	return []driver.Object{object(kindOf("M"), renamedAggregate(m).Name())}, nil
}

// Materialize implements driver.DB. The view includes existing rows by itself.
func (d *database) Materialize(ctx context.Context, s *series.Schema, m *query.Materialized, keep bool) error {
	text, err := d.settings.view(m, s)
	if err != nil {
		return err
	}
	if err = d.own.Exec(ctx, text); err == nil && !keep {
		err = d.awaitRefresh(ctx, m)
	}
	if err != nil {
		return fmt.Errorf("making the aggregate %s: %w", m.Name(), err)
	}
	return nil
}

// awaitRefresh returns when the view covers every row of its table.
func (d *database) awaitRefresh(ctx context.Context, m *query.Materialized) error {
	of := renamedAggregate(m)
	return poll.Wait(ctx, firstLook, longestLook, func() (bool, error) {
		rows, err := d.own.Query(ctx, fmt.Sprintf("SELECT view_status, coalesce(invalidation_reason, '') FROM materialized_views() WHERE view_name = %s", newDialect().Text(of.Name())))
		if err != nil {
			return false, err
		}
		if len(rows) > 0 && rows[0][0].String() == "invalid" {
			return false, fmt.Errorf("QuestDB has made the view invalid: %s", rows[0][1])
		}
		if rows, err = d.own.Query(ctx, "SELECT count() FROM "+quoteIdent(of.Table)); err != nil {
			return false, err
		}
		covered, err := d.CountCovered(ctx, m)
		return covered == rows[0][0].Int, err
	})
}

// CountCovered implements driver.DB.
func (d *database) CountCovered(ctx context.Context, m *query.Materialized) (int64, error) {
	rows, err := d.own.Query(ctx, fmt.Sprintf("SELECT coalesce(sum(%s), 0) FROM %s", query.RowCount, quoteIdent(renamedAggregate(m).Name())))
	if err != nil {
		return -1, fmt.Errorf("counting the rows of the aggregate %s: %w", m.Name(), err)
	}
	return rows[0][0].Int, nil
}

// AggregateFootprint implements driver.DB.
func (d *database) AggregateFootprint(ctx context.Context, m *query.Materialized) (int64, error) {
	rows, err := d.own.Query(ctx, "SELECT diskSize FROM table_storage() WHERE tableName = "+newDialect().Text(renamedAggregate(m).Name()))
	if err != nil {
		return -1, fmt.Errorf("measuring the aggregate %s: %w", m.Name(), err)
	}
	if len(rows) == 0 {
		return -1, nil
	}
	return rows[0][0].Int, nil
}
