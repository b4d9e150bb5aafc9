package limit

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

var short = Limits{Statement: time.Second, Step: time.Minute}

// silent is a target that answers nothing, and ends with the context or, if it is
// deaf, an hour later.
type silent struct {
	driver.DB
	deaf   bool
	closed chan struct{}
}

func (s *silent) wait(ctx context.Context) error {
	if s.deaf {
		time.Sleep(time.Hour)
		return nil
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

func (s *silent) Describe(ctx context.Context) (driver.Description, error) {
	return driver.Description{}, s.wait(ctx)
}
func (s *silent) Objects(ctx context.Context) ([]driver.Object, error) { return nil, s.wait(ctx) }
func (s *silent) Create(ctx context.Context, _ *series.Schema) error   { return s.wait(ctx) }
func (s *silent) Drop(ctx context.Context, _ []driver.Object) error    { return s.wait(ctx) }
func (s *silent) Note(ctx context.Context) (string, error)             { return "", s.wait(ctx) }
func (s *silent) SetNote(ctx context.Context, _ string) error          { return s.wait(ctx) }
func (s *silent) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	return silentWriter{}, s.wait(ctx)
}
func (s *silent) NewQuerier(ctx context.Context, _ int) (driver.Querier, error) {
	return silentQuerier{s}, nil
}
func (s *silent) Settle(ctx context.Context) error { return s.wait(ctx) }
func (s *silent) Census(ctx context.Context, _ *series.Table) (driver.Census, error) {
	return driver.Census{}, s.wait(ctx)
}
func (s *silent) Footprint(ctx context.Context) (driver.Footprint, error) {
	return driver.Footprint{Bytes: 7}, s.wait(ctx)
}
func (s *silent) Close() error {
	if s.closed != nil {
		close(s.closed)
	}
	return nil
}

type silentWriter struct{ driver.Writer }

func (silentWriter) Close() error { return nil }

type silentQuerier struct{ s *silent }

func (q silentQuerier) Do(ctx context.Context, _ driver.Request, _ query.Sink) (driver.Cost, error) {
	return driver.Cost{}, q.s.wait(ctx)
}
func (silentQuerier) Close() error { return nil }

// calls are all that a target can be asked, with the limit that each has.
func calls(t driver.DB) map[string]struct {
	do   func(context.Context) error
	most time.Duration
} {
	type call = struct {
		do   func(context.Context) error
		most time.Duration
	}
	return map[string]call{
		"reading version":    {func(ctx context.Context) error { _, err := t.Describe(ctx); return err }, short.Statement},
		"listing what is":    {func(ctx context.Context) error { _, err := t.Objects(ctx); return err }, short.Statement},
		"reading the note":   {func(ctx context.Context) error { _, err := t.Note(ctx); return err }, short.Statement},
		"writing the note":   {func(ctx context.Context) error { return t.SetNote(ctx, "") }, short.Statement},
		"dropping tables":    {func(ctx context.Context) error { return t.Drop(ctx, nil) }, short.Step},
		"for writing":        {func(ctx context.Context) error { _, err := t.NewWriter(ctx, 0); return err }, short.Statement},
		"measuring the size": {func(ctx context.Context) error { _, err := t.Footprint(ctx); return err }, short.Statement},
		"creating tables":    {func(ctx context.Context) error { return t.Create(ctx, nil) }, short.Step},
		"settled":            {func(ctx context.Context) error { return t.Settle(ctx) }, short.Step},
		"counting table cpu": {func(ctx context.Context) error {
			_, err := t.Census(ctx, &series.Table{Name: "cpu"})
			return err
		}, short.Step},
	}
}

// Every call ends at its limit with what was waited for, how long and what allows
// more, and promptly with its context; also one of a driver that is deaf.
func TestCallsEnd(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		for doing := range calls(nil) {
			synctest.Test(t, func(t *testing.T) {
				c := calls(Target(&silent{deaf: deaf}, short))[doing]
				begin := time.Now()
				err := c.do(t.Context())
				most := c.most
				if deaf {
					most += abandoned
				}
				var late *Late
				if took := time.Since(begin); took != most || !errors.As(err, &late) || late.Limit != c.most {
					t.Errorf("%s: %v after %v, want %v", doing, err, took, most)
				}
				if deaf && !strings.Contains(err.Error(), doing) {
					t.Errorf("%q does not say %q", err, doing)
				}
				flag := "--" + StatementFlag
				if c.most == short.Step {
					flag = "--" + StepFlag
				}
				if !strings.HasSuffix(err.Error(), flag) || errors.Is(err, driver.ErrUnreachable) != (c.most == short.Statement) {
					t.Errorf("%s: %q, unreachable %v", doing, err, errors.Is(err, driver.ErrUnreachable))
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				begin = time.Now()
				err = c.do(ctx)
				if took := time.Since(begin); took > time.Millisecond+abandoned || !errors.Is(err, context.DeadlineExceeded) || deaf != strings.Contains(err.Error(), "does not return after it was cancelled") {
					t.Errorf("%s, interrupted: %v after %v", doing, err, took)
				}
				if deaf {
					time.Sleep(2 * time.Hour) // so that all have ended
				}
			})
		}
	}
}

// A query has the limit of a step where it has none of its own.
func TestQueriesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, err := Target(&silent{}, short).NewQuerier(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		_, err = q.Do(t.Context(), driver.Request{}, nil)
		if took := time.Since(begin); took != short.Step || err == nil || !strings.Contains(err.Error(), "--"+StepFlag) {
			t.Errorf("%v after %v", err, took)
		}
		own, cancel := context.WithTimeout(t.Context(), 2*short.Step)
		defer cancel()
		begin = time.Now()
		_, err = q.Do(own, driver.Request{}, nil)
		if took := time.Since(begin); took != 2*short.Step || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a time-out of its own: %v after %v", err, took)
		}
	})
}

