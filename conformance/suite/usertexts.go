package suite

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/session"
)

// hostileTexts are texts that change data, write files or are several statements, by language.
// Some hide this from parsers that read quotes and comments differently from the system.
// TABLE is a table with a row, FILE a path without a file.
func hostileTexts(language string) []string {
	if language == "influxql" {
		return []string{
			`SELECT usage INTO stolen FROM TABLE`, `SELECT usage INTO "stolen" FROM TABLE`, `DROP MEASUREMENT TABLE`,
			`SELECT usage FROM TABLE; DROP MEASUREMENT TABLE`, `SELECT usage FROM TABLE WHERE a = '\'' ; DROP MEASUREMENT TABLE --'`,
			`/* ' */ DELETE FROM TABLE -- '`, `EXPLAIN ANALYZE SELECT usage INTO stolen FROM TABLE`, `CREATE DATABASE stolen`, ``,
		}
	}
	return []string{
		"DELETE FROM TABLE",
		"DROP TABLE TABLE",
		"INSERT INTO TABLE SELECT * FROM TABLE",
		"CREATE TABLE stolen AS SELECT * FROM TABLE",
		"CREATE TABLE stolen AS (SELECT * FROM TABLE)",
		"TRUNCATE TABLE TABLE",
		"WITH x AS (SELECT 1) DELETE FROM TABLE",
		"WITH x AS (DELETE FROM TABLE RETURNING 1) SELECT * FROM x",
		"EXPLAIN ANALYZE DELETE FROM TABLE",
		"SELECT 1; DROP TABLE TABLE",
		"SELECT 1) AS t; DROP TABLE TABLE; SELECT 2 FROM (SELECT 1",
		"WITH x AS (SELECT $$'$$) DELETE FROM TABLE --'",
		"SELECT * INTO stolen FROM TABLE",
		"SELECT 1 INTO OUTFILE 'FILE'",
		"SELECT 1 INTO DUMPFILE 'FILE'",
		"COPY TABLE TO 'FILE'",
		"COPY (SELECT 1) TO PROGRAM 'touch FILE'",
		"/* /* */ SELECT ' */ COPY (SELECT 1) TO PROGRAM 'touch FILE' -- '",
		"EXPORT DATABASE 'FILE'",
		"ATTACH 'FILE' AS stolen",
		"ATTACH DATABASE 'FILE' AS stolen",
		"VACUUM INTO 'FILE'",
		"PRAGMA user_version = 7",
		"INSTALL httpfs",
		"LOAD 'FILE'",
		"SET threads = 1",
		"SELECT 1\x00; DROP TABLE TABLE",
		"",
		"-- nothing",
	}
}

// ambiguousTexts are texts that drop the table for a parser that reads quotes and comments one
// way, and are a harmless query for others.
func ambiguousTexts() []string {
	return []string{
		"SELECT $$'$$; DROP TABLE TABLE --'",
		"SELECT E'\\''; DROP TABLE TABLE --'",
		"SELECT ['\\'']; DROP TABLE TABLE --'",
		"SELECT [']; DROP TABLE TABLE --'",
		"SELECT '\\''; DROP TABLE TABLE --'",
		"SELECT 1 /* /* */ ; DROP TABLE TABLE -- */",
		"SELECT 1 -- \\\n; DROP TABLE TABLE",
		"SELECT 1 # ; SELECT 2\n; DROP TABLE TABLE",
		"SELECT 1 /*! ; DROP TABLE TABLE */",
		"SELECT \"\\\"\" ; DROP TABLE TABLE --\"",
		"SELECT `\\`` ; DROP TABLE TABLE --`",
		"SELECT 'a' 'b\\' ; DROP TABLE TABLE --'",
	}
}

// userTexts: a text of a user's that does more than read is refused by the system itself,
// before it runs, and queries run as they are.
func (s *Suite) userTexts(t T) {
	l := s.driver.LiteralsOf(s.options)
	if l == nil || l.Unsupported != "" {
		t.Log("n/a: it runs no texts of users")
		return
	}
	if l.Confinement == "" {
		t.Error("nothing says what keeps a text from changing anything")
	}
	db := s.open(t, driver.Env{Dir: t.TempDir(), Create: true})
	defer Close(t, db)
	if db.CheckText == nil {
		t.Fatal("the driver has Literals, and an open database lacks CheckText")
	}
	dataset := limitRows(s.cpuOnly(t, 0), 10).dataset
	table := dataset.Schema().Tables[0].Name
	if err := session.New(db).Prepare(t.Context(), dataset.Schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Load(t.Context(), engine.LoadConfig{Workers: 1, BatchSize: 10, Period: time.Minute}, dataset, db, func(int) {}); err != nil {
		t.Fatal(err)
	}
	before, err := db.Objects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "stolen")
	q := Querier(t, db)
	defer Close(t, q)
	hostile := hostileTexts(l.Language)
	for i, text := range append(hostile, ambiguousTexts()...) {
		text = strings.NewReplacer("TABLE TABLE", "TABLE "+table, "FROM TABLE", "FROM "+table, "INTO TABLE", "INTO "+table, "COPY TABLE", "COPY "+table,
			"MEASUREMENT TABLE", "MEASUREMENT "+table, "FILE", file).Replace(text)
		switch err := db.CheckText(t.Context(), text); {
		case err == nil && i < len(hostile):
			t.Errorf("taken: %q", text)
		case err == nil: // which must be harmless then
			_, err = q.Do(t.Context(), driver.Request{Text: text, UserText: true}, nil)
			t.Logf("taken: %q: %v", text, err)
		}
	}
	if after, err := db.Objects(t.Context()); err != nil || len(after) != len(before) {
		t.Errorf("checking texts changed the existing objects: %v, before %v, %v", after, before, err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Errorf("checking texts wrote %s", file)
	}
	texts := []string{"SELECT count(*) FROM " + table, "SELECT count(*) FROM " + table + " ;\n"}
	if l.Language == "sql" {
		texts = append(texts, "WITH x AS (SELECT count(*) AS n FROM "+table+") SELECT n FROM x -- its end")
	}
	for _, text := range texts {
		if err := db.CheckText(t.Context(), text); err != nil {
			t.Errorf("refused: %q: %v", text, err)
			continue
		}
		var answer query.Answer
		if _, err := q.Do(t.Context(), driver.Request{Text: text, UserText: true}, &answer); err != nil {
			t.Errorf("%q: %v", text, err)
		} else if len(answer.Rows) != 1 {
			t.Errorf("%q has %d rows: %v", text, len(answer.Rows), answer.Rows)
		}
	}
	// A text that fails leaves the connection unchanged.
	if _, err := q.Do(t.Context(), driver.Request{Text: "SELECT nowhere FROM " + table + "_", UserText: true}, nil); err == nil && l.Language == "sql" {
		t.Error("a text of a table that is not there has an answer")
	}
	if _, err := q.Do(t.Context(), driver.Request{Text: texts[0], UserText: true}, nil); err != nil {
		t.Errorf("after a text that failed: %v", err)
	}
	if err := session.New(db).Inspect(t.Context(), dataset.Schema()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
