package tdengine

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
)

// The names of the tables of a join.
const (
	left  = "a"
	right = "b"
)

// column returns a column of the query's table in conditions.
func (r *renderer) column(name string) string {
	if r.joined {
		return left + "." + r.Ident(name)
	}
	return r.Ident(name)
}

// ticks renders the shapes of ticks. Their texts are written from the manual: no server has answered them yet.
func (r *renderer) ticks() (string, error) {
	double := func(field string) string { return r.number(query.Sum, field) }
	switch s := r.q.Shape.(type) {
	case query.Candles:
		price, by := r.Ident(s.Price), r.Ident(s.By)
		return r.selectRows("_wstart", by, "first("+price+")", "max("+price+")", "min("+price+")", "last("+price+")", "sum("+double(s.Size)+")") +
			r.partition([]string{by}, s.Width), nil
	case query.Weighted: // a quotient by 0 is NULL
		by, weight := r.Ident(s.By), double(s.Weight)
		return r.selectRows("_wstart", by, fmt.Sprintf("sum(%s * %s) / sum(%[2]s)", r.Ident(s.Value), weight)) + r.partition([]string{by}, s.Width), nil
	case query.Movers:
		by, value := r.Ident(s.By), r.Ident(s.Field)
		return fmt.Sprintf("SELECT %s, closing / opening - 1 AS moved\nFROM (\n%s\nGROUP BY %[1]s\n)\nWHERE opening <> 0\nORDER BY moved DESC, %[1]s\nLIMIT %[3]d",
			by, r.selectRows(by, "first("+value+") AS opening", "last("+value+") AS closing"), s.Top), nil
	case query.Gaps:
		by, time := r.Ident(s.By), r.time()
		return fmt.Sprintf("SELECT CAST(CAST(%s AS BIGINT) - length AS TIMESTAMP), %s, %[1]s\nFROM (\n%[3]s\nPARTITION BY %[2]s\n)\nWHERE length > %[4]d",
			time, by, r.selectRows(time, by, "diff(CAST("+time+" AS BIGINT)) AS length"), s.Longer/r.unit), nil
	case query.Profile:
		second := int64(time.Second / r.unit)
		return fmt.Sprintf("SELECT second, sum(part)\nFROM (\nSELECT CAST(begins AS BIGINT) %% %d / %d AS second, part\nFROM (\n%s%s\n)\n)\nGROUP BY second",
			24*60*60*second, second, r.selectRows("_wstart AS begins", "sum("+double(s.Field)+") AS part"), r.partition(nil, s.Width)), nil
	case query.AsOf:
		return r.asOf(s), nil
	case query.Around:
		difference := right + "." + r.Ident(s.Field)
		if s.Minus != "" {
			difference += " - " + right + "." + r.Ident(s.Minus)
		}
		return r.join(s.By, s.Fields, []string{"avg(" + difference + ")"}, fmt.Sprintf("LEFT WINDOW JOIN %s %s ON %s\nWINDOW_OFFSET(-%s, %s)",
			r.Ident(s.Right), right, r.sameSeries(s.By), r.width(s.Before.Truncate(r.unit)), r.width(s.After.Truncate(r.unit)))), nil
	}
	return "", fmt.Errorf("%w: from a row, it looks to the one before it alone", r.q.RefuseTicks("TDengine SQL"))
}

// asOf renders the AsOf shape.
func (r *renderer) asOf(s query.AsOf) string {
	values := make([]string, len(s.RightFields))
	for i, f := range s.RightFields {
		if values[i] = right + "." + r.Ident(f); s.Tolerance > 0 {
			values[i] = fmt.Sprintf("CASE WHEN CAST(%s.%s AS BIGINT) - CAST(%s.%[2]s AS BIGINT) <= %[4]d THEN %[5]s END", left, r.time(), right, s.Tolerance/r.unit, values[i])
		}
	}
	return r.join(s.By, s.Fields, values, fmt.Sprintf("LEFT ASOF JOIN %s %s ON %s.%s >= %[2]s.%[4]s AND %[5]s", r.Ident(s.Right), right, left, r.time(), r.sameSeries(s.By)))
}

// join renders a join of the query's rows: fields, and values of the other table.
func (r *renderer) join(by string, fields, values []string, with string) string {
	r.joined = true
	columns := []string{r.column(r.TimeName), r.column(by)}
	for _, f := range fields {
		columns = append(columns, r.column(f))
	}
	return "SELECT " + strings.Join(append(columns, values...), ", ") + "\nFROM " + r.Ident(r.q.Table) + " " + left + "\n" + with + r.conditions()
}

func (r *renderer) sameSeries(by string) string {
	return fmt.Sprintf("%s.%s = %s.%[2]s", left, r.Ident(by), right)
}
