package ownqueries_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// literals are those of standard SQL.
func literals() query.Literals {
	d := sql.Dialect{Precision: time.Second, Time: func(t time.Time) string { return "'" + t.UTC().Format(time.RFC3339) + "'" }}
	return d.Literals("")
}

// filledQuery is a query with all kinds of values.
func filledQuery() *query.Query {
	start := time.Date(2016, time.January, 1, 0, 0, 0, 500_000_000, time.UTC)
	return &query.Query{Start: start, End: start.Add(time.Hour), Shape: query.Written{Parameters: []query.Parameter{
		{Name: "hosts", Values: []string{"host_1", "o'brien", "a.b"}},
		{Name: "least", Values: []string{"90"}, Number: true},
	}}}
}

func TestFill(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1":                    "SELECT 1",
		"x IN ({{hosts}})":            "x IN ('host_1', 'o''brien', 'a.b')",
		"x ~ {{hosts:regexp}}":        `x ~ '^(host_1|o''brien|a\.b)$'`,
		"y > {{ least }} AND {least}": "y > 90 AND {least}",
		"{{start}} {{end}}":           "'2016-01-01T00:00:01Z' '2016-01-01T01:00:01Z'", // up to what the database can name
		"{{start:s}} {{start:ms}}":    "1451606400 1451606400500",
		"{{end:us}} {{end:ns}}":       "1451610000500000 1451610000500000000",
	} {
		template, err := ownqueries.ParseTemplate(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, err := template.Fill(filledQuery(), literals()); err != nil || got != want {
			t.Errorf("%q becomes %q (%v), want %q", text, got, err, want)
		}
	}
}

func TestParseTemplateWrong(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT {{":               "line 1, column 8: {{ is not closed by }}",
		"SELECT\n  {{Start}}":     `line 2, column 3: "{{Start}}" is not a placeholder; write {{name}} or {{name:form}}, in lower case`,
		"é {{start:x}}":           "line 1, column 3: {{start:x}} has a form that there is not; known: s, ms, us, ns",
		"{{hosts:s}}":             "line 1, column 1: {{hosts:s}} has a form that there is not; known: regexp",
		"x = '{{hosts}}'":         "line 1, column 6: {{hosts}} adds quotes itself; remove the quotes around it",
		"{{a}} {{b; DROP}} {{c}}": `line 1, column 7: "{{b; DROP}}" is not a placeholder; write {{name}} or {{name:form}}, in lower case`,
	} {
		_, err := ownqueries.ParseTemplate(text)
		var bad *ownqueries.TemplateError
		if !errors.As(err, &bad) || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Whatever a text is, it is understood or refused with a place in it; without places it
// stays as it is, and values that are filled in cannot leave their quotes.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"", "SELECT {{hosts}} {{start:ms}}", "{{", "}}{{ hosts }}", "'{{hosts}}'", "{{hosts:regexp}}é\n{{end}}"} {
		f.Add(seed, "o'brien")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		template, err := ownqueries.ParseTemplate(text)
		var bad *ownqueries.TemplateError
		if err != nil {
			if !errors.As(err, &bad) || bad.Line < 1 || bad.Line > 1+strings.Count(text, "\n") || bad.Column < 1 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		one := &query.Query{Shape: query.Written{Parameters: []query.Parameter{{Name: "hosts", Values: []string{value}}}}}
		got, err := template.Fill(one, literals())
		if err != nil {
			return // a place that is not declared, or a text without literal
		}
		if !strings.Contains(text, "{{") && got != text {
			t.Fatalf("%q became %q", text, got)
		}
		if alone, err := ownqueries.ParseTemplate("{{hosts}}"); err != nil {
			t.Fatal(err)
		} else if quoted, err := alone.Fill(one, literals()); err == nil && strings.ReplaceAll(quoted[1:len(quoted)-1], "''", "") != strings.ReplaceAll(value, "'", "") {
			t.Fatalf("%q is written as %s", value, quoted)
		}
	})
}
