package influxdb

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// gemini answers as openGemini does: statements by a function, and the rest.
func gemini(version string, answer func(statement string) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Geminidb-Version"] = []string{version} // which may be empty
		if r.URL.Path == "/query" {
			fmt.Fprint(w, answer(r.FormValue("q")))
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// Which server it is, the option says; the other one is refused by its name.
func TestWhichServer(t *testing.T) {
	none := func(string) string { return `{"results":[{"statement_id":0}]}` }
	plain := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Influxdb-Version", "1.8.10")
		fmt.Fprint(w, none(""))
	}
	for name, test := range map[string]struct {
		answer       http.HandlerFunc
		option, says string // no error: the version
	}{
		"openGemini":                     {gemini("1.3.0", none), geminiServer, "openGemini 1.3.0"},
		"openGemini without its version": {gemini("", none), geminiServer, "openGemini"},
		"InfluxDB":                       {plain, plainServer, "1.8.10"},
		"openGemini for InfluxDB":        {gemini("1.3.0", none), plainServer, "what answers there is openGemini 1.3.0; give server=opengemini"},
		"InfluxDB for openGemini":        {plain, geminiServer, "what answers there is not openGemini; leave the option server out"},
	} {
		t.Run(name, func(t *testing.T) {
			d := Driver()
			options, err := d.Resolve(serve(t, test.answer, optionServer, test.option))
			if err != nil {
				t.Fatal(err)
			}
			db, err := open(t.Context(), driver.Env{Create: true}, options)
			if err != nil {
				stub.Says(t, err, test.says)
				return
			}
			defer conformance.Close(t, db)
			if d, err := db.Describe(t.Context()); err != nil || d.Version != test.says {
				t.Errorf("version %q, want %q, %v", d.Version, test.says, err)
			}
		})
	}
}

// TestGeminiSettles checks that a load has settled once the data in memory is in files and the index
// takes in no more series.
func TestGeminiSettles(t *testing.T) {
	begin := time.Now()
	const grows = 300 * time.Millisecond
	var flushed atomic.Int32
	answer := gemini("", func(string) string {
		n := min(time.Since(begin), grows) / (50 * time.Millisecond)
		return fmt.Sprintf(`{"results":[{"series":[{"name":"a","columns":["count"],"values":[[%d]]},{"name":"b","columns":["count"],"values":[[2]]}]}]}`, n)
	})
	s := settingsOf(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/debug/ctrl" && r.URL.Query().Get("mod") == "flush" {
			flushed.Add(1)
		}
		answer(w, r)
	}, optionServer, geminiServer))
	d := newDatabase(s)
	defer conformance.Close(t, d)
	at, err := driver.AwaitSettled(t.Context(), d.db())
	took := time.Since(begin)
	if err != nil || flushed.Load() != 1 || took < grows+geminiIdleFor-geminiLook || at.Sub(begin) < grows-geminiLook || at.Sub(begin) > took-geminiIdleFor+geminiLook {
		t.Errorf("settled %v after the beginning, watched for %v, %d flushes; error %v", at.Sub(begin), took, flushed.Load(), err)
	}
	refuses := newDatabase(settingsOf(t, serve(t, stub.Saying(http.StatusForbidden, "", "no"), optionServer, geminiServer)))
	defer conformance.Close(t, refuses)
	stub.Says(t, refuses.Settle(t.Context()), "it does not flush: it answered with status 403")
}

// TestGeminiNoteComesLate checks that a note whose retention policy exists may appear late after a kill
// and is waited for. Without the policy, there is no note.
func TestGeminiNoteComesLate(t *testing.T) {
	for name, test := range map[string]struct {
		policy, text string
		waits        bool
	}{
		"late":    {note, "x", true},
		"never":   {note, "", true},
		"no note": {"autogen", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			var reads, shows atomic.Int32
			d := newDatabase(settingsOf(t, serve(t, gemini("", func(statement string) string {
				switch {
				case strings.HasPrefix(statement, "SHOW"):
					shows.Add(1)
					return fmt.Sprintf(`{"results":[{"series":[{"columns":["name"],"values":[["%s"]]}]}]}`, test.policy)
				case test.text != "" && reads.Add(1) > 2:
					return fmt.Sprintf(`{"results":[{"series":[{"name":"%s","columns":["time","content"],"values":[[0,"%s"]]}]}]}`, note, test.text)
				}
				return `{"results":[{"statement_id":0}]}`
			}), optionServer, geminiServer)))
			defer conformance.Close(t, d)
			text, err := d.Note(t.Context())
			took := time.Since(begin)
			if err != nil || text != test.text || (shows.Load() > 1) != test.waits || took > geminiIdleFor+10*time.Second {
				t.Errorf("%q, %v, after %v; it looked %d times", text, err, took, shows.Load())
			}
		})
	}
}

