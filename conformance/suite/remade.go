package suite

import (
	"errors"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/session"
)

// copyTable runs a statement that may copy a table. Some systems want the query in
// parentheses, and others do not take it so.
func copyTable(t T, db driver.DB, statement string) {
	t.Helper()
	q := Querier(t, db)
	defer Close(t, q)
	_, err := q.Do(t.Context(), driver.Request{Text: statement}, nil)
	if head, selected, ok := strings.Cut(statement, " AS "); err != nil && ok {
		_, err = q.Do(t.Context(), driver.Request{Text: head + " AS (" + selected + ")"}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// remade: a table that another user dropped and made again under the name of one of
// tsmark's is not dropped, even if it has the same columns. A table
// that was only changed, as by the steps after a load, still belongs to tsmark.
func (s *Suite) remade(t T) {
	if s.caps.Language != "SQL" {
		t.Log("n/a: its tables are not made by SQL")
		return
	}
	env := driver.Env{Dir: t.TempDir(), Create: true}
	db := s.open(t, env)
	table := Table("a")
	Prepare(t, db, 10, table)
	for _, step := range db.Steps {
		if err := step.Do(t.Context()); err != nil {
			t.Fatalf("%s: %v", step.Name, err)
		}
	}
	reopen := func() {
		Close(t, db)
		db = s.open(t, env)
	}
	reopen()
	Prepare(t, db, 10, table) // dropping tsmark's own table is allowed
	for _, made := range []string{"CREATE TABLE cpu (salary INTEGER)", "CREATE TABLE cpu AS SELECT * FROM payroll"} {
		copyTable(t, db, "CREATE TABLE payroll AS SELECT * FROM cpu")
		Query(t, db, "DROP TABLE cpu")
		copyTable(t, db, made)
		Query(t, db, "DROP TABLE payroll")
		reopen()
		schema := schemaOf(10, table)
		for what, err := range map[string]error{
			"looking":   session.New(db).Inspect(t.Context(), schema),
			"preparing": session.New(db).Prepare(t.Context(), schema, session.Mark{}),
		} {
			if !errors.Is(err, driver.ErrExisting) || !strings.Contains(err.Error(), "cpu, which is not the one that tsmark made") {
				t.Errorf("%s, %s: %v", made, what, err)
			}
		}
		Query(t, db, "SELECT * FROM cpu") // it is there
		Query(t, db, "DROP TABLE cpu")
		Prepare(t, db, 10, table)
	}
	Close(t, db)
}
