package promql

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Names are those of all metrics of a server, in the answer to a request with the
// parameters.
func (c *Console) Names(ctx context.Context, parameters url.Values) ([]string, error) {
	answer, err := c.Get(ctx, http.MethodGet, c.api.Prefix+"/api/v1/label/__name__/values", parameters)
	if err != nil {
		return nil, err
	}
	var list struct {
		Status string
		Data   []string
	}
	if err := json.Unmarshal(answer, &list); err != nil || list.Status != "success" {
		return nil, fmt.Errorf("its list of metrics cannot be read: %.100q", answer)
	}
	return list.Data, nil
}

// FigureName is the name of the series that tsmark's own figures of a table are.
const FigureName = metric.Own + "figure"

// figure is what a system computes of all samples.
type figure struct {
	across, each string // functions over series, and over the samples of each
	put          func(*driver.Content, query.Value)
}

func figures() []figure {
	return []figure{
		{"sum", "count_over_time", func(c *driver.Content, v query.Value) { c.Count = int64(v.Float) }},
		{"sum", "sum_over_time", func(c *driver.Content, v query.Value) { c.Sum = &v }},
		{"min", "min_over_time", func(c *driver.Content, v query.Value) { c.Min = &v }},
		{"max", "max_over_time", func(c *driver.Content, v query.Value) { c.Max = &v }},
	}
}

// Census tells what a table holds, but the times of its rows. Samples are counted;
// where every row has one of the first field, that is the number of rows.
func (c *Console) Census(ctx context.Context, l Language, t *series.Table) (driver.Census, error) {
	out := driver.Census{Rows: -1, Fields: make([]driver.Content, len(t.Fields))}
	r := Everything(l, t)
	for i, field := range t.Fields {
		for _, f := range figures() {
			v, err := c.Figure(ctx, l, fmt.Sprintf("%s(%s(%s))", f.across, f.each, r.Samples([]string{field.Name}, r.All())))
			if err != nil {
				return out, err
			}
			f.put(&out.Fields[i], v)
		}
		single(field.Type, out.Fields[i].Min)
		single(field.Type, out.Fields[i].Max)
	}
	if t.EachRowHas(t.Fields[0].Name) {
		out.Rows = out.Fields[0].Count
	}
	return out, nil
}

// CountRows counts the rows of a table by their samples: see driver.CountByField.
func (c *Console) CountRows(ctx context.Context, l Language, t *series.Table) (int64, error) {
	return driver.CountByField(t, func(field string) (int64, error) {
		r := Everything(l, t)
		v, err := c.Figure(ctx, l, "sum(count_over_time("+r.Samples([]string{field}, r.All())+"))")
		return int64(v.Float), err
	})
}

// Figure returns what an expression about all samples gives: one number, or NULL
// where there are no samples.
func (c *Console) Figure(ctx context.Context, l Language, expression string) (query.Value, error) {
	rows, err := c.Rows(ctx, &metric.Plan{At: metric.Latest, Fields: []metric.Field{{Name: FigureName}}, Expression: l.Named(expression, FigureName)})
	switch {
	case err != nil:
		return query.Value{}, err
	case len(rows) == 0:
		return query.Value{}, nil
	case len(rows) > 1:
		return query.Value{}, fmt.Errorf("expected one figure, found %d", len(rows))
	}
	return rows[0][0], nil
}

// single makes a value of a Float32 the single nearest to it.
func single(t series.Type, v *query.Value) {
	if t == series.Float32 {
		v.Float = float64(float32(v.Float))
	}
}

// ListSeries gives the sink the tags of each series that has rows in a table.
func (c *Console) ListSeries(ctx context.Context, l Language, t *series.Table, sink query.Sink) error {
	r := Everything(l, t)
	p := &metric.Plan{At: metric.Latest}
	for i := range t.Tags {
		p.Tags = append(p.Tags, metric.Tag{Label: l.Label(t.Tags[i].Key), Number: t.Tags[i].Numeric()})
	}
	p.Expression = r.Exists(r, metric.AnyOf(t), r.All(), r.Tags())
	return c.Run(ctx, p, sink)
}
