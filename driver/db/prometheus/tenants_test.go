package prometheus

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/prompb"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/driver/kit/promql"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// samplesOf are the series of a stub by their tenants, as label sets in JSON, with a value each.
type samplesOf struct {
	mu     sync.Mutex
	series map[string]map[string]float64
}

// push takes a request of remote write.
func (s *samplesOf) push(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		body, err = s2.Decode(nil, body)
	}
	var request prompb.WriteRequest
	if err == nil {
		err = request.Unmarshal(body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	tenant := r.Header.Get("X-Tenant")
	if s.series[tenant] == nil {
		s.series[tenant] = map[string]float64{}
	}
	for _, series := range request.Timeseries {
		var labels []string
		for _, l := range series.Labels {
			labels = append(labels, fmt.Sprintf("%q:%q", l.Name, l.Value))
		}
		s.series[tenant]["{"+strings.Join(labels, ",")+"}"] = series.Samples[0].Value
	}
}

// query answers with all series of the note's metric.
func (s *samplesOf) query(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []string
	for labels, value := range s.series[r.Header.Get("X-Tenant")] {
		if strings.Contains(labels, metric.Note) {
			found = append(found, fmt.Sprintf(`{"metric":%s,"values":[[1,"%g"]]}`, labels, value))
		}
	}
	fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[%s]}}`, strings.Join(found, ","))
}

// names lists the metrics.
func (s *samplesOf) names(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for labels := range s.series[r.Header.Get("X-Tenant")] {
		_, rest, _ := strings.Cut(labels, `"__name__":`)
		name, _, _ := strings.Cut(rest[1:], `"`)
		if quoted := fmt.Sprintf("%q", name); !slices.Contains(names, quoted) {
			names = append(names, quoted)
		}
	}
	fmt.Fprintf(w, `{"status":"success","data":[%s]}`, strings.Join(names, ","))
}

// After each drop, rows have a new tenant, which another connection finds, and which begins with a sample of
// tsmark's own. The note stays unless it is dropped too.
func TestTenants(t *testing.T) {
	s := samplesOf{series: map[string]map[string]float64{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/p/api/v1/status/buildinfo", stub.Saying(http.StatusOK, "", `{"status":"success","data":{"application":"Grafana Stub","version":"1"}}`))
	mux.HandleFunc("/push", s.push)
	mux.HandleFunc("/p/api/v1/query", s.query)
	mux.HandleFunc("/p/api/v1/label/__name__/values", s.names)
	host, port := stub.HTTP(t, mux.ServeHTTP)
	v := Variant{Name: "stub", System: "Stub", Help: "a stub", Prefix: "/p", Port: port, Protocols: []string{metric.RemoteWrite1}, Push: []string{"/push"}, Header: "X-Tenant", TenantLabel: "tenant", Begins: true, Greet: func(ctx context.Context, get Get) (Server, error) {
		application, version, err := ReadBuild(ctx, get, "/api/v1/status/buildinfo")
		if application != "Grafana Stub" {
			err = promql.ErrNotFound
		}
		return Server{Version: version}, err
	}}
	open := func() driver.DB {
		options := conformance.Options(t, NewVariant(v), connection.Host, host)
		db, err := v.open(t.Context(), driver.Env{Create: true}, options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conformance.Close(t, db) })
		return db
	}
	table := conformance.Table("usage")
	schema, b := late()
	tenants := func() []string {
		s.mu.Lock()
		defer s.mu.Unlock()
		var names []string
		for name := range s.series {
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	for round, want := range []string{"tsmark tsmark-mark", "tsmark tsmark-2 tsmark-mark", "tsmark tsmark-2 tsmark-3 tsmark-mark"} {
		db := open()
		if err := session.New(db).Prepare(t.Context(), schema, session.Mark{}); err != nil {
			t.Fatal(err)
		}
		conformance.Write(t, db, b)
		if found := strings.Join(tenants(), " "); found != want {
			t.Errorf("round %d: tenants %s, want %s", round, found, want)
		}
		current := strings.Fields(want)[round]
		s.mu.Lock()
		if _, precedes := s.series[current][`{"__name__":"tsmark_mark_text","tsmark_head":"here"}`]; !precedes {
			t.Errorf("round %d: no sample precedes rows: %v", round, s.series[current])
		}
		s.mu.Unlock()
		own, err := session.New(open()).OwnObjects(t.Context())
		if err != nil || len(own) == 0 {
			t.Errorf("round %d: %v, %v", round, own, err)
		}
	}
	db := open()
	s.mu.Lock()
	s.series["tsmark-3"][`{"__name__":"theirs"}`] = 1
	s.mu.Unlock()
	all, err := db.Objects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own := slices.DeleteFunc(slices.Clone(all), func(o driver.Object) bool { return o.Name == "theirs" })
	stub.Says(t, db.Drop(t.Context(), own), "Stub deletes no metrics, and tenant tsmark-3", "also has metric theirs: give another tenant")
	if err := db.Drop(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if left, err := open().Objects(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	conformance.Prepare(t, open(), 3, table)
}

// A window whose last millisecond a server would lose when it adds the tenant is not replaced by a shorter one.
func TestLongRanges(t *testing.T) {
	v := Variant{System: "Stub", TenantLabel: "tenant", Port: "1", Protocols: []string{metric.RemoteWrite1}}
	schema := &series.Schema{Tables: []*series.Table{conformance.Table("usage")}, Series: 3}
	start := time.Unix(2_817_000, 0)
	for _, c := range []struct {
		end  time.Time
		says string
	}{{start.Add(time.Hour + time.Millisecond), ""}, {start.Add(1000 * time.Hour), ""}, {start.Add(400_000*time.Hour + time.Millisecond), "its window of 16666 days becomes a millisecond shorter"}} {
		q := query.Query{Type: "q", Table: "cpu", Shape: query.Rows{Fields: []string{"usage"}}, Start: start, End: c.end}
		_, err := v.render(&q, schema, conformance.Options(t, NewVariant(v)))
		if c.says != "" {
			stub.Says(t, err, c.says)
		} else if err != nil {
			t.Errorf("%v: %v", c.end, err)
		}
	}
}
