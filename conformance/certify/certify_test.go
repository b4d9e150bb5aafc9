package certify

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/lie"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// run runs checks on a driver.
func run(t *testing.T, d driver.Driver, only ...string) *Report {
	t.Helper()
	report, err := Run(t.Context(), configOf(t, d, only...))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func configOf(t *testing.T, d driver.Driver, only ...string) Config {
	t.Helper()
	options, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return Config{
		Target: plan.Target{Name: d.Name, Driver: d, Options: options, Caps: d.Caps(options)}, Only: only,
		Patience: DefaultPatience, Begin: func(string) func(*Check) { return func(*Check) {} },
	}
}

// problems returns the problems of a report's checks in one text.
func problems(r *Report) string {
	var all []string
	for _, c := range r.Checks {
		all = append(all, c.Problems...)
	}
	return strings.Join(all, "\n")
}

// The suite finds each lie of a wrapper around SQLite, with the checks that load 14,400 rows or compare
// random answers, and finds nothing without a lie.
func TestFindsLies(t *testing.T) {
	const rows = 14_400
	of := map[string][]lie.Lie{"several writers": lie.Contents(rows), "random queries": append(lie.Answers(), lie.ChangedAnswers()...), "changes": lie.Changes()}
	for part, lies := range of {
		for _, l := range append(lies, lie.Lie{Name: "honest"}) {
			if strings.HasPrefix(l.Name, "guesses") {
				continue // when it lies depends on the clock
			}
			t.Run(part+" "+l.Name, func(t *testing.T) {
				only := []string{part}
				if l.Name == "lies-when-run-again" { // random queries run once
					only = []string{"several writers"}
				}
				report := run(t, lie.Apply(sqlite.Driver(), l), only...)
				if honest := l.Name == "honest"; report.OK() != honest {
					t.Errorf("passes %v, want %v: %s\n%s", report.OK(), honest, report.Answer(), problems(report))
				}
			})
		}
	}
}

// cheating counts the rows that it was sent, and stores none of a table: its census is its own.
type cheating struct{ driver.Required }

func (c cheating) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	census, err := c.Required.Census(ctx, t)
	census.Rows = 36
	for i := range census.Fields {
		census.Fields[i] = driver.Content{Count: 36}
	}
	census.Times = driver.Content{}
	return census, err
}

// A driver that makes its census up is found, because no lie about rows is.
func TestFindsInventedCensus(t *testing.T) {
	d := sqlite.Driver()
	open := d.Open
	d.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		db.Required, db.ListSeries = cheating{db.Required}, nil
		return db, err
	}
	if report := run(t, d, "lies/duplicates"); report.Failed != 1 || !strings.Contains(problems(report), "the lie is not found") {
		t.Errorf("%s\n%s", report.Answer(), problems(report))
	}
}

// A way to change rows that a driver always refuses is a failure, and not n/a.
func TestFindsRefusedWay(t *testing.T) {
	d := sqlite.Driver()
	open := d.Open
	d.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		db.DeleteSeries = func(context.Context, *series.Schema, *series.Table, string, string) error {
			return query.ErrUnsupported
		}
		return db, err
	}
	if report := run(t, d, "changes"); report.OK() || !strings.Contains(problems(report), "not even a change of no rows is possible") {
		t.Errorf("%s\n%s", report.Answer(), problems(report))
	}
}

// panicking panics in a worker of a load, when a part of it is opened, and when it is described.
type panicking struct{ driver.Required }

func (p panicking) NewWriter(context.Context, int) (driver.Writer, error) { panic("no writer today") }

// stuck never stores a note, whatever its context says.
type stuck struct{ driver.Required }

func (stuck) SetNote(context.Context, string) error { select {} }

func wrapSQLite(change func(driver.Required) driver.Required) driver.Driver {
	d := sqlite.Driver()
	open := d.Open
	d.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		if err == nil {
			db.Required = change(db.Required)
		}
		return db, err
	}
	return d
}

// A panic is a failure of the driver that names its place, and the suite goes on.
func TestPanics(t *testing.T) {
	report := run(t, wrapSQLite(func(r driver.Required) driver.Required { return panicking{r} }), "one row", "steps")
	if report.Failed != 1 || report.Passed != 1 {
		t.Errorf("%+v", report)
	}
	if text := problems(report); !strings.Contains(text, "panic: no writer today, in github.com/tsmark/tsmark/conformance/certify.panicking.NewWriter (line ") {
		t.Error(text)
	}
	d := sqlite.Driver()
	d.Render = func(*query.Query, *series.Schema, driver.Options) (driver.Request, error) { panic("no text today") }
	if text := problems(run(t, d, "cancelled query")); !strings.Contains(text, "panic: no text today, in ") {
		t.Error(text)
	}
}

