package influxdb2

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// settingsOf resolves options.
func settingsOf(t testing.TB, set map[string]string) *settings {
	t.Helper()
	d := Driver()
	options, err := d.Resolve(set)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSettings(options, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serve returns the options that lead to a server that answers by the function.
func serve(t testing.TB, answer http.HandlerFunc) map[string]string {
	t.Helper()
	host, port := stub.HTTP(t, answer)
	return map[string]string{connection.Host: host, connection.Port: port, optionOrg: "o", optionToken: stub.Secret}
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
	d.Prepare(influx.Lines().New(schema), schema)
	return d, &b
}

func TestWriteFails(t *testing.T) {
	stub.WriteFails(t, map[string]stub.Write{
		"types": {Answer: stub.Saying(422, "", `{"code":"unprocessable entity","message":"failure writing points to database: partial write: field type conflict: input field \"usage\" on measurement \"cpu\" is type float, already exists as type integer dropped=5"}`),
			Says: "already exists as type integer dropped=5; a field was written with another type before; load into an empty database"},
		"no bucket":    {Answer: stub.Saying(404, "", `{"code":"not found","message":"bucket \"x\" not found"}`), Says: `bucket "x" not found`},
		"expired":      {Answer: stub.Saying(422, "", `{"code":"unprocessable entity","message":"partial write: points beyond retention policy dropped=5"}`), Says: "give a longer retention, or none"},
		"token":        {Answer: stub.Saying(401, "", `{"code":"unauthorized","message":"unauthorized access"}`), Says: "it does not take this token; give the option token"},
		"too large":    {Answer: stub.Saying(413, "", `{"code":"request too large","message":"too large"}`), Says: "lower --batch-size"},
		"memory":       {Answer: stub.Saying(500, "", `{"code":"internal error","message":"cache-max-memory-size exceeded: (9/8)"}`), Says: "load with fewer workers", Want: &driver.Temporary{}},
		"it is broken": {Answer: stub.Saying(500, "", `{"code":"internal error","message":"engine is closed"}`), Says: "engine is closed"},
	}, func(t *testing.T, host, port, timeout string) (driver.Writer, *series.Batch) {
		d, batch := prepareDatabase(t, map[string]string{connection.Host: host, connection.Port: port, connection.Timeout: cmp.Or(timeout, "60s"), optionOrg: "o", optionToken: stub.Secret})
		return conformance.Writer(t, d.db()), batch
	})
}

// TestWrite checks that requests are sent as the options say.
func TestWrite(t *testing.T) {
	var address, authorization, body string
	options := serve(t, func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		address, authorization, body = r.URL.String(), r.Header.Get("Authorization"), string(text)
		w.WriteHeader(http.StatusNoContent)
	})
	d, batch := prepareDatabase(t, options)
	w := conformance.Writer(t, d.db())
	defer conformance.Close(t, w)
	receipt, err := w.Write(t.Context(), batch)
	if err != nil || receipt.Rows != 5 || receipt.WireBytes != int64(len(body)) || receipt.Acked.Before(receipt.Sent) {
		t.Errorf("%+v, %v", receipt, err)
	}
	if want := "/api/v2/write?bucket=tsmark&org=o&precision=ns"; address != want || authorization != "Token "+stub.Secret {
		t.Errorf("to %s with %s", address, authorization)
	}
	if lines := strings.Split(body, "\n"); len(lines) != 6 || lines[1] != "cpu,hostname=host_1,region=eu usage=1i 1000" {
		t.Errorf("%q", body)
	}
}

const table = "#datatype,string,long,dateTime:RFC3339,string,double,long,boolean\r\n,result,table,_time,host,a,b,c\r\n"

// TestAnswers checks that results are decoded exactly, and that a truncated one is an error.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct{ body, rows string }{
		"values": {table + ",_result,0,2016-01-01T00:00:00.000000001Z,\"a \"\"b\"\",\r\nc\",-5e-324,-9223372036854775808,true\r\n,_result,0,1969-12-31T23:59:59Z,,,,\r\n\r\n",
			"2016-01-01T00:00:00.000000001Z, a \"b\",\r\nc, -5e-324, -9223372036854775808, true; 1969-12-31T23:59:59Z, NULL, NULL, 0, NULL; "},
		"another table": {table + ",_result,0,2016-01-01T00:00:00Z,h,1,2,false\r\n\r\n#datatype,string,long,double,dateTime:RFC3339\r\n,result,table,a,_time\r\n,_result,1,2.5,2016-01-01T00:00:01Z\r\n\r\n",
			"2016-01-01T00:00:00Z, h, 1, 2, false; 2016-01-01T00:00:01Z, NULL, 2.5, 0, NULL; "},
		"nothing":          {"", ""},
		"an empty answer":  {"\r\n", ""},
		"an error":         {table + ",_result,0,2016-01-01T00:00:00Z,h,1,2,false\r\n\r\n#datatype,string,string\r\n,error,reference\r\n,\"runtime error: cannot, go on\",\r\n", "runtime error: cannot, go on"},
		"half a line":      {table + ",_result,0,2016-01-01T00:00:00Z,h,1,2", "the answer was cut off after 0 rows"},
		"types alone":      {"#datatype,string,long,double\r\n", "the answer was cut off after 0 rows"},
		"too few values":   {table + ",_result,0,2016-01-01T00:00:00Z\r\n", "4 values in 8 columns"},
		"too many values":  {table + ",_result,0,2016-01-01T00:00:00Z,h,1,2,true,4\r\n", "more than 8 values"},
		"too few names":    {"#datatype,string,long,double\r\n,result,table\r\n", "3 names of 4 columns"},
		"a page":           {"<html>\n", "is this InfluxDB 2?"},
		"no annotation":    {",result,table,_time\r\n", "is this InfluxDB 2?"},
		"another type":     {"#datatype,string,long,duration\r\n", `a column of the type "duration"`},
		"no double":        {table + ",_result,0,2016-01-01T00:00:00Z,h,x,2,true\r\n", `"x" is not a float64`},
		"no whole number":  {table + ",_result,0,2016-01-01T00:00:00Z,h,1,2.5,true\r\n", `"2.5" is not a 64-bit integer`},
		"no boolean":       {table + ",_result,0,2016-01-01T00:00:00Z,h,1,2,yes\r\n", `"yes" is not a boolean`},
		"behind the quote": {table + ",_result,0,2016-01-01T00:00:00Z,\"h\"x,1,2,true\r\n", "something behind the quotes"},
	} {
		t.Run(name, func(t *testing.T) {
			options := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.body) })
			q := newQuerier(settingsOf(t, options))
			defer conformance.Close(t, q)
			var got strings.Builder
			request := driver.Request{Text: "from()", Plan: []column{{"_time", false}, {"host", false}, {"a", false}, {"b", true}, {"c", false}}}
			cost, err := q.Do(t.Context(), request, query.SinkFunc(func(row []query.Value) error {
				got.WriteString(query.RowText(row) + "; ")
				return nil
			}))
			if err != nil {
				stub.Says(t, err, c.rows)
				return
			}
			if got.String() != c.rows || cost.Bytes != int64(len(c.body)) {
				t.Errorf("got  %s\nwant %s\n%+v", got.String(), c.rows, cost)
			}
			if counted, err := q.Do(t.Context(), request, nil); err != nil || counted != cost {
				t.Errorf("without a sink %+v, %v", counted, err)
			}
		})
	}
}

