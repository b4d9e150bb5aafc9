package pgwire_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// server returns how to reach the PostgreSQL that tests may use.
func server(t testing.TB) *pgwire.Config {
	t.Helper()
	host, port := conformance.Address(t, "postgres")
	config, err := pgwire.NewConfig(connection.Settings{
		Host: host, Port: port, Database: "postgres", User: "tsmark", Password: conformance.Password(t), Timeout: 10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func querier(t testing.TB, p pgwire.Protocol) *pgwire.Querier {
	t.Helper()
	q, err := pgwire.NewQuerier(t.Context(), server(t), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conformance.Close(t, q) })
	return q
}

func TestAnswers(t *testing.T) {
	const values = `SELECT 9223372036854775807, -7::int2, 7::int4, 0.1::float8, 1.5::float4, 'Infinity'::float8, 12.50::numeric, NULL::text,
		'', 'it''s 日', true, timestamptz '1969-12-31 23:59:59.999999+00', timestamp '2016-01-01 12:00:00', -0.00001234::numeric, sum(n) FROM generate_series(1::bigint, 3) AS n`
	at := func(s string) query.Value {
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return query.Value{Kind: query.Time, Int: v.UnixNano()}
	}
	want := conformance.Row(math.MaxInt64, -7, 7, 0.1, 1.5, math.Inf(1), 12.5, nil, "", "it's 日", 1,
		at("1969-12-31T23:59:59.999999Z"), at("2016-01-01T12:00:00Z"), -0.00001234, 6.0)
	for _, p := range pgwire.Protocols() {
		q := querier(t, p)
		for range 2 {
			var answer query.Answer
			if _, err := q.Do(t.Context(), driver.Request{Text: values}, &answer); err != nil {
				t.Fatalf("%s: %v", p, err)
			}
			conformance.CheckRows(t, answer.Rows, want)
		}
		const count = "SELECT n, 'abc'::text, NULL::text FROM generate_series(1, 5000) AS n"
		cost, err := q.Do(t.Context(), driver.Request{Text: count}, nil)
		if err != nil || cost.Rows != 5000 || cost.Bytes < 5000*(7+3*4+4) {
			t.Errorf("%s: %+v, %v", p, cost, err)
		}
		if cost, err := q.Do(t.Context(), driver.Request{Text: "SELECT 1 WHERE false"}, nil); err != nil || cost.Rows != 0 {
			t.Errorf("%s: %+v, %v", p, cost, err)
		}
		for text, says := range map[string]string{
			"SELEC":              "syntax error",
			"SELECT 1; SELECT 2": "",
			"SELECT 1 / (3 - n) FROM generate_series(1, 5) AS n": "division by zero",
		} {
			if _, err := q.Do(t.Context(), driver.Request{Text: text}, nil); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %q: %v", p, text, err)
			}
		}
		if p != pgwire.Simple {
			var answer query.Answer
			if _, err := q.Do(t.Context(), driver.Request{Text: "SELECT ARRAY[1]"}, &answer); err == nil || !strings.Contains(err.Error(), "cast it") {
				t.Errorf("%s: an array: %v", p, err)
			}
			if cost, err := q.Do(t.Context(), driver.Request{Text: "SELECT ARRAY[1]"}, nil); err != nil || cost.Rows != 1 {
				t.Errorf("%s: an array that is counted alone: %+v, %v", p, cost, err)
			}
		}
		enough, n := errors.New("enough"), 0
		_, err = q.Do(t.Context(), driver.Request{Text: count}, query.SinkFunc(func([]query.Value) error {
			if n++; n == 3 {
				return enough
			}
			return nil
		}))
		if err != enough || n != 3 {
			t.Errorf("%s: the sink's error became %v after %d rows", p, err, n)
		}
	}
}

// A query ends soon after its context, on the server as well, and the
// next one is not hit.
func TestInterrupted(t *testing.T) {
	watcher := querier(t, pgwire.Extended)
	for _, p := range pgwire.Protocols() {
		q := querier(t, p)
		const long = "SELECT pg_sleep(60)::text"
		for _, limit := range []time.Duration{0, 50 * time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			start := time.Now()
			_, err := q.Do(ctx, driver.Request{Text: long}, nil)
			cancel()
			if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > 20*time.Second {
				t.Errorf("%s after %v: %v, %v", p, limit, err, took)
			}
			if _, err := q.Do(t.Context(), driver.Request{Text: "SELECT 1"}, nil); err != nil {
				t.Errorf("%s: the next query: %v", p, err)
			}
		}
		conformance.CheckRows(t, queryRows(t, watcher, "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT pg_sleep(60)%'"), conformance.Row(0))
	}
}

func queryRows(t *testing.T, q *pgwire.Querier, text string) [][]query.Value {
	t.Helper()
	var answer query.Answer
	if _, err := q.Do(t.Context(), driver.Request{Text: text}, &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Rows
}

// TestManyPrepared checks that a querier caches a limited number of statements, and runs queries that
// have been evicted.
func TestManyPrepared(t *testing.T) {
	q := querier(t, pgwire.Prepared)
	for round := range 2 {
		for i := range 600 {
			if got := queryRows(t, q, "SELECT "+strings.Repeat("1 + ", i%300)+"0"); got[0][0].Int != int64(i%300) {
				t.Fatalf("round %d, statement %d: %v", round, i, got)
			}
		}
	}
	if n := queryRows(t, q, "SELECT count(*) FROM pg_prepared_statements")[0][0].Int; n < 200 || n > 257 {
		t.Errorf("%d statements are kept", n)
	}
}

// A link and a querier outlive a connection that the server ended.
func TestReconnects(t *testing.T) {
	config := server(t)
	link := pgwire.NewLink(config, false)
	defer conformance.Close(t, link)
	q := querier(t, pgwire.Prepared)
	var pid int64
	own := func(c *pgwire.Conn) error {
		row, err := sqlkit.QueryRow(t.Context(), c, "SELECT pg_backend_pid()")
		if err == nil {
			pid = row[0].Int
		}
		return err
	}
	if err := link.Do(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	first := pid
	if got := queryRows(t, q, "SELECT pg_terminate_backend("+query.Value{Kind: query.Int, Int: pid}.String()+", 5000)"); got[0][0].Int != 1 {
		t.Fatalf("the connection was not ended: %v", got)
	}
	if err := link.Do(t.Context(), own); err != nil || pid == first {
		t.Errorf("process %d, before %d: %v", pid, first, err)
	}
	if _, err := q.Do(t.Context(), driver.Request{Text: "SELECT pg_terminate_backend(pg_backend_pid())"}, nil); !errors.Is(err, driver.ErrUnreachable) {
		t.Errorf("an answer of an ended connection: %v", err)
	}
	if got := queryRows(t, q, "SELECT 1"); got[0][0].Int != 1 {
		t.Error(got)
	}
	conformance.Close(t, link)
	if err := link.Do(t.Context(), own); err == nil {
		t.Error("a closed link connects")
	}
}

// TestReadAllocatesNothing: an answer costs no more memory for having more rows.
func TestReadAllocatesNothing(t *testing.T) {
	q := querier(t, pgwire.Extended)
	allocations := func(n string) float64 {
		request := driver.Request{Text: "SELECT now(), n::float8, n::bigint, n::numeric / 7, 'host_' || n FROM generate_series(1, " + n + ") AS n"}
		return testing.AllocsPerRun(10, func() {
			if _, err := q.Do(t.Context(), request, query.SinkFunc(func([]query.Value) error { return nil })); err != nil {
				t.Fatal(err)
			}
		})
	}
	few, many := allocations("10"), allocations("50000")
	if perRow := (many - few) / 50_000; perRow > 0.01 {
		t.Errorf("%v allocations for 10 rows, %v for 50,000", few, many)
	}
}

// BenchmarkRead reads 100,000 rows of twelve columns in each round.
func BenchmarkRead(b *testing.B) {
	const rows = 100_000
	request := driver.Request{Text: "SELECT now(), n::float8, n::float8, n::float8, n::float8, n::float8, n::float8, n::float8, n::float8, n::float8, n::float8, 'host_1'::text FROM generate_series(1, 100000) AS n"}
	for _, p := range pgwire.Protocols() {
		b.Run(string(p), func(b *testing.B) {
			q := querier(b, p)
			b.ReportAllocs()
			for b.Loop() {
				if cost, err := q.Do(b.Context(), request, nil); err != nil || cost.Rows != rows {
					b.Fatal(cost, err)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkQuery runs the smallest query.
func BenchmarkQuery(b *testing.B) {
	for _, p := range pgwire.Protocols() {
		b.Run(string(p), func(b *testing.B) {
			q := querier(b, p)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := q.Do(b.Context(), driver.Request{Text: "SELECT 1"}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
