package kairosdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

const answered = `{"queries":[{"sample_size":2,"results":[{"name":"m_a","group_by":[{"name":"tag","tags":["host"],"group":{"host":"h1"}},{"name":"type","type":"number"}],"values":[[1000,1.5],[2000,7]]}]},` +
	`{"sample_size":1,"results":[{"name":"m_b","group_by":[{"name":"tag","tags":["host"],"group":{"host":"h1"}}],"values":[[2000,-1.0E30]]},{"name":"m_b","values":[]}]}]}`

// plan is one of the answer above.
func plan() driver.Request {
	p := metric.Plan{Timed: true, Tags: []metric.Tag{{Label: "host"}}, Fields: []metric.Field{{Name: "m_a"}, {Name: "m_b"}}, Order: query.Ascending, Expression: "{}"}
	return driver.Request{Plan: &p}
}

// An answer is read to its last byte, and one that is cut off anywhere is an error.
func TestAnswers(t *testing.T) {
	text := answered
	d := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	q := conformance.Querier(t, d.db())
	defer conformance.Close(t, q)
	var rows query.Answer
	cost, err := q.Do(t.Context(), plan(), &rows)
	if err != nil || cost.Rows != 2 || cost.Bytes != int64(len(answered)) {
		t.Fatal(cost, err)
	}
	at := func(s int64) query.Value { return query.Value{Kind: query.Time, Int: s * int64(time.Second)} }
	conformance.CheckRows(t, rows.Rows, conformance.Row(at(1), "h1", 1.5, nil), conformance.Row(at(2), "h1", 7.0, -1e30))
	for n := 0; n < len(answered); n += 7 {
		text = answered[:n]
		if _, err := q.Do(t.Context(), plan(), nil); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v", text, err)
		}
	}
	text = `{"status":"ok"}`
	_, err = q.Do(t.Context(), plan(), nil)
	stub.Says(t, err, "querying KairosDB: the answer has no results; is this KairosDB?")
}

// What the server says of a request that failed is one line.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		says   string
	}{
		{http.StatusInternalServerError, `{"errors":["NaN or Infinity:Infinity data point"]}`, "a value or the aggregate is not a number"},
		{http.StatusBadRequest, `{"errors":["a","b\nc"]}`, "a; b c"},
		{http.StatusUnauthorized, `no`, "give the options user and password"},
		{http.StatusNotFound, `<html>`, "<html>"},
	} {
		d := serve(t, stub.Saying(c.status, "", c.body))
		_, err := d.Objects(t.Context())
		stub.Says(t, err, c.says)
	}
}

// TestGreet checks that another server is recognised by its version.
func TestGreet(t *testing.T) {
	for body, ok := range map[string]bool{`{"version": "KairosDB 1.3.0-1"}`: true, `{"version":"2.7"}`: false, `<html>`: false} {
		d := serve(t, stub.Saying(http.StatusOK, "", body))
		if err := d.greet(t.Context()); (err == nil) != ok || !ok && !errors.Is(err, driver.ErrUnreachable) {
			t.Errorf("%s: %v", body, err)
		}
		if ok && d.version != "1.3.0-1" {
			t.Errorf("version %q", d.version)
		}
	}
}

// Where points are queued on the server they are counted until no more appear for ten
// times as long as it keeps its queue.
func TestSettleCounts(t *testing.T) {
	slowtest.Skip(t)
	for queueWait, least := range map[string]time.Duration{"500ms": 5 * time.Second, "100ms": time.Second} {
		t.Run(queueWait, func(t *testing.T) {
			t.Parallel()
			var looks atomic.Int64
			d := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, `{"queries":[{"results":[{"name":"m_a","values":[[1000,%d]]}]}]}`, min(looks.Add(1), 3))
			}, optionDatastore, datastoreCassandra, optionQueueWait, queueWait)
			table := &series.Table{Name: "m", Fields: []series.Field{{Name: "a", Type: series.Float}}, Dense: true}
			if err := d.Create(t.Context(), &series.Schema{Tables: []*series.Table{table}}); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			if err := d.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(begin); looks.Load() < 4 || waited < least || waited > least+6*time.Second || !d.IdleSince().After(begin) {
				t.Errorf("%d looks in %v, idle since %v", looks.Load(), waited, d.IdleSince().Sub(begin))
			}
		})
	}
}

