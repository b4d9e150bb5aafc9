package tdengine

import (
	"context"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// ListSeries implements driver.DB. Tags belong to tables, and each of these tables has rows.
func (d *database) ListSeries(ctx context.Context, _ *series.Schema, t *series.Table, sink query.Sink) error {
	var keys []string
	for i := range t.Tags {
		keys = append(keys, d.design.Ident(t.Tags[i].Key))
	}
	_, err := d.admin.Query(ctx, "SELECT DISTINCT "+strings.Join(keys, ", ")+" FROM "+d.qualify(t.Name), sink)
	return err
}

// fieldsAtOnce is how many fields one statement counts.
const fieldsAtOnce = 200

// Census implements driver.DB.
func (d *database) Census(ctx context.Context, t *series.Table) (out driver.Census, err error) {
	for from := 0; from == 0 || from < len(t.Fields); from += fieldsAtOnce {
		fields := t.Fields[from:min(from+fieldsAtOnce, len(t.Fields))]
		var answer query.Answer
		_, err := d.admin.Query(ctx, d.counting(t, fields), limit.NewOwnSink(&answer))
		if err != nil {
			return driver.Census{}, fmt.Errorf("taking the census of table %s: %w", t.Name, err)
		}
		if len(answer.Rows) == 0 { // without rows it has no first time
			answer.Rows = [][]query.Value{make([]query.Value, 5+5*len(fields))}
		}
		d.decodeCounts(answer.Rows[0], fields, &out)
	}
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Free() {
			if err := d.digest(ctx, t, f.Name, &out.Fields[i]); err != nil {
				return driver.Census{}, fmt.Errorf("reading the texts of %s in table %s: %w", f.Name, t.Name, err)
			}
		}
	}
	return out, nil
}

// CountRows implements driver.DB.
func (d *database) CountRows(ctx context.Context, t *series.Table) (int64, error) {
	rows, err := sqlkit.QueryRows(ctx, d.admin, "SELECT count(*) FROM "+d.qualify(t.Name))
	switch {
	case err != nil:
		return 0, fmt.Errorf("counting the rows of table %s: %w", t.Name, err)
	case len(rows) == 0: // a server may respond so for an empty table
		return 0, nil
	}
	return rows[0][0].Int, nil
}

// digest computes the digest of free texts from the texts themselves.
func (d *database) digest(ctx context.Context, t *series.Table, field string, c *driver.Content) error {
	name := d.design.Ident(field)
	c.Sum = &query.Value{Kind: query.Int}
	_, err := d.admin.Query(ctx, fmt.Sprintf("SELECT %s\nFROM %s\nWHERE %[1]s IS NOT NULL", name, d.qualify(t.Name)), query.SinkFunc(func(row []query.Value) error {
		c.Sum.Int += oracle.TextSum(row[0].Text)
		return nil
	}))
	return err
}

// counting returns the statement that computes the figures of times and fields. The sum of 64-bit
// numbers is computed from their upper and lower halves: otherwise it might overflow.
func (d *database) counting(t *series.Table, fields []series.Field) string {
	ts := d.design.time()
	columns := append([]string{"count(*)", fmt.Sprintf("first(%s)", ts), fmt.Sprintf("last(%s)", ts)}, halves("CAST("+ts+" AS BIGINT)")...)
	for _, f := range fields {
		name := d.design.Ident(f.Name)
		columns = append(columns, "count("+name+")")
		switch f.Type {
		case series.Text, series.Blob:
		case series.Float, series.Float32:
			columns = append(columns, "sum("+name+")", "min("+name+")", "max("+name+")")
		default:
			whole := "CAST(" + name + " AS BIGINT)"
			columns = append(append(columns, halves(whole)...), "min("+whole+")", "max("+whole+")")
		}
	}
	return "SELECT " + strings.Join(columns, ", ") + "\nFROM " + d.qualify(t.Name)
}

func halves(whole string) []string {
	return []string{fmt.Sprintf("sum(CAST((%s & -4294967296) / 4294967296 AS BIGINT))", whole), fmt.Sprintf("sum(%s & 4294967295)", whole)}
}

// decodeCounts decodes the result of counting.
func (d *database) decodeCounts(row []query.Value, fields []series.Field, out *driver.Census) {
	next := func() query.Value {
		v := row[0]
		row = row[1:]
		return v
	}
	sum := func(unit int64) *query.Value {
		high, low := next(), next()
		if low.Kind == query.Null {
			return &low
		}
		return &query.Value{Kind: query.Int, Int: (high.Int<<32 + low.Int) * unit}
	}
	out.Rows = next().Int
	first, last := next(), next()
	out.Times = driver.Content{Min: &first, Max: &last, Sum: sum(int64(d.design.unit))}
	for _, f := range fields {
		c := driver.Content{Count: next().Int}
		if !f.Type.Textual() {
			unit := int64(1)
			if d.design.types[f.Type].As == "TIMESTAMP" {
				unit = int64(d.design.unit)
			}
			if f.Type == series.Float || f.Type == series.Float32 {
				v := next()
				c.Sum = &v
			} else {
				c.Sum = sum(unit)
			}
			least, most := next(), next()
			least.Int, most.Int = least.Int*unit, most.Int*unit
			c.Min, c.Max = &least, &most
		}
		out.Fields = append(out.Fields, c)
	}
}
