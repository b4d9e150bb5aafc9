package influxdb

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// openNew opens a database of the server that is not there yet, and drops it
// with the test.
func openNew(t *testing.T, name string, set ...string) *database {
	t.Helper()
	options := server(t, append(set, connection.Database, name)...)
	d := conformance.Open(t, Driver(), t.TempDir(), pairs(options)...).Required.(*database)
	drop := func() {
		if err := d.dropDatabase(t.Context()); err != nil {
			t.Error(err)
		}
	}
	drop()
	t.Cleanup(func() { conformance.Close(t, d) })
	return d
}

func pairs(options map[string]string) []string {
	var list []string
	for name, value := range options {
		list = append(list, name, value)
	}
	return list
}

// put writes lines past tsmark.
func (d *database) put(t *testing.T, lines string) {
	t.Helper()
	to, err := d.settings.writes("").Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, to)
	if _, err := to.Send(t.Context(), [][]byte{[]byte(lines)}); err != nil {
		t.Fatal(err)
	}
}

func schema() *series.Schema {
	return &series.Schema{Tables: []*series.Table{conformance.Table("usage")}, Series: 3}
}

// TestExistingData checks that tsmark drops objects that it did not create only if they are named.
func TestExistingData(t *testing.T) {
	ctx := t.Context()
	d := openNew(t, "tsmark_test existing")
	s := session.New(d.db())
	if _, err := s.Mark(ctx); !errors.Is(err, session.ErrNoMark) {
		t.Errorf("no database: %v", err)
	}
	if err := d.own.Exec(ctx, `CREATE DATABASE "tsmark_test existing"`); err != nil {
		t.Fatal(err)
	}
	d.put(t, "theirs,a=b v=1\nweather v=1")
	refused := func(says string) {
		t.Helper()
		err := s.Prepare(ctx, schema(), session.Mark{})
		if stub.Says(t, err, says); !errors.Is(err, driver.ErrExisting) {
			t.Errorf("%v is no ErrExisting", err)
		}
	}
	refused("measurement theirs, measurement weather; give another database")
	named := func(want string) []string {
		t.Helper()
		found, err := s.Existing(ctx, schema())
		if names := session.Names(found); err != nil || strings.Join(names, ", ") != want {
			t.Fatalf("existing %v, %v", names, err)
		}
		return session.Names(found)
	}
	agreed := named("measurement theirs, measurement weather")
	d.put(t, "later v=1")
	if err := s.Drop(ctx, schema(), agreed); err != nil {
		t.Fatal(err)
	}
	refused("measurement later; give another database")
	if err := s.Drop(ctx, schema(), named("measurement later")); err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(ctx, schema(), session.Mark{Tool: "t"}); err != nil {
		t.Fatal(err)
	}
	d.put(t, "theirs v=1")
	refused("measurement theirs; drop it or give another database")
	if err := s.Drop(ctx, schema(), named("measurement theirs")); err != nil {
		t.Fatal(err)
	}
	if mark, err := s.Mark(ctx); err != nil || mark.Tool != "t" {
		t.Errorf("%+v, %v", mark, err)
	}
	if err := s.Prepare(ctx, schema(), session.Mark{}); err != nil {
		t.Error(err)
	}
}