// On Cassandra all times there are go with a metric, which else would never be found again.
func TestDropsAllTimes(t *testing.T) {
	for datastore, want := range map[string]string{
		datastoreH2:        `{"start_absolute":-62135596800000,"end_absolute":253402300799000,`,
		datastoreCassandra: `{"start_absolute":-9223372036854775808,"end_absolute":9223372036854775807,`,
	} {
		var received []byte
		d := serve(t, func(w http.ResponseWriter, r *http.Request) {
			received, _ = io.ReadAll(r.Body)
			w.WriteHeader(http.StatusNoContent)
		}, optionDatastore, datastore)
		if err := d.Drop(t.Context(), []driver.Object{{Kind: "metric", Name: "m_a"}}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(received), want) {
			t.Errorf("%s: received %s, want %s…", datastore, received, want)
		}
	}
}

// Each metric is deleted once, several of Cassandra's at once and one after the other of H2;
// one that the server refuses is named.
func TestDrop(t *testing.T) {
	var objects []driver.Object
	for i := range 20 {
		objects = append(objects, driver.Object{Name: fmt.Sprintf("m_%02d", i)})
	}
	for datastore, least := range map[string]int64{datastoreCassandra: 2, datastoreH2: 1} {
		var mu sync.Mutex
		requests, refused := map[string]int{}, ""
		var now, most atomic.Int64
		d := serve(t, func(w http.ResponseWriter, r *http.Request) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(5 * time.Millisecond)
			var of request
			if err := json.NewDecoder(r.Body).Decode(&of); err != nil || len(of.Metrics) != 1 {
				t.Errorf("%+v, %v", of, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if requests[of.Metrics[0].Name]++; of.Metrics[0].Name == refused {
				http.Error(w, `{"errors":["no"]}`, http.StatusBadRequest)
				return
			}
			w.WriteHeader(http.StatusNoContent)
		}, optionDatastore, datastore)
		if err := d.Drop(t.Context(), objects); err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			if requests[o.Name] != 1 {
				t.Errorf("%s: %s was deleted %d times", datastore, o.Name, requests[o.Name])
			}
		}
		if n := most.Load(); n < least || least == 1 && n != 1 || n > deleters {
			t.Errorf("%s: %d requests at once", datastore, n)
		}
		refused = "m_07"
		if err := d.Drop(t.Context(), objects); err == nil || !strings.Contains(err.Error(), "deleting the metric m_07 of ") {
			t.Errorf("%s: %v", datastore, err)
		}
	}
}

// TestTags checks that only Cassandra is queried for series that have a tag, and that quotes are
// doubled for H2.
func TestTags(t *testing.T) {
	lacking := conformance.Names{"o'brien", conformance.Missing}
	table := &series.Table{Name: "m", Tags: []series.Tag{{Key: "host", Values: lacking}, {Key: "rack", Values: series.Numbered{}}}, Fields: []series.Field{{Name: "a", Type: series.Float}}, Dense: true}
	schema := &series.Schema{Tables: []*series.Table{table}, Series: 2}
	totals := func(present string, in ...string) *query.Query {
		q := &query.Query{Type: "q", Table: "m", Shape: query.Totals{Aggregate: query.Max, Fields: []string{"a"}, GroupBy: "rack"}, Present: []string{present}}
		if in != nil {
			q.In = &query.TagIn{Key: "host", Values: in}
		}
		return q
	}
	for _, c := range []struct {
		q         *query.Query
		datastore string
		has       string // empty: it is n/a
	}{
		{totals("rack"), datastoreH2, `[{"name":"m_a","group_by"`},
		{totals("host"), datastoreH2, ""},
		{totals("host"), datastoreCassandra, `"tags":{"host":["regex:.+"]}`},
		{totals("rack", "o'brien", ""), datastoreH2, `"tags":{"host":["o''brien"]}`},
		{totals("rack", "o'brien"), datastoreCassandra, `"tags":{"host":["o'brien"]}`},
		{totals("rack", ""), datastoreH2, `"tags":{"host":["tsmark_none"]}`},
		{totals("rack", "regex:a"), datastoreH2, ""},
	} {
		r, err := render(c.q, schema, driver.Options{optionDatastore: c.datastore})
		if text := r.Text; (c.has == "") != errors.Is(err, query.ErrUnsupported) || !strings.Contains(strings.ReplaceAll(text, "\\u0026", "&"), c.has) {
			t.Errorf("%+v, %s: %s, %v", c.q, c.datastore, text, err)
		}
	}
}
