package store

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tsmark/tsmark/result"
)

// gate is a proxy to a server that can be closed: then it accepts connections and forwards nothing.
type gate struct {
	address string
	mu      sync.Mutex
	closed  bool
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	g := &gate{address: l.Addr().String()}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = client.Close() })
			server, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = server.Close() })
			go g.forward(client, server)
			go g.forward(server, client)
		}
	}()
	return g
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

func (g *gate) forward(from, to net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		g.mu.Lock()
		if !g.closed {
			_, _ = to.Write(buffer[:n])
		}
		g.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// A server that accepts connections and does not answer is refused as a place of results, in one
// line.
func TestSilentDatabase(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	_, err = openPostgres(t.Context(), "postgres://ann@"+l.Addr().String()+"/results", nil, true, 50*time.Millisecond)
	if !errors.Is(err, errSilent) || strings.Contains(err.Error(), "\n") {
		t.Errorf("opening: %v", err)
	}
}

// Every operation on results whose database stops answering, or is locked by another client, ends
// at the limit with an error of one line that says so; interrupted operations end at once.
func TestDatabaseFallsSilent(t *testing.T) {
	const short = 50 * time.Millisecond
	ctx := t.Context()
	direct, err := url.Parse(database(t))
	must(t, err)
	g := newGate(t, direct.Host)
	through := *direct
	through.Host = g.address
	admin, err := Open(ctx, direct.String(), nil) // also creates the schema
	must(t, err)
	defer admin.Close()
	open := func() *Store {
		t.Helper()
		s, err := openPostgres(ctx, through.String(), nil, false, time.Minute)
		must(t, err)
		return s
	}
	run := newRun(t)
	must(t, admin.Begin(ctx, run))
	unlock, err := admin.Lock(ctx, run.ID)
	must(t, err)
	unlock()
	statements := map[string]func(ctx context.Context, s *Store) error{
		"begin": func(ctx context.Context, s *Store) error { return s.Begin(ctx, newRun(t)) },
		"add":   func(ctx context.Context, s *Store) error { return s.Add(ctx, newRun(t)) },
		"append": func(ctx context.Context, s *Store) error {
			return s.Append(ctx, run, result.NewPiece(&run.Targets[0], 1, run.Targets[0].Load, nil))
		},
		"save":    func(ctx context.Context, s *Store) error { return s.Save(ctx, run) },
		"read":    func(ctx context.Context, s *Store) error { _, err := s.Run(ctx, Latest); return err },
		"list":    func(ctx context.Context, s *Store) error { _, err := s.Runs(ctx); return err },
		"find":    func(ctx context.Context, s *Store) error { _, err := s.Find(ctx, Latest); return err },
		"discard": func(ctx context.Context, s *Store) error { return s.Discard(ctx, run.ID) },
		"sweep":   func(ctx context.Context, s *Store) error { return s.BeginSweep(ctx, &result.Sweep{Started: started}) },
		"lock":    func(ctx context.Context, s *Store) error { _, err := s.Lock(ctx, run.ID); return err },
		"migrate": func(ctx context.Context, s *Store) error { return s.migrate(ctx, true) },
	}
	check := func(name string, err error) {
		t.Helper()
		if !errors.Is(err, errSilent) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}

	// Another client holds a lock: statements on the documents wait for it.
	tx, err := admin.db.BeginTx(ctx, nil)
	must(t, err)
	_, err = tx.ExecContext(ctx, "LOCK TABLE documents, sweeps IN ACCESS EXCLUSIVE MODE")
	must(t, err)
	for name, do := range statements {
		if name == "lock" || name == "migrate" { // these use other tables
			continue
		}
		s := open()
		s.limit = short
		check(name+" at a locked table", do(ctx, s))
		must(t, s.Close())
	}
	must(t, tx.Rollback())

	for name, do := range statements {
		s := open()
		held, err := s.Lock(ctx, "20260131-154500-"+name)
		must(t, err)
		g.close()
		s.limit = short
		check(name, do(ctx, s))
		if s.GoingOn(ctx, run.ID) {
			t.Errorf("%s: nobody knows whether it goes on", name)
		}
		held()
		must(t, s.Close())
		g.mu.Lock()
		g.closed = false
		g.mu.Unlock()
	}

	// An interrupted operation does not wait for the limit.
	s := open()
	s.limit = time.Hour
	g.close()
	interrupted, interrupt := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- s.Save(interrupted, run) }()
	interrupt()
	if err := <-done; err == nil {
		t.Error("it was saved")
	}
	s.silent.Store(true) // otherwise Close waits for a server that does not answer
	must(t, s.Close())
}
