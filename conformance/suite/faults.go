package suite

import (
	"context"
	"errors"
	"maps"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/conformance/lie"
	"github.com/tsmark/tsmark/conformance/wire"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/retry"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/session"
)

// The faults in this file need no control over the server. Package fault has the others.

// brokenConnection: one of four batches is stored and not acknowledged. Its writer is closed, and a new one
// sends it again, as with --retry. The census accounts for all rows.
func (s *Suite) brokenConnection(t T) {
	ctx := t.Context()
	e := s.cpuOnly(t, 0)
	expected, err := oracle.Pass(ctx, e.dataset, nil, nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	stuttering := lie.Apply(s.driver, lie.Stutters())
	db, err := stuttering.Open(ctx, driver.Env{Dir: t.TempDir(), Create: true}, s.options)
	if err != nil {
		t.Fatal(err)
	}
	defer Close(t, db)
	if err := session.New(db).Prepare(ctx, e.dataset.Schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	rows := int(expected.Survey.Rows)/12 + 1
	load, err := engine.Load(ctx, engine.LoadConfig{Workers: 1, BatchSize: rows, Period: time.Minute, Retry: retry.Policy{Times: 3}}, e.dataset, db, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	if load.Rows != expected.Survey.Rows || load.Retries == nil {
		t.Fatalf("%d rows were accepted, %d sent; retries %+v", load.Rows, expected.Survey.Rows, load.Retries)
	}
	sent := verify.Sent{Acknowledged: true, Twice: load.Retries.SentTwice}
	if s.caps.Dedupes { // as the runner has it
		sent.Twice = 0
	}
	census, err := verify.Census(ctx, db, &expected.Survey, sent, nil)
	if err != nil {
		t.Fatal(err)
	}
	if problem := census[0].Problem; problem != "" {
		t.Errorf("%d rows were sent again: %s", load.Retries.SentTwice, problem)
	}
}

// cancelledLoad: a load whose context ends returns, and afterwards the target takes a whole load.
func (s *Suite) cancelledLoad(t T) {
	e := s.cpuOnly(t, 0)
	db := s.open(t, driver.Env{Dir: t.TempDir(), Create: true})
	defer Close(t, db)
	if err := session.New(db).Prepare(t.Context(), e.dataset.Schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := engine.Load(ctx, engine.LoadConfig{Workers: 1, BatchSize: 500, Period: time.Minute}, e.dataset, db, func(int) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if err := session.New(db).Prepare(t.Context(), e.dataset.Schema(), session.Mark{}); err != nil {
		t.Fatalf("preparing again: %v", err)
	}
	s.write(t, db, e.dataset)
	expected, err := oracle.Pass(t.Context(), e.dataset, nil, nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	census, err := verify.Census(t.Context(), db, &expected.Survey, verify.Sent{Acknowledged: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if problem := census[0].Problem; problem != "" {
		t.Errorf("after the next load: %s", problem)
	}
}

// failedQuery: a query that the system refuses ends in an error, and its connection answers the next one.
func (s *Suite) failedQuery(t T) {
	if s.caps.Language != "SQL" {
		t.Skip("n/a: its queries are not SQL")
	}
	e := limitRows(s.cpuOnly(t, 0), 10)
	db := s.open(t, driver.Env{Dir: t.TempDir(), Create: true})
	defer Close(t, db)
	if err := session.New(db).Prepare(t.Context(), e.dataset.Schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	s.write(t, db, e.dataset)
	q := Querier(t, db)
	defer Close(t, q)
	_, err := q.Do(t.Context(), driver.Request{Text: "SELECT nowhere FROM missing_table"}, nil)
	if err == nil {
		t.Error("a query about a table that does not exist has an answer")
	}
	var answer query.Answer
	if _, err := q.Do(t.Context(), driver.Request{Text: "SELECT count(*) FROM " + e.dataset.Schema().Tables[0].Name}, &answer); err != nil || len(answer.Rows) != 1 {
		t.Errorf("the query after it has %d rows, 1 expected; %v", len(answer.Rows), err)
	}
}

// noServer: nothing listens on the ports of the server, and the error says so.
func (s *Suite) noServer(t T) {
	if _, ok := s.options[connection.Host]; !ok || len(s.driver.Ports()) == 0 {
		t.Skip("n/a: it has no options host and port")
	}
	options := maps.Clone(s.options)
	options[connection.Host] = "127.0.0.1"
	for _, name := range s.driver.Ports() {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		options[name] = strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
		_ = listener.Close() // so that the port is free
	}
	db, err := s.driver.Open(t.Context(), driver.Env{Dir: t.TempDir(), Create: true}, options)
	switch {
	case err == nil:
		Close(t, db)
		t.Error("it opens a server where nothing listens")
	case !errors.Is(err, driver.ErrUnreachable):
		t.Errorf("the error does not wrap driver.ErrUnreachable: %v", err)
	default:
		if problem := unclear(err, s.secrets()); problem != "" {
			t.Error(problem)
		}
	}
}

// cutConnection: an answer that is cut on its way ends in an error, and is never taken for a shorter one.
// The next connection answers.
func (s *Suite) cutConnection(t T) {
	if s.options[connection.Host] == "" || len(s.driver.Ports()) == 0 {
		t.Skip("n/a: it has no options host and port")
	}
	ctx, e := t.Context(), s.cpuOnly(t, 0)
	env := driver.Env{Dir: t.TempDir(), Create: true}
	db := s.open(t, env)
	defer Close(t, db)
	if err := session.New(db).Prepare(ctx, e.dataset.Schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	s.write(t, db, e.dataset)
	q := query.Query{Table: "cpu", Shape: query.Buckets{Aggregate: query.Max, Fields: []string{"usage_user"}, Width: time.Hour, GroupBy: "hostname", Order: query.Ascending}}
	request, err := s.driver.Render(&q, e.dataset.Schema(), s.options)
	if errors.Is(err, query.ErrUnsupported) {
		t.Skipf("n/a: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	flow, options := wire.NewFlow(), maps.Clone(s.options)
	for _, name := range s.driver.Ports() {
		if options[name] == "" {
			continue
		}
		w, err := wire.New(net.JoinHostPort(options[connection.Host], options[name]), flow)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		options[name] = w.Port()
	}
	options[connection.Host] = "127.0.0.1"
	env.Create = false
	through, err := s.driver.Open(ctx, env, options)
	if err != nil {
		t.Skipf("n/a: it cannot be reached through a proxy: %v", err)
	}
	defer through.Close() // its connections may be cut
	run := func() (rows int, err error) {
		querier, err := driver.Reconnect(ctx, through, 0)
		if err != nil {
			return 0, err
		}
		defer querier.Close() // its connection may be cut
		if _, err := querier.Do(ctx, request, nil); err != nil {
			return 0, err
		}
		var answer query.Answer
		_, err = querier.Do(ctx, request, &answer)
		return len(answer.Rows), err
	}
	rows, err := run()
	if err != nil {
		t.Fatal(err)
	}
	before := flow.Answered.Load()
	if _, err := run(); err != nil {
		t.Fatal(err)
	}
	size := flow.Answered.Load() - before
	if size < int64(rows) {
		t.Skip("n/a: its connections do not pass through a proxy")
	}
	for share := range int64(10) { // of the bytes of connecting and two answers
		flow.Left.Store(size * share / 10)
		found, err := run()
		flow.Left.Store(-1)
		if err == nil && found != rows {
			t.Errorf("an answer of %d rows was cut, and %d of them were taken for all", rows, found)
		} else if err != nil && unclear(err, s.secrets()) != "" {
			t.Error(unclear(err, s.secrets()))
		}
	}
	if found, err := run(); err != nil || found != rows {
		t.Errorf("after connections were cut: %d rows, %d expected; %v", found, rows, err)
	}
}

// noDatabase: an embedded database that does not exist is not created by commands that only read.
func (s *Suite) noDatabase(t T) {
	if !s.caps.Embedded {
		t.Skip("n/a: it does not run in tsmark's process")
	}
	dir := t.TempDir()
	db, err := s.driver.Open(t.Context(), driver.Env{Dir: dir}, s.options)
	if err == nil {
		Close(t, db)
		t.Error("it opens a database that does not exist, although Env.Create is false")
	} else if problem := unclear(err, s.secrets()); problem != "" {
		t.Error(problem)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("opening it left %v (%v)", left, err)
	}
}

// secrets returns the values of secret options.
func (s *Suite) secrets() (values []string) {
	for _, o := range s.driver.Options {
		if v := s.options[o.Name]; o.Secret && v != "" {
			values = append(values, v)
		}
	}
	return values
}

// unclear returns why an error must not be shown to a user; empty: it may.
func unclear(err error, secrets []string) string {
	text := err.Error()
	if strings.Contains(text, "\n") {
		return "the error has several lines: " + strconv.Quote(text)
	}
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			return "the error shows the value of a secret option"
		}
	}
	return ""
}
