package promql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
)

// evaluate runs a query with one more parameter, and decodes what the server adds to the response. ok is
// false for queries that are not one request.
func (c *Console) evaluate(ctx context.Context, r driver.Request, name, value string, into any) (ok bool, err error) {
	p, ok := r.Plan.(*metric.Plan)
	if !ok || p.Newest {
		return false, nil
	}
	path, form, err := c.api.request(p)
	if err != nil {
		return false, err
	}
	form.Set(name, value)
	answer, err := c.Get(ctx, http.MethodGet, path, form)
	if err == nil {
		err = json.Unmarshal(answer, into)
	}
	if err != nil {
		return false, fmt.Errorf("running a query with %s=%s: %w", name, value, err)
	}
	return true, nil
}

// MeasureReads is the MeasureReads of a database with Prometheus's statistics of queries: the samples
// that the steps of the query loaded.
func (c *Console) MeasureReads(ctx context.Context, r driver.Request) (driver.Read, bool, error) {
	var answer struct {
		Data struct {
			Stats struct {
				Samples struct {
					Total *int64 `json:"totalQueryableSamples"`
				} `json:"samples"`
			} `json:"stats"`
		} `json:"data"`
	}
	ok, err := c.evaluate(ctx, r, "stats", "all", &answer)
	samples := answer.Data.Stats.Samples.Total
	if err != nil || !ok || samples == nil {
		return driver.Read{}, false, err
	}
	return driver.Read{Rows: *samples, Bytes: -1}, true, nil
}

// traced is a node of VictoriaMetrics's trace of a query.
type traced struct {
	Message  string   `json:"message"`
	Children []traced `json:"children"`
}

// Trace is the Explain of a database that traces queries as VictoriaMetrics does: what the server did,
// one step a line, without times.
func (c *Console) Trace(ctx context.Context, r driver.Request) (string, error) {
	var answer struct {
		Trace *traced `json:"trace"`
	}
	ok, err := c.evaluate(ctx, r, "trace", "1", &answer)
	switch {
	case err != nil:
		return "", err
	case !ok || answer.Trace == nil:
		return "", errors.New("the server returned no trace")
	}
	var b strings.Builder
	answer.Trace.write(&b, "")
	return strings.TrimRight(b.String(), "\n"), nil
}

// write writes a node and its children.
func (t *traced) write(b *strings.Builder, indent string) {
	b.WriteString(indent + t.Message + "\n")
	for i := range t.Children {
		t.Children[i].write(b, indent+"  ")
	}
}