// Of an answer that is cut off anywhere but between tables not all is taken for all.
func TestCutAnswers(t *testing.T) {
	whole := table + ",_result,0,2016-01-01T00:00:00Z,h,1,2,true\r\n"
	for n := 1; n < len(whole); n++ {
		if n == len(table) {
			continue // a table without rows
		}
		var r reader
		if _, err := r.read(strings.NewReader(whole[:n]), newColumns(timeColumn), nil); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v", whole[:n], err)
		}
	}
}

// A column can be wanted twice.
func TestColumnTwice(t *testing.T) {
	var r reader
	var got query.Answer
	if _, err := r.read(strings.NewReader(table+",_result,0,2016-01-01T00:00:00Z,h,1.5,2,true\r\n"), newColumns("a", "host", "a"), &got); err != nil {
		t.Fatal(err)
	}
	conformance.CheckRows(t, got.Rows, conformance.Row(1.5, "h", 1.5))
}

func TestHeader(t *testing.T) {
	if got, want := header([]column{{"_time", false}, {`a "b", c`, true}}), `// columns "_time", "a \"b\", c" else 0`+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	q := newQuerier(settingsOf(t, serve(t, func(http.ResponseWriter, *http.Request) {})))
	defer conformance.Close(t, q)
	_, err := q.Do(t.Context(), driver.Request{Text: "from()"}, nil)
	stub.Says(t, err, "does not name the answer's columns")
}