// A check that does not end is a failure, and no check runs after it.
func TestHangs(t *testing.T) {
	c := configOf(t, wrapSQLite(func(r driver.Required) driver.Required { return stuck{r} }), "mark", "replace")
	c.Patience, c.grace = 100*time.Millisecond, 100*time.Millisecond
	report, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if report.OK() || report.Stopped != "mark" || len(report.Checks) != 1 || !strings.HasPrefix(problems(report), "it did not end within 100ms\n") {
		t.Errorf("%+v", report)
	}
}

// A place with data is refused, and what the suite has made is dropped.
func TestPlace(t *testing.T) {
	d := memory.ChangeCaps(memory.Driver("memory"), func(c *driver.Caps) { c.Embedded = false })
	db, err := d.Open(t.Context(), driver.Env{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if report := run(t, d, "one row", "lies", "mark"); !report.OK() {
		t.Errorf("%s\n%s", report.Answer(), problems(report))
	}
	if objects, err := db.Objects(t.Context()); err != nil || slices.ContainsFunc(objects, func(o driver.Object) bool { return !o.Note }) {
		t.Errorf("left behind: %v, %v", objects, err)
	}
	schema := &series.Schema{Series: 1, Tables: []*series.Table{{Name: "precious", Fields: []series.Field{{Name: "a", Type: series.Int}}}}}
	if err := session.New(db).Prepare(t.Context(), schema, session.Mark{Run: "3f2a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), configOf(t, d)); !errors.Is(err, plan.ErrInput) || !strings.Contains(err.Error(), "holds a dataset that tsmark loaded") {
		t.Errorf("error %v", err)
	}
	if err := db.SetNote(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), configOf(t, d)); !errors.Is(err, plan.ErrInput) || !strings.Contains(err.Error(), "precious") {
		t.Errorf("error %v", err)
	}
	if objects, err := db.Objects(t.Context()); err != nil || !slices.ContainsFunc(objects, func(o driver.Object) bool { return o.Name == "precious" }) {
		t.Errorf("it is gone: %v, %v", objects, err)
	}
}

// An interrupted suite has no report.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := configOf(t, sqlite.Driver(), "one row", "no row")
	c.Begin = func(string) func(*Check) { return func(*Check) { cancel() } }
	if report, err := Run(ctx, c); !errors.Is(err, context.Canceled) || report != nil {
		t.Errorf("%+v, %v", report, err)
	}
}

func exampleReport() *Report {
	r := &Report{
		Target: "x", Driver: "mydb", System: driver.Description{Version: "4.2"}, Tsmark: result.Tool{Version: "v1.0.0", Commit: "abc", Go: "go1.26"},
		Date: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC), Seconds: 61.4,
	}
	for _, c := range []Check{
		{Name: "one row", Status: Passed},
		{Name: "random queries/seed 3", Status: Failed, Problems: []string{"query 7: a long explanation", "query 9: 2 rows & no more\nSELECT 1"}},
		{Name: "materialize", Status: NotApplicable, Reasons: []Reason{{"", "it has no aggregates"}}},
		{Name: "iot", Status: Passed, Reasons: []Reason{{"avg-load", "no joins"}, {"daily-activity", "no joins"}}},
	} {
		r.add(&c)
	}
	return r
}

func TestText(t *testing.T) {
	const want = `x passes 2 of 3 checks; 1 more is n/a.
mydb 4.2; tsmark v1.0.0, commit abc, go1.26; 2026-11-28; 61 s; --long runs more checks

Failed

  random queries/seed 3
    query 7: a long explanation
    … and 1 more problem; --format json has all
    to repeat it: tsmark conformance x --check 'random queries/seed 3'

Not supported (n/a)

  it has no aggregates
    materialize
  no joins
    avg-load, daily-activity
`
	var got strings.Builder
	if err := exampleReport().WriteText(&got, "tsmark conformance x"); err != nil || got.String() != want {
		t.Errorf("%v, got:\n%s", err, &got)
	}
}

func TestBadge(t *testing.T) {
	r := exampleReport()
	text, err := r.BadgeJSON()
	if err != nil {
		t.Fatal(err)
	}
	var endpoint map[string]any
	if err := json.Unmarshal(text, &endpoint); err != nil || endpoint["message"] != "2 of 3 checks · mydb 4.2 · tsmark v1.0.0 · 2026-11-28" || endpoint["color"] != red || len(endpoint) != 4 {
		t.Errorf("%v, %s", err, text)
	}
	r.System.Version = `<"&`
	svg := string(r.BadgeSVG())
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v\n%s", err, svg)
		}
	}
	for _, part := range []string{"x passes 2 of 3 checks", "tsmark v1.0.0, commit abc", "2026-11-28", ">2 of 3 checks · mydb &lt;"} {
		if !strings.Contains(svg, part) {
			t.Errorf("the image lacks %q:\n%s", part, svg)
		}
	}
}