// What opens when nobody waits for it any more is closed.
func TestOpenedTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := &silent{closed: make(chan struct{})}
		kind := Driver(driver.Driver{Name: "x", Caps: func(driver.Options) driver.Caps { return driver.Caps{} }, Open: func(_ context.Context, env driver.Env, _ driver.Options) (driver.DB, error) {
			if env.Locks <= short.Statement/2 || env.Locks >= short.Statement {
				t.Errorf("it may wait %v for locks", env.Locks)
			}
			time.Sleep(time.Hour)
			return late, nil
		}}, short)
		_, err := kind.Open(t.Context(), driver.Env{Create: true}, nil)
		if !errors.Is(err, driver.ErrUnreachable) || !strings.HasPrefix(err.Error(), "opening x: ") {
			t.Errorf("%v", err)
		}
		<-late.closed
	})
}

// What outlives its context ends Grace later, with the same cause.
func TestOutlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the reason")
		ctx, cancel := context.WithCancelCause(t.Context())
		longer, release := Outlive(ctx)
		defer release()
		time.AfterFunc(time.Minute, func() { cancel(cause) })
		begin := time.Now()
		<-longer.Done()
		if took := time.Since(begin); took != time.Minute+Grace || context.Cause(longer) != cause {
			t.Errorf("after %v: %v", took, context.Cause(longer))
		}
	})
}

// What a target may be beside is hidden by the limits unless they know it: for
// each interface in package driver that a target can have, limited has it.
func TestNothingIsHidden(t *testing.T) {
	known := []string{
		"Adviser", "AfterLoader", "Bounded", "Clock", "Configured", "DistinctCounter", "Flusher", "Grower", "Inspector", "Joiner", "Kept", "LineTaker", "Materializer", "Metered", "Processes", "ReadTeller", "RowCounter", "SeriesLister", "Server", "Storage", "TextChecker", "Waiter", "Watcher",
		"DB", "Writer", "LineWriter", "Querier",
	}
	files, err := filepath.Glob("../../*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if _, ok := s.Type.(*ast.InterfaceType); ok && !slices.Contains(known, s.Name.Name) {
				t.Errorf("driver.%s is unknown here: give limited its methods, and add it to this test", s.Name.Name)
			}
			return true
		})
	}
	// Of a target that is nothing of that, it is nothing either.
	plain := Target(&silent{}, short)
	if _, ok := driver.As[driver.Inspector](plain); ok {
		t.Error("a target that inspects nothing counts as an Inspector")
	}
	if _, ok := driver.As[driver.Metered](Target(metered{&silent{}}, short)); !ok {
		t.Error("a target that is metered does not count as that")
	}
}

type metered struct{ *silent }

func (metered) Metrics(context.Context) (map[string]float64, error) { return nil, nil }

func TestSink(t *testing.T) {
	var answer query.Answer
	s := Sink{To: &answer, Rows: 2, Bytes: 5}
	for i, row := range [][]query.Value{{{Text: []byte("abc")}}, {{Int: 1}}} {
		if err := s.Row(row); err != nil {
			t.Errorf("row %d: %v", i, err)
		}
	}
	if err := s.Row(nil); err == nil || len(answer.Rows) != 2 || s.Came() != 3 {
		t.Errorf("a third row: %v; %d kept", err, len(answer.Rows))
	}
	s = Sink{To: &answer, Rows: 2, Bytes: 5}
	if err := s.Row([]query.Value{{Text: []byte("abc")}, {Text: []byte("def")}}); err == nil {
		t.Error("six bytes are no error")
	}
	row := []query.Value{{Text: make([]byte, OwnBytes)}}
	for free, want := range map[int64]bool{0: false, OwnBytes: true} {
		s, err := Expected(query.SinkFunc(func([]query.Value) error { return nil }), 2, free), error(nil)
		for range 2 {
			err = errors.Join(err, s.Row(row))
		}
		if took := err == nil; took != want {
			t.Errorf("two rows of 64 MiB, of which %d bytes may be free texts: %v", free, err)
		}
	}
}