// An answer without an end ends all the same, in a line and with little memory.
func TestEndlessAnswers(t *testing.T) {
	for _, c := range []struct{ name, begin, part, says string }{
		{"rows", table, ",_result,0,2016-01-01T00:00:00Z,h,1,2,true\r\n", "more than 100000 rows"},
		{"a row", table + ",_result", ",x", "no row within 32 MiB"},
		{"a text", table + ",\"", "aaaaaaaa\n", "no row within 32 MiB"},
		{"tables", "", table, "no row within 32 MiB"},
		{"lines", "", "\r\n", "no row within 32 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDatabase(settingsOf(t, serve(t, fault.EndlessAnswer(c.begin, c.part))))
			defer conformance.Close(t, d)
			err := fault.EndsBounded(t, func() error {
				_, err := d.own.queryRows(t.Context(), flow{"from()"}, "a")
				return err
			})
			if err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, driver.ErrUnreachable) {
				t.Errorf("%v, want %s", err, c.says)
			}
		})
	}
}

func TestOpenFails(t *testing.T) {
	health := func(version string, status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/health" {
				fmt.Fprintf(w, `{"name":"influxdb","status":"pass","version":%q}`, version)
				return
			}
			stub.Saying(status, "", text)(w, r)
		}
	}
	for name, c := range map[string]struct {
		answer         http.HandlerFunc
		settings, says string
		unreachable    bool
	}{
		"another server":       {stub.Saying(200, "", "hello"), "", "what answers there is not InfluxDB 2", true},
		"version 1":            {health("1.8.10", 200, ""), "", "is influxdb 1.8.10, and tsmark speaks to InfluxDB 2.x", true},
		"wrong token":          {health("v2.7.12", 401, `{"code":"unauthorized","message":"unauthorized access"}`), "", "it does not take this token; give the option token", false},
		"no organisation":      {health("v2.7.12", 200, `{"orgs":[{"id":"1","name":"another"}]}`), "", "the token shows no organisation o", true},
		"a user":               {health("v2.7.12", 200, ""), connection.User, "give a token: InfluxDB 2 takes a user and a password for a set-up alone", false},
		"half of a set-up":     {health("v2.7.12", 200, ""), optionSetup, "give the options user, password, org and token", false},
		"no TLS on the server": {health("v2.7.12", 200, ""), connection.TLS, "the server does not speak TLS; give tls=off", true},
		"an answer too long":   {fault.EndlessAnswer(`{"name":"`, "aaaaaaaa"), "", "longer than 32 MiB", true},
	} {
		t.Run(name, func(t *testing.T) {
			config := serve(t, c.answer)
			if c.settings != "" {
				config[c.settings] = on
			}
			d := Driver()
			options, err := d.Resolve(config)
			if err != nil {
				t.Fatal(err)
			}
			_, err = open(t.Context(), driver.Env{Create: true}, options)
			stub.Says(t, err, c.says)
			if errors.Is(err, driver.ErrUnreachable) != c.unreachable {
				t.Errorf("error %v: unreachable %v, want %v", err, !c.unreachable, c.unreachable)
			}
		})
	}
}

// A bucket that tsmark did not make is named, never changed, and dropped only where it
// was named.
func TestBucketsOfOthers(t *testing.T) {
	var changed []string
	options := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/api/v2/buckets":
			_, _ = io.WriteString(w, `{"buckets":[{"id":"7","orgID":"1","name":"tsmark","description":"the plant's","retentionRules":[]}]}`)
		case r.URL.Path == "/api/v2/query":
		default:
			changed = append(changed, r.Method+" "+r.URL.Path)
		}
	})
	d := newDatabase(settingsOf(t, options))
	defer conformance.Close(t, d)
	objects, err := d.Objects(t.Context())
	if err != nil || len(objects) != 1 || objects[0].String() != "bucket tsmark" || !objects[0].Data || !objects[0].InTheWay || objects[0].Note {
		t.Fatalf("%+v, %v", objects, err)
	}
	if err := d.SetNote(t.Context(), "x"); !errors.Is(err, driver.ErrExisting) || len(changed) > 0 {
		t.Errorf("%v, %q", err, changed)
	}
	if err := d.Drop(t.Context(), nil); err != nil || len(changed) > 0 {
		t.Errorf("%v, %q", err, changed)
	}
	if err := d.Drop(t.Context(), objects); err != nil || fmt.Sprint(changed) != "[DELETE /api/v2/buckets/7]" {
		t.Errorf("%v, %q", err, changed)
	}
}

// Whatever a server answers, it is read or refused.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(table+",_result,0,2016-01-01T00:00:00Z,\"h\"\"\",1,2,true\r\n\r\n"), true)
	f.Add([]byte("#datatype,string,string\r\n,error,reference\r\n,e,\r\n"), false)
	f.Fuzz(func(_ *testing.T, text []byte, drained bool) {
		var sink query.Sink = new(query.Answer)
		if drained {
			sink = nil
		}
		var r reader
		_, _ = r.read(bytes.NewReader(text), newColumns(timeColumn, "host", "b"), sink)
	})
}
