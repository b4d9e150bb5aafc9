package mysql_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/mysql"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// batch has rows of ten series.
func batch(table *series.Table, rows int) *series.Batch {
	var b series.Batch
	conformance.Fill(b.Add(table), rows, 0, 10)
	return &b
}

// TestWarningsAreErrors checks that a batch with a value out of range is not stored, and that the error
// names the problem. LOAD DATA LOCAL turns such errors into warnings, and stores other values.
func TestWarningsAreErrors(t *testing.T) {
	for _, method := range []string{"load", "insert"} {
		options := server(t, "method", method)
		db := open(t, options)
		table := conformance.Table("a")
		conformance.Prepare(t, db, 10, table)
		admin(t, options, "ALTER TABLE cpu MODIFY a TINYINT")
		w := conformance.Writer(t, db)
		b := batch(table, 500)
		b.Runs[0].Columns[0].Ints[321] = 128
		_, err := w.Write(t.Context(), b)
		if err == nil || !strings.Contains(err.Error(), "Out of range value for column 'a'") || driver.AsTemporary(err) != nil {
			t.Errorf("%s: %v", method, err)
		}
		conformance.Close(t, w)
		if census, err := db.Census(t.Context(), table); err != nil || census.Rows != 0 {
			t.Errorf("%s: %+v, %v", method, census, err)
		}
	}
}

// A server without local_infile is told of before anything is made, with the remedy.
func TestLocalInfileIsOff(t *testing.T) {
	options := server(t)
	db := open(t, options)
	table := conformance.Table("a")
	conformance.Prepare(t, db, 10, table)
	admin(t, options, "SET GLOBAL local_infile = OFF")
	defer admin(t, options, "SET GLOBAL local_infile = ON")
	const remedy = "run SET GLOBAL local_infile = ON there, or give method=insert"
	if err := try(t, options); err == nil || !strings.Contains(err.Error(), remedy) {
		t.Errorf("%v", err)
	}
	w := conformance.Writer(t, db)
	if _, err := w.Write(t.Context(), batch(table, 10)); err == nil || !strings.Contains(err.Error(), remedy) {
		t.Errorf("switched off since: %v", err)
	}
	conformance.Close(t, w)
	options["method"] = "insert"
	if err := try(t, options); err != nil {
		t.Error(err)
	}
}

// The settings of durability are made for a load, and for writers after a crash, reported, and made undone.
func TestDurability(t *testing.T) {
	options := server(t)
	describe := func(db driver.DB) string {
		d, err := db.Describe(t.Context())
		if err != nil || !strings.HasPrefix(d.Version, "M") {
			t.Fatalf("%+v, %v", d, err)
		}
		return d.Settings["innodb_flush_log_at_trx_commit"] + " " + d.Durability
	}
	before := open(t, options)
	relaxed := conformance.Open(t, mysql.Driver(), "", "host", options["host"], "port", options["port"], "user", options["user"], "password", options["password"],
		"database", options["database"], "flush_log", "2")
	if got := describe(before); !strings.HasPrefix(got, "2 ") || !strings.Contains(got, "once a second") {
		t.Errorf("while it is relaxed: %s", got)
	}
	conformance.Close(t, relaxed)
	if got := describe(before); !strings.HasPrefix(got, "1 ") || !strings.Contains(got, "by fsync") {
		t.Errorf("then: %s", got)
	}
	options["flush_log"] = "2"
	kind := mysql.Driver()
	resolved, err := kind.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	again, err := kind.Open(t.Context(), driver.Env{}, resolved)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, again)
	if got := describe(again); !strings.HasPrefix(got, "1 ") {
		t.Errorf("opened for queries: %s", got)
	}
	if err := again.Join(t.Context(), new(series.Schema)); err != nil {
		t.Fatal(err)
	}
	if got := describe(again); !strings.HasPrefix(got, "2 ") {
		t.Errorf("once it will be written: %s", got)
	}
}

// A connection that the server ends while a batch is written: the same batch is
// stored by another writer, with the series that the first had claimed.
func TestWriterIsCutOff(t *testing.T) {
	options := server(t)
	db := open(t, options)
	table := conformance.Table("a")
	conformance.Prepare(t, db, 10, table)
	w := conformance.Writer(t, db)
	ids := conformance.Query(t, db, "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()")
	for _, row := range ids {
		admin(t, options, "KILL "+row[0].String())
	}
	b := batch(table, 100)
	if _, err := w.Write(t.Context(), b); driver.AsTemporary(err) == nil {
		t.Fatalf("no error to try again after: %v", err)
	}
	conformance.Close(t, w)
	conformance.Write(t, db, b)
	if census, err := db.Census(t.Context(), table); err != nil || census.Rows != 100 {
		t.Errorf("%+v, %v", census, err)
	}
}

