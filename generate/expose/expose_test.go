package expose_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/generate/expose"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

var start = time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)

// two is a dataset of two targets: a counter and an info metric of each, and the scraper's own metric up.
type two struct{ schema *series.Schema }

func (d two) Schema() *series.Schema { return d.schema }
func (d two) Open() workload.Reader  { return &reader{schema: d.schema} }

type perTarget struct {
	first  uint32
	values [2]string
}

func (p perTarget) Append(dst []byte, of uint32) ([]byte, bool) {
	return append(dst, p.values[of-p.first]...), true
}

func newTwo() two {
	s := &series.Schema{}
	for _, m := range []struct {
		name string
		of   series.Metric
	}{
		{"up", series.Metric{Kind: series.Gauge, Family: "up"}},
		{"requests_total", series.Metric{Kind: series.Counter, Family: "requests", Help: "Requests."}},
		{"build_info", series.Metric{Kind: series.Info, Family: "build"}},
	} {
		first := s.Series
		tag := func(key, a, b string) series.Tag {
			return series.Tag{Key: key, Values: perTarget{first, [2]string{a, b}}}
		}
		s.Tables = append(s.Tables, &series.Table{
			Name: m.name, Metric: &m.of, Range: series.Span{First: first, End: first + 2},
			Tags:   []series.Tag{tag("job", "shop", "shop"), tag("instance", "10.0.0.1:80", "10.0.0.2:80"), tag("zone", "a", `b"`)},
			Fields: []series.Field{{Name: series.MetricValue, Type: series.Float}},
		})
		s.Series += 2
	}
	return two{s}
}

// reader returns the samples of four intervals. From the second one on the second target's scrapes fail, and the
// first target has no info.
type reader struct {
	schema *series.Schema
	epoch  int64
}

func (r *reader) Next(b *series.Batch, _ int) error {
	b.Reset()
	if r.epoch == 4 {
		return io.EOF
	}
	for i, t := range r.schema.Tables {
		run := b.Add(t)
		run.Grow(2)
		for row := range 2 {
			run.Series[row], run.Times[row], run.Columns[0].Floats[row] = t.Range.First+uint32(row), start.Add(time.Duration(r.epoch)*time.Minute+time.Second).UnixNano(), float64(r.epoch)+0.5
			if i > 0 && r.epoch > 0 && (row == 1 || i == 2) {
				run.SetNull(0, row)
			}
		}
	}
	r.epoch++
	return nil
}

func get(t *testing.T, e http.Handler, path, accept string) string {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:9464"+path, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w.Result().Status + "\n" + w.Body.String()
}

// A scraper sees the samples of an interval, and a series ends by its absence.
func TestExposition(t *testing.T) {
	e, err := expose.New(newTwo(), start, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	const (
		open  = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2"
		first = `{"targets":["127.0.0.1:9464"],"labels":{"__metrics_path__":"/metrics/0","instance":"10.0.0.1:80","job":"shop"}}`
		both  = "[" + first + `,{"targets":["127.0.0.1:9464"],"labels":{"__metrics_path__":"/metrics/1","instance":"10.0.0.2:80","job":"shop"}}]`
	)
	for epoch, pages := range [][][3]string{
		{
			{"/targets", "", "200 OK\n" + both + "\n"},
			{"/metrics/0", "", "200 OK\n# TYPE requests_total counter\n# HELP requests_total Requests.\nrequests_total{zone=\"a\"} 0.5\n# TYPE build_info gauge\nbuild_info{zone=\"a\"} 0.5\n"},
			{"/metrics/1", open, "200 OK\n# TYPE requests counter\n# HELP requests Requests.\nrequests_total{zone=\"b\\\"\"} 0.5\n# TYPE build info\nbuild_info{zone=\"b\\\"\"} 0.5\n# EOF\n"},
			{"/metrics/2", "", "404 Not Found\nNot Found\n"},
			{"/metrics", "", "404 Not Found\nthe list of targets is at /targets\n"},
		},
		{
			{"/targets", "", "200 OK\n" + both + "\n"},
			{"/metrics/0", "", "200 OK\n# TYPE requests_total counter\n# HELP requests_total Requests.\nrequests_total{zone=\"a\"} 1.5\n"},
			{"/metrics/1", "", "503 Service Unavailable\nService Unavailable\n"},
		},
		{
			{"/targets", "", "200 OK\n[" + first + "]\n"},
			{"/metrics/1", "", "404 Not Found\nNot Found\n"},
		},
	} {
		if err := e.Advance(int64(epoch)); err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			if diff := cmp.Diff(page[2], get(t, e, page[0], page[1])); diff != "" {
				t.Errorf("interval %d, %s (-want +got):\n%s", epoch, page[0], diff)
			}
		}
	}
	if err := e.Advance(3); err != nil {
		t.Error(err)
	}
	if err := e.Advance(4); err != io.EOF {
		t.Errorf("after the last interval: %v", err)
	}
}
