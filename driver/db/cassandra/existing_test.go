package cassandra

import (
	"errors"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// Nothing goes that tsmark did not make: no table in a keyspace without its mark, and
// none that somebody made again under a name of tsmark's.
func TestExistingData(t *testing.T) {
	ctx := t.Context()
	options := conformance.TestServer(t, Driver(), "database", "tsmark_existing", optionQuiet, "0s")
	d := conformance.OpenAt(t, Driver(), options).Required.(*database)
	exec := func(texts ...string) {
		t.Helper()
		if err := d.exec(ctx, texts...); err != nil {
			t.Fatal(err)
		}
	}
	exec("DROP KEYSPACE IF EXISTS tsmark_existing", d.layout.makeKeyspace(), "CREATE TABLE tsmark_existing.theirs (id int PRIMARY KEY)")
	s, schema := session.New(d.db()), &series.Schema{Tables: []*series.Table{conformance.Table("usage")}, Series: 3}
	refused := func(says string) {
		t.Helper()
		err := s.Prepare(ctx, schema, session.Mark{})
		if stub.Says(t, err, says); !errors.Is(err, driver.ErrExisting) {
			t.Errorf("%v is no ErrExisting", err)
		}
	}
	refused("table theirs")
	exec("DROP TABLE tsmark_existing.theirs")
	for range 2 { // what tsmark made goes
		if err := s.Prepare(ctx, schema, session.Mark{Tool: "t"}); err != nil {
			t.Fatal(err)
		}
	}
	table := tableName(schema.Tables[0].Name)
	made := strings.SplitN(d.layout.tables(schema)[0].statement, " WITH ", 2)[0]
	exec("DROP TABLE "+d.layout.qualify(table), made)
	refused("table " + table)
	exec("DROP KEYSPACE tsmark_existing")
}

// A keyspace that is there is written as the option says.
func TestDurableWrites(t *testing.T) {
	ctx := t.Context()
	for _, wanted := range []string{"true", "false", "true"} {
		options := conformance.TestServer(t, Driver(), "database", "tsmark_durable", optionDurableWrites, wanted)
		d := conformance.OpenAt(t, Driver(), options).Required.(*database)
		if err := d.makeKeyspace(ctx); err != nil {
			t.Fatal(err)
		}
		about, err := d.Describe(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(about.Durability, "durable_writes=false"); has != (wanted == "false") || has != (about.Safety == driver.InMemory) {
			t.Errorf("durable_writes=%s: %s", wanted, about.Durability)
		}
	}
}