// No query is answered from a query cache that the server has on, and a session in which it
// is on is told.
func TestNoQueryCache(t *testing.T) {
	options := server(t)
	cache := func(db driver.DB, like string) string {
		rows := conformance.Query(t, db, "SHOW SESSION "+like)
		if len(rows) == 0 {
			t.Skip("the server has no query cache")
		}
		return rows[0][1].String()
	}
	const session, hits = `VARIABLES LIKE 'query\_cache\_type'`, `STATUS LIKE 'Qcache_hits'`
	cache(open(t, options), session)
	admin(t, options, "SET GLOBAL query_cache_type = ON", "SET GLOBAL query_cache_size = 1048576")
	defer admin(t, options, "SET GLOBAL query_cache_type = OFF")
	db := open(t, options)
	table := conformance.Table("a")
	conformance.Prepare(t, db, 10, table)
	conformance.Write(t, db, batch(table, 100))
	before := cache(db, hits)
	for range 3 {
		conformance.Query(t, db, "SELECT COUNT(*) FROM "+table.Name)
	}
	if state, after := cache(db, session), cache(db, hits); state != "OFF" || after != before {
		t.Errorf("query_cache_type is %s in a session, and queries hit the cache: %s before, %s after", state, before, after)
	}
	effective, err := db.EffectiveOptions(t.Context())
	if err != nil || !slices.ContainsFunc(effective, func(e driver.EffectiveOption) bool { return e.Setting == "query_cache_type" && e.Found == "OFF" }) {
		t.Errorf("%+v, %v", effective, err)
	}
}

// TestTagsAreBytes checks that tags are stored unchanged whatever characters they contain, and that
// comparisons distinguish every byte.
func TestTagsAreBytes(t *testing.T) {
	values := conformance.Names{`a\b`, `a\\b`, "line\nbreak", "tab\there", "o'brien", `"`, "`", "%", "a", "a ", "A", "ä", "", `\N`, "NULL"}
	for _, layout := range []string{"normalized", "wide", "narrow"} {
		for _, method := range []string{"load", "insert"} {
			db := open(t, server(t, "layout", layout, "method", method))
			table := conformance.Table("a")
			table.Tags = []series.Tag{{Key: "hostname", Values: values}}
			n := uint32(len(values))
			conformance.Prepare(t, db, n, table)
			var b series.Batch
			conformance.Fill(b.Add(table), len(values), 0, n)
			conformance.Write(t, db, &b)
			schema := &series.Schema{Tables: []*series.Table{table}, Series: n}
			for _, value := range values {
				q := query.Query{Table: table.Name, In: &query.TagIn{Key: "hostname", Values: []string{value}}, Shape: query.Rows{Tag: "hostname", Fields: []string{"a"}}}
				d := mysql.Driver()
				options, err := d.Resolve(map[string]string{"layout": layout})
				if err != nil {
					t.Fatal(err)
				}
				request, err := d.Render(&q, schema, options)
				if err != nil {
					t.Fatal(err)
				}
				answer := conformance.Query(t, db, request.Text)
				if len(answer) != 1 || string(answer[0][1].Text) != value {
					t.Errorf("%s by %s: %q is %v", layout, method, value, answer)
				}
			}
		}
	}
}

// What tsmark did not create is refused, named, and dropped only if it was.
func TestExisting(t *testing.T) {
	options := server(t)
	admin(t, options, "CREATE TABLE cpu (answer INT)", "CREATE VIEW seen AS SELECT * FROM cpu")
	db := open(t, options)
	schema := &series.Schema{Tables: []*series.Table{conformance.Table("a")}, Series: 3}
	if err := session.New(db).Prepare(t.Context(), schema, session.Mark{}); !errors.Is(err, driver.ErrExisting) {
		t.Errorf("%v", err)
	}
	found, err := session.New(db).Existing(t.Context(), schema)
	named := session.Names(found)
	if err != nil || !slices.Equal(named, []string{"view seen", "table cpu"}) && !slices.Equal(named, []string{"table cpu", "view seen"}) {
		t.Fatalf("%v, %v", named, err)
	}
	if err := session.New(db).Drop(t.Context(), schema, named); err != nil {
		t.Fatal(err)
	}
	conformance.Prepare(t, db, 3, schema.Tables...)
}

// A statement that waits for a lock of another session ends in one line, which names the session
// if the server tells, and else the sessions that may hold the lock.
func TestLocked(t *testing.T) {
	testLocked(t, server(t), false)
}

// The same of a server that tells who holds locks, as MySQL does as shipped.
func TestLockHolder(t *testing.T) {
	conformance.Address(t, "mysql")
	s := fault.Script(t, "mysql", "TSMARK_MARIADB_FLAGS=--performance-schema=ON --performance-schema-instrument=wait/lock/metadata/sql/mdl=ON")
	testLocked(t, map[string]string{"port": strconv.Itoa(s.Port()), "user": "tsmark", "password": conformance.Password(t)}, true)
}

