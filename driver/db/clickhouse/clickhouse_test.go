package clickhouse_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/clickhouse"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// What tsmark did not create is refused, named, and dropped only if it was.
func TestExisting(t *testing.T) {
	options := server(t)
	admin(t, options, "CREATE TABLE cpu (answer Int8) ENGINE = MergeTree ORDER BY answer", "CREATE VIEW seen AS SELECT * FROM cpu")
	db := open(t, options)
	schema := &series.Schema{Tables: []*series.Table{conformance.Table("a")}, Series: 3}
	if err := session.New(db).Prepare(t.Context(), schema, session.Mark{}); !errors.Is(err, driver.ErrExisting) {
		t.Errorf("%v", err)
	}
	found, err := session.New(db).Existing(t.Context(), schema)
	named := session.Names(found)
	slices.Sort(named)
	if err != nil || !slices.Equal(named, []string{"table cpu", "view seen"}) {
		t.Fatalf("%v, %v", named, err)
	}
	if err := session.New(db).Drop(t.Context(), schema, named); err != nil {
		t.Fatal(err)
	}
	conformance.Prepare(t, db, 3, schema.Tables...)
}

// No query is answered from the server's query cache.
func TestNoQueryCache(t *testing.T) {
	for _, protocol := range []string{"native", "http"} {
		db := open(t, server(t, "protocol", protocol))
		if rows := conformance.Query(t, db, "SELECT value, changed FROM system.settings WHERE name = 'use_query_cache'"); len(rows) != 1 || rows[0][0].String() != "0" || rows[0][1].String() != "1" {
			t.Errorf("%s: use_query_cache, and whether it was set: %v", protocol, rows)
		}
	}
}

// What a server tells of itself, of its tables and of its work.
func TestFigures(t *testing.T) {
	for _, protocol := range []string{"native", "http"} {
		db := open(t, server(t, "protocol", protocol, "fsync", "on"))
		d, err := db.Describe(t.Context())
		if err != nil || !strings.HasPrefix(d.Version, "ClickHouse 2") || !strings.Contains(d.Durability, "by fsync") || d.Safety != driver.OnDisk || d.Settings["protocol"] != protocol ||
			d.Settings["prefer_column_name_to_alias"] != "1" || d.Settings["index_granularity"] == "" {
			t.Errorf("%+v, %v", d, err)
		}
		table := conformance.Table("a")
		conformance.Prepare(t, db, 10, table)
		var b series.Batch
		conformance.Fill(b.Add(table), 500, 0, 10)
		for range 3 {
			conformance.Write(t, db, &b)
		}
		if n, err := db.Footprint(t.Context()); err != nil || n.Bytes < 1000 || n.Bytes > 1<<20 {
			t.Errorf("%+v, %v", n, err)
		}
		upkeep := func() string {
			t.Helper()
			text, err := db.Upkeep(t.Context(), []driver.Object{{Kind: "table", Name: table.Name}})
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		if err := db.Steps[0].Do(t.Context()); err != nil {
			t.Error(err)
		}
		if got := upkeep(); got != "1 parts in 1 partitions, 1 of them merged from others; 0 merges at work" {
			t.Errorf("after the step: %s", got)
		}
		if figures, err := db.ReadMetrics(t.Context()); err != nil || figures["inserted_rows_total"] < 1500 {
			t.Errorf("%v, %v", figures, err)
		}
	}
}

// A query that nobody waits for any more ends, and the querier goes on.
func TestAbandonedQuery(t *testing.T) {
	for _, protocol := range []string{"native", "http"} {
		db := open(t, server(t, "protocol", protocol))
		q := conformance.Querier(t, db)
		defer conformance.Close(t, q)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		begin := time.Now()
		if _, err := q.Do(ctx, driver.Request{Text: "SELECT sleepEachRow(1) FROM numbers(12) SETTINGS max_block_size = 1"}, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if took := time.Since(begin); took > 8*time.Second {
			t.Errorf("%s: it took %v", protocol, took)
		}
		if _, err := q.Do(t.Context(), driver.Request{Text: "SELECT 1"}, nil); err != nil {
			t.Error(err)
		}
	}
}

// Rows that cannot be stored are told, and none of them is there.
func TestRefusedRows(t *testing.T) {
	for _, protocol := range []string{"native", "http"} {
		options := server(t, "protocol", protocol)
		db := open(t, options)
		table := conformance.Table("a")
		conformance.Prepare(t, db, 10, table)
		admin(t, options, "ALTER TABLE cpu ADD CONSTRAINT small CHECK a < 400")
		w := conformance.Writer(t, db)
		var b series.Batch
		conformance.Fill(b.Add(table), 500, 0, 10)
		b.Runs[0].Columns[0].Ints[321] = 401
		if _, err := w.Write(t.Context(), &b); err == nil || !strings.Contains(err.Error(), "small") || driver.AsTemporary(err) != nil {
			t.Errorf("%s: %v", protocol, err)
		}
		conformance.Close(t, w)
		if census, err := db.Census(t.Context(), table); err != nil || census.Rows != 0 {
			t.Errorf("%s: %+v, %v", protocol, census, err)
		}
	}
}

// An encrypted connection loads and queries over both protocols; a certificate that
// nobody vouches for is refused unless the option says otherwise.
func TestTLS(t *testing.T) {
	for protocol, port := range map[string]string{"native": "port", "http": "http_port"} {
		options := server(t, "protocol", protocol)
		options[port] = serveTLS(t, net.JoinHostPort(options["host"], options[port]))
		stub.Says(t, conformance.TryAt(t, clickhouse.Driver(), options)) // the server uses TLS
		options["tls"] = "on"
		stub.Says(t, conformance.TryAt(t, clickhouse.Driver(), options), "certificate", "trusted", "give tls=insecure")
		options["tls"] = "insecure"
		db := open(t, options)
		table := conformance.Table("a")
		conformance.Prepare(t, db, 10, table)
		var b series.Batch
		conformance.Fill(b.Add(table), 500, 0, 10)
		conformance.Write(t, db, &b)
		conformance.CheckRows(t, conformance.Query(t, db, "SELECT count() FROM cpu"), conformance.Row(500))
	}
}

// serveTLS returns the port of a TLS proxy in front of an address.
func serveTLS(t *testing.T, to string) string {
	t.Helper()
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	_, port := stub.TCP(t, func(plain net.Conn) {
		client := tls.Server(plain, &tls.Config{Certificates: web.TLS.Certificates})
		server, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer server.Close()
		go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
		_, _ = io.Copy(client, server)
	})
	return port
}

// What async_insert wants of the server reaches it, and rows are there once they are
// acknowledged.
func TestAsyncInsert(t *testing.T) {
	for _, protocol := range []string{"native", "http"} {
		db := open(t, server(t, "protocol", protocol, "async_insert", "on"))
		if d, err := db.Describe(t.Context()); err != nil || d.Settings["async_insert"] != "1" || d.Settings["wait_for_async_insert"] != "1" {
			t.Errorf("%s: %v, %v", protocol, d.Settings, err)
		}
		table := conformance.Table("a")
		conformance.Prepare(t, db, 10, table)
		var b series.Batch
		conformance.Fill(b.Add(table), 500, 0, 10)
		conformance.Write(t, db, &b)
		if census, err := db.Census(t.Context(), table); err != nil || census.Rows != 500 {
			t.Errorf("%s: %+v, %v", protocol, census, err)
		}
	}
}
