package influxdb

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// serve returns the options that lead to a server that answers by the function.
func serve(t testing.TB, answer http.HandlerFunc, set ...string) map[string]string {
	t.Helper()
	host, port := stub.HTTP(t, answer)
	options := map[string]string{connection.Host: host, connection.Port: port}
	for i := 0; i < len(set); i += 2 {
		options[set[i]] = set[i+1]
	}
	return options
}

// settingsOf resolves options.
func settingsOf(t testing.TB, options map[string]string) *settings {
	t.Helper()
	d := Driver()
	resolved, err := d.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSettings(resolved, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// prepareDatabase is a database for five rows, which the batch has.
func prepareDatabase(t testing.TB, options map[string]string) (*database, *series.Batch) {
	t.Helper()
	s := settingsOf(t, options)
	table := conformance.Table("usage")
	schema := &series.Schema{Tables: []*series.Table{table}, Series: 3}
	var b series.Batch
	conformance.Fill(b.Add(table), 5, 0, 3)
	d := newDatabase(s)
	d.Prepare(s.lines().New(schema), schema)
	return d, &b
}

func TestOpenFails(t *testing.T) {
	version := func(v string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Influxdb-Version", v)
			if r.URL.Path == "/query" {
				stub.Saying(http.StatusUnauthorized, "", `{"error":"authorization failed"}`)(w, r)
			}
		}
	}
	for name, test := range map[string]struct {
		options     map[string]string
		says        string
		unreachable bool
	}{
		"another server": {serve(t, stub.Saying(200, "", "hello")), "what answers there is not InfluxDB", true},
		"version 2":      {serve(t, version("v2.7.1")), "is InfluxDB v2.7.1, and tsmark speaks to 1.x", true},
		"wrong password": {serve(t, version("1.8.10"), connection.User, "joe", connection.Password, stub.Secret), "it does not take these credentials", false},
		"no user":        {serve(t, version("1.8.10"), connection.Password, stub.Secret), "give the option user as well", false},
		"no TLS":         {serve(t, version("1.8.10"), connection.TLS, "on"), "the server does not speak TLS; give tls=off", true},
		"silence": {serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, connection.Timeout, "20ms"),
			"it accepted the connection and did not answer within 20ms", true},
	} {
		t.Run(name, func(t *testing.T) {
			d := Driver()
			options, err := d.Resolve(test.options)
			if err != nil {
				t.Fatal(err)
			}
			_, err = open(t.Context(), driver.Env{Create: true}, options)
			stub.Says(t, err, test.says)
			if errors.Is(err, driver.ErrUnreachable) != test.unreachable {
				t.Errorf("error %v: unreachable %v, want %v", err, !test.unreachable, test.unreachable)
			}
		})
	}
}

func TestWriteFails(t *testing.T) {
	stub.WriteFails(t, map[string]stub.Write{
		"types": {Answer: stub.Saying(400, "", `{"error":"partial write: field type conflict: input field \"usage\" on measurement \"cpu\" is type float, already exists as type integer dropped=5"}`),
			Says: "already exists as type integer dropped=5; a field was written with another type before; load into an empty database"},
		"series":       {Answer: stub.Saying(400, "", `{"error":"partial write: max-series-per-database limit exceeded: (1000000) dropped=5"}`), Says: "(1000000) dropped=5; raise it in the server's configuration"},
		"no database":  {Answer: stub.Saying(404, "", `{"error":"database not found: \"x\""}`), Says: `database not found: "x"; load it first`},
		"not allowed":  {Answer: stub.Saying(403, "", `{"error":"\"joe\" user is not authorized to write to database \"x\""}`), Says: "give a user with all privileges"},
		"too large":    {Answer: stub.Saying(413, "", `{"error":"Request Entity Too Large"}`), Says: "lower --batch-size"},
		"memory":       {Answer: stub.Saying(500, "", `{"error":"engine: cache-max-memory-size exceeded: (9/8)"}`), Says: "load with fewer workers", Want: &driver.Temporary{}},
		"slow":         {Answer: stub.Saying(500, "", `{"error":"timeout"}`), Says: "timeout", Want: &driver.Temporary{}},
		"it is broken": {Answer: stub.Saying(500, "", `{"error":"engine is closed"}`), Says: "engine is closed"},
	}, func(t *testing.T, host, port, timeout string) (driver.Writer, *series.Batch) {
		d, batch := prepareDatabase(t, map[string]string{connection.Host: host, connection.Port: port, connection.Timeout: cmp.Or(timeout, "60s"), connection.User: "joe", connection.Password: stub.Secret})
		return conformance.Writer(t, d.db()), batch
	})
}

