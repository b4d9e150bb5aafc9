package sql

import (
	databasesql "database/sql"
	"errors"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// quotes are all that there are, and those of names in ClickHouse and TDengine.
var quotes = []Quote{DoubleQuotes, SingleQuotes, Backticks, Brackets, Backslashes, "``\\", "``"}

func TestQuotes(t *testing.T) {
	for _, test := range []struct {
		quote      Quote
		text, want string
	}{
		{DoubleQuotes, `a"b\`, `"a""b\"`},
		{SingleQuotes, "it's\n", "'it''s\n'"},
		{Backticks, "a`b", "`a``b`"},
		{Brackets, "a[b]", "[a[b]]]"},
		{Backslashes, "it's \\\n", `'it\'s \\\n'`},
		{"``\\", "a`b'", "`a\\`b'`"},
		{"``", "a'b", "`a'b`"},
		{DoubleQuotes, "", `""`},
	} {
		if got := test.quote.Wrap(test.text); got != test.want {
			t.Errorf("%s: %s, want %s", test.quote, got, test.want)
		}
		if err := test.quote.Check(test.text); err != nil {
			t.Error(err)
		}
	}
	for quote, text := range map[Quote]string{"``": "a`b", DoubleQuotes: "a\x00", Backslashes: "\x00"} {
		if err := quote.Check(text); !errors.Is(err, query.ErrUnsupported) {
			t.Errorf("%s takes %q: %v", quote, text, err)
		}
	}
}

// unquote reads the quoted text at the beginning of a statement as a database does, and returns it
// with the rest of the statement.
func unquote(q Quote, statement string) (text, behind string) {
	var b strings.Builder
	rest := statement[1:]
	for rest != "" {
		two := rest[:min(2, len(rest))]
		switch {
		case len(q) > 2 && q[2] == '\\' && two == `\n`:
			b.WriteByte('\n')
			rest = rest[2:]
		case len(q) > 2 && q[2] == '\\' && two[0] == '\\', len(q) > 2 && q[1] == q[2] && two == string([]byte{q[1], q[1]}):
			b.WriteByte(two[1])
			rest = rest[2:]
		case two[0] == q[1]:
			return b.String(), rest[1:]
		default:
			b.WriteByte(two[0])
			rest = rest[1:]
		}
	}
	return b.String(), "the quote does not end"
}

// Accepted text reads back unchanged and ends at its closing quote.
func FuzzQuote(f *testing.F) {
	for _, text := range []string{"", "cpu", `a"b`, "it's", "`", "]]", `\`, `\'`, `\\n`, "\n", "日本\"", "';--", "\x00", "\xff'"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, q := range quotes {
			if q.Check(text) != nil {
				if strings.IndexByte(text, 0) < 0 && (len(q) > 2 || strings.IndexByte(text, q[1]) < 0) {
					t.Errorf("%s refuses %q", q, text)
				}
				continue
			}
			if got, behind := unquote(q, q.Wrap(text)+" more"); got != text || behind != " more" {
				t.Errorf("%s: %q is %s, which reads as %q and %q", q, text, q.Wrap(text), got, behind)
			}
		}
	})
}

// SQLite knows the three quotes of standard SQL and MySQL.
func TestSQLiteReadsQuotes(t *testing.T) {
	db, err := databasesql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{"a", `a"b`, "it's", "`", "``", `\`, `\'`, "\n", "日本", "'; DROP TABLE t; --", "[x]", "a b"} {
		for _, quote := range []Quote{DoubleQuotes, Backticks} {
			rows, err := db.Query("SELECT " + SingleQuotes.Wrap(text) + " AS " + quote.Wrap(text))
			if err != nil {
				t.Errorf("%q: %v", text, err)
				continue
			}
			var got string
			names, err := rows.Columns()
			if err == nil && rows.Next() {
				err = rows.Scan(&got)
			}
			if err != nil || got != text || names[0] != text {
				t.Errorf("%q is %q in the column %q: %v", text, got, names, err)
			}
			rows.Close()
		}
	}
}

// A dialect quotes as declared, and rejects text that it cannot quote.
func TestDialectQuotes(t *testing.T) {
	d := testDialect()
	d.Names, d.Texts = "``", Backslashes
	q := query.Query{Table: "cpu", In: &query.TagIn{Key: "host", Values: []string{"it's"}}, Shape: query.Rows{Fields: []string{"order"}}}
	text, err := d.Render(&q, schema())
	if err != nil || !strings.Contains(text, "  `order`\n") || !strings.Contains(text, `host IN ('it\'s')`) {
		t.Errorf("%v\n%s", err, text)
	}
	for where, table := range map[string]*series.Table{
		"table": {Name: "a`b"},
		"tag":   {Name: "a", Tags: []series.Tag{{Key: "a`b"}}},
		"field": {Name: "a", Fields: []series.Field{{Name: "a`b"}}},
	} {
		if err := d.CheckNames(table); !errors.Is(err, query.ErrUnsupported) {
			t.Errorf("the %s: %v", where, err)
		}
		if err := testDialect().CheckNames(table); err != nil {
			t.Error(err)
		}
	}
	q.In.Values[0] = "a\x00"
	if _, err := d.Render(&q, schema()); !errors.Is(err, query.ErrUnsupported) || !strings.Contains(err.Error(), "tag host") {
		t.Error(err)
	}
}
