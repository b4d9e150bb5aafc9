package conformance

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/run/compatible"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// KeepsOthers checks that a database with a profile's text replaces its own tables, and not a table with the same
// columns that somebody else made under the name of one of them. The options lead to a database of the base driver,
// and the statements make the table other like the table cpu.
func KeepsOthers(t *testing.T, base driver.Driver, text string, options map[string]string, statements ...string) {
	t.Helper()
	find := func(string) (driver.Driver, error) { return base, nil }
	d, err := compatible.Lookup(find, &experiment.Target{Driver: base.Name, Profile: "x", ProfileText: text})
	if err != nil {
		t.Fatal(err)
	}
	db := OpenAt(t, d, options)
	schema := &series.Schema{Tables: []*series.Table{Table("a")}, Series: 3}
	for range 2 {
		if err := session.New(db).Prepare(t.Context(), schema, session.Mark{}); err != nil {
			t.Fatal(err)
		}
	}
	Statements(t, base, options, append(statements, "DROP TABLE cpu", "ALTER TABLE other RENAME TO cpu")...)
	err = session.New(db).Prepare(t.Context(), schema, session.Mark{})
	if !errors.Is(err, driver.ErrExisting) || !strings.Contains(err.Error(), "table cpu, which is not the one that tsmark made under that name") {
		t.Errorf("a table of others would be dropped: %v", err)
	}
	if own, err := session.New(db).OwnObjects(t.Context()); err != nil || len(own) != 1 || own[0].Name != "tags" {
		t.Errorf("it counts as tsmark's: %v, %v", own, err)
	}
	agreed := session.Force{Confirm: func(_ context.Context, _ string, named []string) error {
		if len(named) != 1 || named[0] != "table cpu" {
			t.Errorf("confirmation is requested for %q", named)
		}
		return nil
	}}
	if err := agreed.Prepare(t.Context(), session.New(db), schema, session.Mark{}); err != nil {
		t.Error(err)
	}
}

// Profile returns the driver that a profile of tsmark's makes of a base driver, the profile's options, and its quirks.
func Profile(t testing.TB, base driver.Driver, name string) (of driver.Driver, options map[string]string, quirks any) {
	t.Helper()
	adapter := *base.Compatible
	base.Compatible = &driver.Adapter{Quirks: adapter.Quirks, Driver: func(c driver.Compatible) (driver.Driver, error) {
		quirks = c.Quirks
		return adapter.Driver(c)
	}}
	base = compatible.Extend([]driver.Driver{base})[0]
	find := func(string) (driver.Driver, error) { return base, nil }
	of, err := compatible.Lookup(find, &experiment.Target{Driver: base.Name, Profile: name})
	if err == nil {
		options, err = of.Choose(name, "", nil)
	}
	if err != nil || quirks == nil {
		t.Fatalf("profile %s: %v", name, err)
	}
	return of, options, quirks
}