// TestWrite checks that requests are sent as the options say.
func TestWrite(t *testing.T) {
	var body, address string
	handler := func(w http.ResponseWriter, r *http.Request) {
		var from io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			from = unpacked
		}
		text, err := io.ReadAll(from)
		if err != nil {
			t.Error(err)
		}
		body, address = string(text), r.URL.String()
		w.WriteHeader(http.StatusNoContent)
	}
	for name, test := range map[string]struct{ options, address, second string }{
		"as it is":   {"", "/write?db=tsmark&precision=ns", "cpu,hostname=host_1,region=eu usage=1i 1000"},
		"compressed": {"gzip=on,consistency=all", "/write?consistency=all&db=tsmark&precision=ns", "cpu,hostname=host_1,region=eu usage=1i 1000"},
		"by policy":  {"retention_policy=a b", "/write?db=tsmark&precision=ns&rp=a+b", "cpu,hostname=host_1,region=eu usage=1i 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			options := serve(t, handler)
			for pair := range strings.SplitSeq(test.options, ",") {
				if name, value, ok := strings.Cut(pair, "="); ok {
					options[name] = value
				}
			}
			d, batch := prepareDatabase(t, options)
			w := conformance.Writer(t, d.db())
			defer conformance.Close(t, w)
			receipt, err := w.Write(t.Context(), batch)
			if err != nil || receipt.Rows != 5 || receipt.WireBytes != int64(len(body)) || receipt.Acked.Before(receipt.Sent) {
				t.Errorf("%+v, %v", receipt, err)
			}
			if got := strings.Split(body, "\n"); address != test.address || len(got) != 6 || got[1] != test.second {
				t.Errorf("to %s: %q", address, got)
			}
		})
	}
}

