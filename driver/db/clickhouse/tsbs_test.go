package clickhouse_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/clickhouse"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// TSBS's texts on a real server, in TSBS's layout and over both protocols.
func TestTSBSTexts(t *testing.T) {
	for _, protocol := range []string{"native", "http"} {
		t.Run(protocol, func(t *testing.T) {
			conformance.Texts(t, clickhouse.Driver(), server(t, "layout", "tsbs", "protocol", protocol))
		})
	}
}

// tsmark's own queries, and its census, in TSBS's layout. The conformance suite has
// times in milliseconds, which this layout does not hold.
func TestTSBSLayoutVerified(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, use := range []workload.Workload{tsbs.Devops(), tsbs.IoT()} {
		t.Run(use.Name(), func(t *testing.T) {
			spec := workload.Spec{Name: use.Name(), Seed: 123, Scale: 40, Start: start, End: start.Add(24 * time.Hour), Interval: 5 * time.Minute}
			dataset, err := use.Dataset(spec)
			if err != nil {
				t.Fatal(err)
			}
			var queries []query.Query
			for _, queryType := range use.QueryTypes() {
				drawn, err := use.Queries(spec, queryType.Name, 3)
				if err != nil {
					t.Fatal(err)
				}
				queries = slices.AppendSeq(queries, drawn)
			}
			expected, err := oracle.Pass(t.Context(), dataset, queries, nil, func(int) {})
			if err != nil {
				t.Fatal(err)
			}
			options := server(t, "layout", "tsbs")
			d, db := clickhouse.Driver(), open(t, options)
			if err := session.New(db).Prepare(t.Context(), dataset.Schema(), session.Mark{}); err != nil {
				t.Fatal(err)
			}
			if _, err := engine.Load(t.Context(), engine.LoadConfig{Workers: 2, BatchSize: 5000, Period: time.Minute}, dataset, db, func(int) {}); err != nil {
				t.Fatal(err)
			}
			found, err := verify.Census(t.Context(), db, &expected.Survey, verify.Sent{Acknowledged: true}, func() {})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range found {
				if c.Problem != "" {
					t.Error(c.Problem)
				}
			}
			resolved, err := d.Resolve(options)
			if err != nil {
				t.Fatal(err)
			}
			verdict, err := verify.Answers(t.Context(), verify.Config{Workers: 1}, db, d.Renderer(resolved), dataset, expected.Full)
			if err != nil || !verdict.OK() || verdict.Checked != len(queries) {
				t.Errorf("%d of %d answers compared: %s, %v", verdict.Checked, len(queries), verdict.Difference, err)
			}
		})
	}
}

// Rows of other times than whole seconds are refused before a load.
func TestTSBSLayoutRefusesFractions(t *testing.T) {
	d := clickhouse.Driver()
	resolved, err := d.Resolve(map[string]string{"layout": "tsbs"})
	if err != nil {
		t.Fatal(err)
	}
	caps := d.Caps(resolved)
	schema := conformance.Table("usage")
	values := series.Values{Step: time.Millisecond}
	if refusal := caps.Refuse("clickhouse", &series.Schema{Tables: []*series.Table{schema}, Series: 1}, values); refusal == nil {
		t.Error("rows of milliseconds are taken")
	}
	values.Step = time.Second
	if refusal := caps.Refuse("clickhouse", &series.Schema{Tables: []*series.Table{schema}, Series: 1}, values); refusal != nil {
		t.Error(refusal)
	}
	schema.Fields[0].Name = "created_at"
	if err := caps.Schema(&series.Schema{Tables: []*series.Table{schema}, Series: 1}); err == nil {
		t.Error("a field may have the name of a column of TSBS's own")
	}
}

// The texts name columns of TSBS's layout.
func TestTSBSLayout(t *testing.T) {
	d := clickhouse.Driver()
	for _, layout := range []string{"wide", "normalized", "tsbs"} {
		r, err := d.TSBS.Request("SELECT 1", driver.Options{"layout": layout})
		if layout == "tsbs" && (err != nil || r.Text != "SELECT 1") || layout != "tsbs" && !errors.Is(err, query.ErrUnsupported) {
			t.Errorf("layout=%s: %v", layout, err)
		}
	}
}