// A database goes only where all in it is tsmark's: not what somebody made again
// under a name of tsmark's, no retention policy, no continuous query.
func TestExistingBesideTheMark(t *testing.T) {
	const on = ` ON "tsmark_test beside"`
	for name, c := range map[string]struct{ made, put, existing string }{
		"a measurement made again":  {`DROP MEASUREMENT cpu`, "cpu salary=1", "measurement cpu"},
		"its tags":                  {`DROP MEASUREMENT cpu`, "cpu,clerk=a usage=1i", "measurement cpu"},
		"its types":                 {`DROP MEASUREMENT cpu`, "cpu usage=1.5", "measurement cpu"},
		"a retention policy":        {`CREATE RETENTION POLICY "theirs"` + on + ` DURATION 3d REPLICATION 1`, "", "retention policy theirs"},
		"a policy that was altered": {`ALTER RETENTION POLICY "autogen"` + on + ` DURATION 30d`, "", "retention policy autogen"},
		"another default":           {`CREATE RETENTION POLICY "theirs"` + on + ` DURATION 3d REPLICATION 1 DEFAULT`, "", "retention policy autogen"},
		"a continuous query":        {`CREATE CONTINUOUS QUERY "every hour"` + on + ` BEGIN SELECT mean("usage") INTO "hourly" FROM "cpu" GROUP BY time(1h) END`, "", "continuous query every hour"},
		"in a retention policy":     {`CREATE RETENTION POLICY "theirs"` + on + ` DURATION 0s REPLICATION 1`, "theirs v=1", "measurement theirs"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			d := openNew(t, "tsmark_test beside")
			for range 2 { // what tsmark made goes
				if err := session.New(d.db()).Prepare(ctx, schema(), session.Mark{Tool: "t"}); err != nil {
					t.Fatal(err)
				}
				_, batch := prepareDatabase(t, map[string]string{})
				conformance.Write(t, d.db(), replaceTable(batch, d.Tables()[0]))
			}
			if err := d.own.Exec(ctx, c.made); err != nil {
				t.Fatal(err)
			}
			if c.put != "" {
				d.put(t, c.put)
			}
			for what, err := range map[string]error{"looking": session.New(d.db()).Inspect(ctx, schema()), "preparing": session.New(d.db()).Prepare(ctx, schema(), session.Mark{})} {
				if !errors.Is(err, driver.ErrExisting) || !strings.Contains(err.Error(), c.existing) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if mark, err := session.New(d.db()).Mark(ctx); err != nil || mark.Tool != "t" {
				t.Errorf("after a refusal: %+v, %v", mark, err)
			}
			found, err := session.New(d.db()).Existing(ctx, schema())
			named := session.Names(found)
			if err != nil || !slices.Contains(named, c.existing) {
				t.Fatalf("existing %v, %v", named, err)
			}
			if err := session.New(d.db()).Drop(ctx, schema(), named); err != nil {
				t.Fatal(err)
			}
			if err := session.New(d.db()).Prepare(ctx, schema(), session.Mark{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// replaceTable is a batch whose rows are those of a table.
func replaceTable(b *series.Batch, t *series.Table) *series.Batch {
	b.Runs[0].Table = t
	return b
}

// An empty database that somebody prepared is used, and its policies stay
// somebody's: it is not dropped for another load.
func TestEmptyDatabaseOfOthers(t *testing.T) {
	ctx := t.Context()
	d := openNew(t, "tsmark_test empty")
	if err := d.own.Exec(ctx, `CREATE DATABASE "tsmark_test empty" WITH DURATION 90d NAME "theirs"`); err != nil {
		t.Fatal(err)
	}
	if err := session.New(d.db()).Prepare(ctx, schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	stub.Says(t, session.New(d.db()).Prepare(ctx, schema(), session.Mark{}), "retention policy theirs; drop it or give another database")
}

// TestDescribe checks that the database has the properties that the options set.
func TestDescribe(t *testing.T) {
	version, durability := "1.", "fsync, before it is acknowledged"
	if product() == geminiServer {
		version, durability = "openGemini ", "by fsync at the latest after 100ms as shipped"
	}
	for _, test := range []struct{ retention, shard, name, want string }{
		{"", "", "autogen", "168h0m0s"}, {"", "1d", "autogen", "24h0m0s"}, {"a policy", "12h", "a policy", "12h0m0s"},
	} {
		d := openNew(t, "tsmark_test policies", optionRetention, test.retention, optionShard, test.shard)
		if err := session.New(d.db()).Prepare(t.Context(), schema(), session.Mark{}); err != nil {
			t.Fatal(err)
		}
		_, batch := prepareDatabase(t, map[string]string{})
		written := &series.Schema{Tables: []*series.Table{batch.Runs[0].Table}, Series: 3}
		d.Prepare(d.settings.lines().New(written), written)
		conformance.Write(t, d.db(), batch)
		if err := d.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		census, err := d.Census(t.Context(), &series.Table{Name: "cpu", Fields: batch.Runs[0].Table.Fields, Dense: true})
		if err != nil || census.Rows != 5 || census.Fields[batch.Runs[0].Table.FieldIndex("usage")].Count != 5 {
			t.Errorf("%+v, %v", census, err)
		}
		description, err := d.Describe(t.Context())
		if got := description.Settings[fmt.Sprintf("retention policy %s shard duration", test.name)]; err != nil || got != test.want ||
			!strings.HasPrefix(description.Version, version) || !strings.Contains(description.Durability, durability) {
			t.Errorf("%+v, %v", description, err)
		}
		if n, err := d.Footprint(t.Context()); err != nil || n.Bytes <= 0 && !d.settings.gemini() {
			t.Errorf("%+v, %v", n, err)
		}
	}
}
