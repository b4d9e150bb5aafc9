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

// Names returns the names of all metrics of a server, as returned for a request with the parameters.
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

// FigureName is the name of the series of tsmark's own figures of a table.
const FigureName = metric.Own + "figure"

// figure is an aggregate over all samples.
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

// Census returns the contents of a table, without the times of its rows. It counts samples; if every
// row has a sample of the first field, their number is the number of rows.
func (c *Console) Census(ctx context.Context, l Language, t *series.Table) (driver.Census, error) {
	out := driver.Census{Rows: -1, Fields: make([]driver.Content, len(t.Fields))}
	r := Everything(l, t)
	if r.isNative() {
		return out, c.histograms(ctx, l, r, out.Fields)
	}
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

// histograms counts the samples of a native histogram, and sums their counts and sums. PromQL has no
// figures of the other fields.
func (c *Console) histograms(ctx context.Context, l Language, r *Renderer, fields []driver.Content) error {
	all := r.Samples([]string{series.NativeCount}, r.All())
	n, err := c.Figure(ctx, l, "sum(count_over_time("+all+"))")
	if err != nil {
		return err
	}
	for i, field := range r.Table.Fields {
		fields[i].Count = int64(n.Float)
		if field.Name != series.NativeCount && field.Name != series.NativeSum {
			continue
		}
		v, err := c.Figure(ctx, l, fmt.Sprintf("sum(histogram_%s(sum_over_time(%s)))", field.Name, all))
		if err != nil {
			return err
		}
		fields[i].Sum = &v
	}
	return nil
}

// Times returns the times of a table's rows as queries see them: the last one is unknown if rows of a
// metric may be staleness markers.
func Times(t *series.Table, times driver.Content) driver.Content {
	if t.Metric != nil && !t.Dense {
		times.Max = nil
	}
	return times
}

// CountRows counts the rows of a table by their samples: see driver.CountByField.
func (c *Console) CountRows(ctx context.Context, l Language, t *series.Table) (int64, error) {
	return driver.CountByField(t, func(field string) (int64, error) {
		r := Everything(l, t)
		v, err := c.Figure(ctx, l, "sum(count_over_time("+r.Samples([]string{field}, r.All())+"))")
		return int64(v.Float), err
	})
}

// Figure returns the value of an expression over all samples: one number, or NULL if there are no
// samples.
func (c *Console) Figure(ctx context.Context, l Language, expression string) (query.Value, error) {
	rows, err := c.Rows(ctx, &metric.Plan{At: metric.Latest, Fields: []metric.Field{{Name: FigureName}}, Expression: l.SetName(expression, FigureName)})
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

// single rounds a value of a Float32 to the nearest single.
func single(t series.Type, v *query.Value) {
	if t == series.Float32 {
		v.Float = float64(float32(v.Float))
	}
}

// ListSeries passes the tags of each series with rows in a table to the sink.
func (c *Console) ListSeries(ctx context.Context, l Language, t *series.Table, sink query.Sink) error {
	r := Everything(l, t)
	p := &metric.Plan{At: metric.Latest}
	for i := range t.Tags {
		p.Tags = append(p.Tags, metric.Tag{Label: l.Label(t.Tags[i].Key), Number: t.Tags[i].Numeric()})
	}
	p.Expression = r.Exists(r, AnyOf(t), r.All(), r.Tags())
	return c.Run(ctx, p, sink)
}
