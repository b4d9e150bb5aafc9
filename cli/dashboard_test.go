package cli

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/store"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// dashboard is the part of docs/grafana/tsmark.json by which Grafana queries the database.
type dashboard struct {
	Templating struct {
		List []struct{ Name, Type, Query string }
	}
	Panels []struct {
		Title, Type string
		Targets     []struct{ RawSQL, Format string }
		FieldConfig struct {
			Overrides []struct {
				Matcher struct{ ID, Options string }
			}
		}
	}
}

// TestDashboard runs every query of the dashboard on PostgreSQL, as the user that
// docs/postgres-results.md makes for Grafana: each returns the columns that its
// panel names, and rows of the runs that are stored.
func TestDashboard(t *testing.T) {
	ctx := t.Context()
	url, host, port := resultsDatabase(t)
	kept, err := store.Open(ctx, url, report.StoreFigures)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	dir := t.TempDir()
	var said bytes.Buffer
	args := []string{"tsmark", "run", "--results", dir, "--target", "memory", "--repeats", "2", "--load-repeats", "2",
		"--scale", "40", "--log-interval", "10m", "--query-type", "lastpoint,single-groupby-1-1-1", "--queries", "20", "--time-box", "0s", "--verify", "3"}
	if code := execute(ctx, args, &said, &said, testCatalog(tsbs.Workloads(), []driver.Driver{memory.Driver("memory")})); code != app.ExitDone {
		t.Fatalf("exit status %d\n%s", code, &said)
	}
	withheld, right := newest(t, dir), newest(t, dir)
	withheld.Targets[0].RepeatOf(1).Put(&result.Queries{Type: "wrong", Withheld: "row 3 is not\x00 right"})
	right.ID += "0"
	for _, run := range []*result.Run{withheld, right} {
		if err := kept.Add(ctx, run); err != nil {
			t.Fatal(err)
		}
	}

	page, err := os.ReadFile("../docs/postgres-results.md")
	if err != nil {
		t.Fatal(err)
	}
	admin, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	grants := regexp.MustCompile(`(?s)-- for Grafana\n(.*?)\n\n`).FindStringSubmatch(string(page))
	if grants == nil {
		t.Fatal("docs/postgres-results.md does not say what Grafana's user may do")
	}
	name := strings.ReplaceAll(url[strings.LastIndexByte(url, '/')+1:], "results", "reader")
	statements := regexp.MustCompile(`(?m)^ +`).ReplaceAllString(grants[1], "")
	if _, err := admin.ExecContext(ctx, strings.NewReplacer("grafana", name, "'CHOOSE-ONE'", "'pw-of-tests'").Replace(statements)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.Exec("DROP OWNED BY " + name + "; DROP ROLE " + name); err != nil {
			t.Error(err)
		}
		admin.Close()
	})
	reader, err := sql.Open("pgx", "postgres://"+name+":pw-of-tests@"+host+":"+port+url[strings.LastIndexByte(url, '/'):])
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := reader.ExecContext(ctx, "SELECT document FROM tsmark.documents"); err == nil {
		t.Error("Grafana's user reads more than the views")
	}

	text, err := os.ReadFile("../docs/grafana/tsmark.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	queryPanel := func(what, query string) (columns []string, first []any) {
		t.Helper()
		query = regexp.MustCompile(`\$__timeFilter\((\w+)\)`).ReplaceAllString(query, "$1 BETWEEN '2000-01-01T00:00:00Z' AND '2100-01-01T00:00:00Z'")
		query = strings.NewReplacer("$workload", "cpu-only", "$type", "lastpoint").Replace(query)
		rows, err := reader.QueryContext(ctx, query)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		defer rows.Close()
		if columns, err = rows.Columns(); err != nil {
			t.Fatal(err)
		}
		first = make([]any, len(columns))
		to := make([]any, len(columns))
		for i := range first {
			to[i] = &first[i]
		}
		if !rows.Next() {
			t.Errorf("%s: the stored figures are not found (%v)", what, rows.Err())
		} else if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		return columns, first
	}
	variables := 0
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			queryPanel("variable "+v.Name, v.Query)
			variables++
		}
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			variables++
			columns, first := queryPanel(p.Title, target.RawSQL)
			var named []string
			for _, o := range p.FieldConfig.Overrides {
				named = append(named, o.Matcher.Options)
			}
			if p.Type == "timeseries" {
				named = []string{"time", "metric", "value"}
			}
			slices.Sort(named)
			got := slices.Sorted(slices.Values(columns))
			if !slices.Equal(named, got) || len(named) == 0 {
				t.Errorf("%s: the query has the columns %v, the panel %v", p.Title, got, named)
			}
			for i, value := range first {
				if slices.Contains([]string{"time", "metric", "value", "target", "type", "run", "median", "rate", "started", "why"}, columns[i]) && value == nil {
					t.Errorf("%s: nothing is in column %s of %v", p.Title, columns[i], first)
				}
			}
		}
	}
	if variables < 8 {
		t.Errorf("only %d queries were run", variables)
	}
}