// A canceled query ends with its context, whatever the server does.
func TestContextEndsAQuery(t *testing.T) {
	s := settingsOf(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"results":[{"series":[{"name":"cpu","columns":["time","x"],"values":[[1,2]`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := influx.NewQuerier(s.endpoint()).Do(ctx, driver.Request{Text: "SELECT 1"}, nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestAnswers checks that results are decoded exactly, however they are split into reads, and that a
// truncated one is an error.
func TestAnswers(t *testing.T) {
	const begin = `{"results":[{"statement_id":0,"series":[{"name":"cpu","tags":{"dc":"","host":"a\"b"},"columns":["time","tsmark_n","x"],"values":[`
	for name, test := range map[string]struct {
		body    string
		chunked bool
		rows    string // or an error
	}{
		"values": {begin + `[-5,1,9223372036854775807],[6,null,-9223372036854775808],[7,2,5e-324],[8,3,123456789012345678901],[9,4,null],[10,0,true]]}]}]}`, false,
			`1969-12-31T23:59:59.999999995Z, NULL, a"b, 9223372036854775807; 1970-01-01T00:00:00.000000006Z, NULL, a"b, -9223372036854775808; ` +
				`1970-01-01T00:00:00.000000007Z, NULL, a"b, 5e-324; 1970-01-01T00:00:00.000000008Z, NULL, a"b, 1.2345678901234568e+20; ` +
				`1970-01-01T00:00:00.000000009Z, NULL, a"b, NULL; 1970-01-01T00:00:00.00000001Z, NULL, a"b, 1; `},
		"no time": {`{"results":[{"series":[{"tags":{"a":"1"},"columns":["tsmark_time","x"],"values":[[0,1.5]]},{"columns":["tsmark_time","x"],"values":[[0,2]]}]}]}`, false, "1, 1.5; 2; "},
		"counts":  {`{"results":[{"series":[{"columns":["time","tsmark_zero_count_x","y"],"values":[[0,null,null],[1,2,null]]}]}]}`, false, "1970-01-01T00:00:00Z, 0, NULL; 1970-01-01T00:00:00.000000001Z, 2, NULL; "},
		"nothing": {`{"results":[{"statement_id":0}]}`, false, ""},
		"chunks": {begin + `[1,0,1]],"partial":true}],"partial":true}]}` + "\n" + begin + `[2,0,2]]}]}]}` + "\n", true,
			`1970-01-01T00:00:00.000000001Z, NULL, a"b, 1; 1970-01-01T00:00:00.000000002Z, NULL, a"b, 2; `},
		"a chunk missing":      {begin + `[1,0,1]],"partial":true}],"partial":true}]}` + "\n", true, "the answer was cut off after 1 rows"},
		"half a chunk":         {begin + `[1,0,1]],"partial":true}],"partial":true}]}` + "\n" + begin, true, "the answer was cut off after 1 rows"},
		"cut off":              {begin + `[1,0,1],[2,`, false, "the answer was cut off"},
		"empty":                {"", false, "the answer was cut off after 0 rows"},
		"the server's limit":   {begin + `[1,0,1]],"partial":true}]}]}`, false, "is marked as partial"},
		"an error":             {`{"results":[{"statement_id":0,"error":"timeout:\nquery-timeout limit exceeded"}]}`, false, "timeout: query-timeout limit exceeded; raise it in the server's configuration"},
		"an error behind rows": {begin + `[1,0,1]]}]},{"error":"shard closed"}]}`, false, "shard closed"},
		"an error of all":      {`{"error":"engine is closed"}`, false, "engine is closed"},
		"too few values":       {begin + `[1,0]]}]}]}`, false, "2 values in 3 columns"},
		"too many values":      {begin + `[1,0,1,1]]}]}]}`, false, "more values than there are columns"},
		"something else":       {`[1]`, false, "is this InfluxDB?"},
		"a page":               {`<html>`, false, "invalid character"},
		"a number beyond all":  {begin + `[1,0,1e999]]}]}]}`, false, "1e999: out of range"},
		"an invalid value":     {begin + `[1,0,{}]]}]}]}`, false, "an array or object for a value"},
	} {
		t.Run(name, func(t *testing.T) {
			options := serve(t, stub.Saying(200, "", test.body), optionChunked, off)
			if test.chunked {
				options[optionChunked] = "1"
			}
			var got strings.Builder
			cost, err := influx.NewQuerier(settingsOf(t, options).endpoint()).Do(t.Context(), driver.Request{Text: "SELECT 1"}, query.SinkFunc(func(row []query.Value) error {
				for i, v := range row {
					if i > 0 {
						got.WriteString(", ")
					}
					got.WriteString(v.String())
				}
				got.WriteString("; ")
				return nil
			}))
			if err != nil {
				stub.Says(t, err, test.rows)
				return
			}
			if got.String() != test.rows || cost.Bytes != int64(len(test.body)) {
				t.Errorf("got  %s\nwant %s\n%+v", got.String(), test.rows, cost)
			}
		})
	}
}

// Whatever a server answers, it is read or refused.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(manyRows(2)), true)
	f.Add([]byte(`{"results":[{"series":[{"tags":{"a":""},"columns":["tsmark_n","x"],"values":[[{"a":"b,]"},"\""],[1]],"partial":true}]}]}`), false)
	q := influx.NewQuerier(settingsOf(f, nil).endpoint())
	f.Fuzz(func(_ *testing.T, text []byte, drained bool) {
		var sink query.Sink = new(query.Answer)
		if drained {
			sink = nil
		}
		_, _ = q.Read(bytes.NewReader(text), sink, q.Answer)
	})
}