// A database that still goes is looked at again when it has gone.
func TestGeminiStillDrops(t *testing.T) {
	begin := time.Now()
	d := newDatabase(settingsOf(t, serve(t, gemini("", func(statement string) string {
		switch {
		case time.Since(begin) > 2*geminiLook:
			return `{"results":[{"series":[{"columns":["name"],"values":[]}]}]}`
		case statement == "SHOW DATABASES":
			return `{"results":[{"series":[{"columns":["name"],"values":[["x"]]}]}]}`
		}
		return `{"results":[{"statement_id":0,"error":"database(x) is being delete"}]}`
	}), optionServer, geminiServer, connection.Database, "x")))
	defer conformance.Close(t, d)
	if objects, err := d.Objects(t.Context()); err != nil || len(objects) > 0 || time.Since(begin) < 2*geminiLook {
		t.Errorf("%v, %v, after %v", objects, err, time.Since(begin))
	}
}

// Answers are InfluxDB's but for the name of the time, and for measurements without rows.
func TestGeminiAnswers(t *testing.T) {
	for name, test := range map[string]struct{ statement, body, rows string }{
		"a time of tsmark's own": {`SELECT time AS "tsmark_time", count("v") FROM "m"`, `{"results":[{"series":[{"name":"m","columns":["time","count"],"values":[[0,2]]}]}]}`, "[2]"},
		"with the hint":          {influx.Compute(influx.OpenGemini, "sum", []string{"v", "w"}, "", "m"), `{"results":[{"series":[{"name":"m","columns":["time","sum","sum_1"],"values":[[0,2,3]]}]}]}`, "[2 3]"},
		"a time":                 {`SELECT "v" FROM (SELECT time AS "tsmark_time" FROM "m")`, `{"results":[{"series":[{"name":"m","columns":["time","v"],"values":[[0,2]]}]}]}`, "[1970-01-01T00:00:00Z 2]"},
		"no row so far":          {`SELECT "v" FROM "m"`, `{"results":[{"statement_id":0,"error":"measurement not found"}]}`, ""},
		"no database":            {`SELECT "v" FROM "m"`, `{"results":[{"statement_id":0,"error":"database not found: x"}]}`, "database not found: x; load it first"},
	} {
		t.Run(name, func(t *testing.T) {
			s := settingsOf(t, serve(t, gemini("", func(string) string { return test.body }), optionServer, geminiServer))
			var got strings.Builder
			_, err := influx.NewQuerier(s.endpoint()).Do(t.Context(), driver.Request{Text: test.statement}, query.SinkFunc(func(row []query.Value) error {
				fmt.Fprint(&got, row)
				return nil
			}))
			if err != nil {
				stub.Says(t, err, test.rows)
			} else if got.String() != test.rows {
				t.Errorf("%s, want %s", got.String(), test.rows)
			}
		})
	}
}

// What openGemini cannot hold is refused before anything is sent; booleans are sent in
// capitals.
func TestGeminiHolds(t *testing.T) {
	d := Driver()
	options := conformance.Options(t, d, optionServer, geminiServer)
	c := d.Caps(options)
	if c.Holds(series.LargeInts) || c.Holds(series.RepeatedTimes) || !c.First.Equal(time.Unix(0, 0)) {
		t.Errorf("%+v", c)
	}
	table := &series.Table{Name: "m", Fields: []series.Field{{Name: "at", Type: series.Timestamp}}}
	stub.Says(t, c.Schema(&series.Schema{Tables: []*series.Table{table}}), "field at of table m has times, whose nanoseconds openGemini rounds")
	for server, want := range map[string]string{plainServer: "m b=f 0\n", geminiServer: "m b=F 0\n"} {
		s := settingsOf(t, map[string]string{optionServer: server})
		table := &series.Table{Name: "m", Fields: []series.Field{{Name: "b", Type: series.Bool}}}
		schema := &series.Schema{Tables: []*series.Table{table}, Series: 1}
		var b series.Batch
		conformance.Fill(b.Add(table), 1, 0, 1)
		if got := string(s.lines().New(schema).Append(nil, &b)); got != want {
			t.Errorf("%s: %q, want %q", server, got, want)
		}
		if takes := newDatabase(s).TakesLines("influx", schema); takes == s.gemini() {
			t.Errorf("%s takes files with booleans: %v", server, takes)
		}
	}
}

// TestGeminiSeries checks that series are read by the names of tags; openGemini leaves out the tags
// that a series lacks.
func TestGeminiSeries(t *testing.T) {
	s := settingsOf(t, serve(t, gemini("", func(string) string {
		return `{"results":[{"series":[{"name":"m","tags":{"b":"x,a=y"},"columns":["time","count"],"values":[[0,1]]},{"name":"m","tags":{"a":"1","b":"2"},"columns":["time","count"],"values":[[0,1]]}]}]}`
	}), optionServer, geminiServer))
	d := newDatabase(s)
	defer conformance.Close(t, d)
	table := &series.Table{Name: "m", Tags: []series.Tag{{Key: "b", Values: series.Numbered{}}, {Key: "a", Values: series.Numbered{}}}, Fields: []series.Field{{Name: "v", Type: series.Int}}}
	var got strings.Builder
	err := d.ListSeries(t.Context(), nil, table, query.SinkFunc(func(row []query.Value) error {
		fmt.Fprint(&got, row)
		return nil
	}))
	if err != nil || got.String() != "[x,a=y NULL][2 1]" {
		t.Errorf("%s, %v", got.String(), err)
	}
}