func testLocked(t *testing.T, options map[string]string, holderKnown bool) {
	schema := &series.Schema{Tables: []*series.Table{conformance.Table("a")}, Series: 3}
	d := limit.Driver(mysql.Driver(), limit.Limits{Statement: 3 * time.Second, Step: time.Minute})
	resolved, err := d.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	db, err := d.Open(t.Context(), driver.Env{Create: true}, resolved)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, db)
	conformance.Prepare(t, db, 3, schema.Tables...)
	other := conformance.Querier(t, open(t, options))
	defer conformance.Close(t, other)
	put := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			if _, err := other.Do(t.Context(), driver.Request{Text: text}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	var id query.Value
	if _, err := other.Do(t.Context(), driver.Request{Text: "SELECT CONNECTION_ID()"}, query.SinkFunc(func(row []query.Value) error { id = row[0]; return nil })); err != nil {
		t.Fatal(err)
	}
	says := func(doing string, err error, mode string) {
		t.Helper()
		want := []string{"for a lock in vain: ", fmt.Sprintf("session %s (user tsmark, from 127.0.0.1:", id), "Sleep for ", "--statement-timeout"}
		if holderKnown {
			want = append(want, "has table cpu locked ("+mode+"); let it finish, or end it by KILL "+id.String())
		} else {
			want = append(want, "does not say who holds it", "SHOW FULL PROCESSLIST", "KILL")
		}
		for _, want := range want {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || errors.Is(err, driver.ErrUnreachable) {
				t.Errorf("%s: it does not say %q in one line: %v", doing, want, err)
			}
		}
		t.Log(err)
	}

	put("LOCK TABLE cpu WRITE")
	for doing, read := range map[string]func() error{
		"counting": func() error { _, err := db.Census(t.Context(), schema.Tables[0]); return err },
		"querying": func() error {
			q := conformance.Querier(t, db)
			defer conformance.Close(t, q)
			_, err := q.Do(t.Context(), driver.Request{Text: "SELECT * FROM cpu"}, nil)
			return err
		},
	} {
		begin := time.Now()
		says(doing, read(), "SHARED_NO_READ_WRITE")
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s took %v", doing, took)
		}
	}
	put("UNLOCK TABLES")
	if _, err := db.Census(t.Context(), schema.Tables[0]); err != nil {
		t.Errorf("once it is free: %v", err)
	}

	if holderKnown { // by this process itself, which nobody else has to end
		own := conformance.Querier(t, db)
		if _, err := own.Do(t.Context(), driver.Request{Text: "LOCK TABLE cpu WRITE"}, nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if _, err := db.Census(ctx, schema.Tables[0]); err == nil || strings.Contains(err.Error(), "in vain") {
			t.Errorf("locked by this process: %v", err)
		}
		cancel()
		conformance.Close(t, own)
	}

	put("START TRANSACTION", "SELECT * FROM cpu")
	says("replacing", session.New(db).Prepare(t.Context(), schema, session.Mark{}), "SHARED_READ")
	put("ROLLBACK")
	if err := session.New(db).Prepare(t.Context(), schema, session.Mark{}); err != nil {
		t.Errorf("once it is free: %v", err)
	}
}

// The size of tables is that of their files, those of partitions too.
func TestFootprint(t *testing.T) {
	for _, partition := range []string{"", "60s"} {
		db := open(t, server(t, "partition", partition))
		table := conformance.Table("a")
		conformance.Prepare(t, db, 10, table)
		b := batch(table, 500)
		for i := range b.Runs[0].Times {
			b.Runs[0].Times[i] *= 1_000_000 // seconds
		}
		conformance.Write(t, db, b)
		files := int64(2) // cpu and tags
		if partition != "" {
			files += 9 // 500 seconds, and the partition for later times
		}
		const file = 64 << 10 // the least
		if n, err := db.Footprint(t.Context()); err != nil || n.Bytes < files*file {
			t.Errorf("partition %q: %+v, %v", partition, n, err)
		}
	}
}

// A query that nobody waits for any more is ended on the server, and the querier
// goes on.
func TestAbandonedQueryIsKilled(t *testing.T) {
	db := open(t, server(t))
	q := conformance.Querier(t, db)
	defer conformance.Close(t, q)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := q.Do(ctx, driver.Request{Text: "SELECT BENCHMARK(100000000, MD5('x'))"}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	const running = "SELECT count(*) FROM information_schema.processlist WHERE info LIKE 'SELECT BENCHMARK%'"
	for deadline := time.Now().Add(10 * time.Second); conformance.Query(t, db, running)[0][0].Int > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it runs on")
		}
	}
	if _, err := q.Do(t.Context(), driver.Request{Text: "SELECT 1"}, nil); err != nil {
		t.Error(err)
	}
}
