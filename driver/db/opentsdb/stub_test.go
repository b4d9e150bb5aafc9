package opentsdb

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/query"
)

const answered = `[{"metric":"m_a","tags":{"host":"eu/20west","rack":"1"},"aggregateTags":[],"dps":[[1000,1.5],[2000,7]]},` +
	`{"metric":"m_b","tags":{"host":"eu/20west"},"aggregateTags":["rack"],"dps":[[2000,-1.0E30]]},{"metric":"m_b","tags":{},"aggregateTags":[],"dps":[]}]`

// plan is one of the answer above.
func plan() driver.Request {
	p := metric.Plan{Timed: true, Tags: []metric.Tag{{Label: "host"}}, Fields: []metric.Field{{Name: "m_a"}, {Name: "m_b"}}, Order: query.Ascending, Expression: "{}"}
	return driver.Request{Plan: &p}
}

// TestAnswers checks that a response is read to its last byte, and that one truncated at any byte is an
// error. A tag that is not in a group does not distinguish rows.
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
	conformance.CheckRows(t, rows.Rows, conformance.Row(at(1), "eu west", 1.5, nil), conformance.Row(at(2), "eu west", 7.0, -1e30))
	for n := 0; n < len(answered); n += 7 {
		text = answered[:n]
		if _, err := q.Do(t.Context(), plan(), nil); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v", text, err)
		}
	}
	// Where a metric is a table, a tag names the field; the table may be named like a field.
	text = strings.NewReplacer(`"m_a","tags":{`, `"m_b","tags":{"tsmark_field":"m_a",`, `"m_b","tags":{"host`, `"m_b","tags":{"tsmark_field":"m_b","host`).Replace(answered)
	d.settings.layout = metricTable
	byTag := conformance.Querier(t, d.db())
	defer conformance.Close(t, byTag)
	rows.Rows = nil
	if _, err := byTag.Do(t.Context(), plan(), &rows); err != nil {
		t.Fatal(err)
	}
	conformance.CheckRows(t, rows.Rows, conformance.Row(at(1), "eu west", 1.5, nil), conformance.Row(at(2), "eu west", 7.0, -1e30))
	text = `{"status":"ok"}`
	_, err = q.Do(t.Context(), plan(), nil)
	stub.Says(t, err, "querying OpenTSDB: ", "is this OpenTSDB?")
}

// The newest rows are looked for since the earliest of the series' newest hours.
func TestNewest(t *testing.T) {
	var starts []int64
	d := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var of request
		if err := json.NewDecoder(r.Body).Decode(&of); err != nil {
			t.Error(err)
		}
		if starts = append(starts, of.Start); len(starts) == 1 {
			_, _ = io.WriteString(w, `[{"metric":"m_a","tags":{"host":"a"},"dps":[[3600000,1],[7200000,1]]},{"metric":"m_a","tags":{"host":"b"},"dps":[[10800000,1]]}]`)
			return
		}
		_, _ = io.WriteString(w, `[{"metric":"m_a","tags":{"host":"a"},"dps":[[7200000,4],[7200001,5]]},{"metric":"m_a","tags":{"host":"b"},"dps":[[10800000,6]]}]`)
	})
	q := conformance.Querier(t, d.db())
	defer conformance.Close(t, q)
	p := metric.Plan{Newest: true, One: true, Timed: true, Tags: []metric.Tag{{Label: "host"}}, Fields: []metric.Field{{Name: "m_a"}}, Order: query.Ascending,
		Expression: `{"start":1,"end":14399999}` + "\n" + `{"start":1,"end":14399999}`}
	var rows query.Answer
	if _, err := q.Do(t.Context(), driver.Request{Plan: &p}, &rows); err != nil {
		t.Fatal(err)
	}
	if len(starts) != 2 || starts[1] != 7200000 {
		t.Errorf("the requests began at %v", starts)
	}
	if len(rows.Rows) != 2 || rows.Rows[0][2].Float+rows.Rows[1][2].Float != 11 {
		t.Errorf("%v", rows.Rows)
	}
}

// What the server says of a request that failed is one line.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		says   string
	}{
		{http.StatusBadRequest, `{"error":{"code":400,"message":"No such name for 'tagv': 'h'","trace":"x\ny"}}`, "set tsd.query.skip_unresolved_tagvs = true"},
		{http.StatusBadRequest, `{"error":{"message":"a\nb"}}`, "a b"},
		{http.StatusUnauthorized, `no`, "give the options user and password"},
		{http.StatusNotFound, `<html>`, "<html>"},
	} {
		d := serve(t, stub.Saying(c.status, "", c.body))
		_, err := d.Objects(t.Context())
		stub.Says(t, err, c.says)
	}
}

// Points that were not stored are told, whatever the status.
func TestLostPoints(t *testing.T) {
	schema, b := conformance.CPURows(t)
	for _, c := range []struct {
		status int
		body   string
		says   string
	}{
		{http.StatusOK, `{"success":9,"failed":1,"errors":[{"error":"Storage exception: gone"}]}`, "1 of the batch's points were not stored: Storage exception: gone"},
		{http.StatusBadRequest, `{"success":0,"failed":10,"errors":[{"error":"Too many tags: 10 maximum allowed: 8"}]}`, "set tsd.storage.max_tags"},
		{http.StatusOK, `hello`, "is this OpenTSDB?"},
	} {
		d := serve(t, stub.Saying(c.status, "", c.body))
		d.Prepare(d.settings.points(schema), schema)
		w := conformance.Writer(t, d.db())
		receipt, err := w.Write(t.Context(), b)
		stub.Says(t, err, c.says)
		if receipt.Rows != 0 {
			t.Errorf("%d rows were accepted", receipt.Rows)
		}
		conformance.Close(t, w)
	}
}

// TestGreet checks that another server is recognised by its version, and a server with unsuitable
// settings by these.
func TestGreet(t *testing.T) {
	for body, ok := range map[string]bool{`{"version":"2.4.1","short_revision":"a"}`: true, `{"version":"2.7"}`: false, `<html>`: false} {
		d := serve(t, stub.Saying(http.StatusOK, "", body))
		if err := d.greet(t.Context()); (err == nil) != ok || !ok && !errors.Is(err, driver.ErrUnreachable) {
			t.Errorf("%s: %v", body, err)
		}
		if ok {
			stub.Says(t, d.Inspect(t.Context()), "tsd.http.request.enable_chunked", "set it to true in opentsdb.conf")
		}
	}
}

// Names are told apart, and read back.
func TestNames(t *testing.T) {
	for text_, want := range map[string]string{
		"host_0": "host_0", "eu west": "eu/20west", "a/20b": "a/2f20b", "é": "/c3/a9", "🙂": "/f0/9f/99/82", "\xff": "/ff", "\uFFFD": "/ef/bf/bd", "": "",
	} {
		if got := name(text_); got != want || text(got) != text_ {
			t.Errorf("%q is %q, and read %q", text_, got, text(got))
		}
	}
	for _, other := range []string{"a/", "/zz", "/2"} { // others' names
		if got := text(other); got != other {
			t.Errorf("%q is read as %q", other, got)
		}
	}
}
