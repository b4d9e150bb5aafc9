package limit

import (
	"context"
	"errors"
	"reflect"
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
	driver.Required
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

// calls returns the methods of a target with the limit of each.
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
		"listing objects":    {func(ctx context.Context) error { _, err := t.Objects(ctx); return err }, short.Statement},
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

// TestCallsEnd checks that every call ends at its limit with an error that names the operation, the
// time waited, and the flag that raises the limit, and promptly with its context; even if the driver
// ignores its context.
func TestCallsEnd(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		for doing := range calls(driver.DB{}) {
			synctest.Test(t, func(t *testing.T) {
				c := calls(Target(driver.DB{Required: &silent{deaf: deaf}}, short))[doing]
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
		q, err := Target(driver.DB{Required: &silent{}}, short).NewQuerier(t.Context(), 0)
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
		d := Driver(driver.Driver{Name: "x", Caps: func(driver.Options) driver.Caps { return driver.Caps{} }, Open: func(_ context.Context, env driver.Env, _ driver.Options) (driver.DB, error) {
			if env.Locks <= short.Statement/2 || env.Locks >= short.Statement {
				t.Errorf("it may wait %v for locks", env.Locks)
			}
			time.Sleep(time.Hour)
			return driver.DB{Required: late}, nil
		}}, short)
		_, err := d.Open(t.Context(), driver.Env{Create: true}, nil)
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

// TestOptionalCallsEnd checks that every optional function with a context ends at a limit too, and that
// its error names the operation. The limited database has exactly the optional functions of the
// database.
func TestOptionalCallsEnd(t *testing.T) {
	names := reflect.TypeFor[driver.Optional]()
	for i := range names.NumField() {
		f := names.Field(i)
		if f.Type.Kind() != reflect.Func || f.Type.NumIn() == 0 || f.Type.In(0) != reflect.TypeFor[context.Context]() {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			db := driver.DB{Required: &silent{}}
			reflect.ValueOf(&db.Optional).Elem().Field(i).Set(reflect.MakeFunc(f.Type, func(in []reflect.Value) []reflect.Value {
				<-in[0].Interface().(context.Context).Done()
				return outputs(f.Type, errors.New("cut off"))
			}))
			limited := Target(db, short)
			in := []reflect.Value{reflect.ValueOf(t.Context())}
			for p := 1; p < f.Type.NumIn(); p++ {
				arg := reflect.New(f.Type.In(p)).Elem()
				if arg.Kind() == reflect.Pointer {
					arg.Set(reflect.New(arg.Type().Elem()))
				}
				in = append(in, arg)
			}
			begin := time.Now()
			out := reflect.ValueOf(limited.Optional).Field(i).Call(in)
			err, _ := out[len(out)-1].Interface().(error)
			var late *Late
			if took := time.Since(begin); !errors.As(err, &late) || took != late.Limit {
				t.Errorf("%s: %v after %v", f.Name, err, took)
			}
		})
	}
	none := reflect.ValueOf(Target(driver.DB{Required: &silent{}}, short).Optional)
	for i := range names.NumField() {
		if !none.Field(i).IsZero() && none.Field(i).Kind() == reflect.Func {
			t.Errorf("%s is set, and the database lacks it", names.Field(i).Name)
		}
	}
}

// outputs are the results of a function that failed.
func outputs(f reflect.Type, err error) []reflect.Value {
	out := make([]reflect.Value, f.NumOut())
	for i := range out {
		out[i] = reflect.Zero(f.Out(i))
	}
	out[len(out)-1] = reflect.ValueOf(&err).Elem()
	return out
}

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
		t.Error("six bytes give no error")
	}
	row := []query.Value{{Text: make([]byte, OwnBytes)}}
	for free, want := range map[int64]bool{0: false, OwnBytes: true} {
		s, err := NewSink(query.SinkFunc(func([]query.Value) error { return nil }), 2, free), error(nil)
		for range 2 {
			err = errors.Join(err, s.Row(row))
		}
		if took := err == nil; took != want {
			t.Errorf("two rows of 64 MiB with at most %d bytes of free texts: %v", free, err)
		}
	}
}

// A user is told about a call that takes long, until it ends, and not about others.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []string
		l := Limits{Statement: Patience + time.Second, Step: Patience / 2, Waiting: func(doing string) func() {
			calls = append(calls, "begin "+doing)
			return func() { calls = append(calls, "end "+doing) }
		}}
		db := Target(driver.DB{Required: &silent{}}, l)
		_, _ = db.Describe(t.Context()) // waits for its limit
		_ = db.Settle(t.Context())
		if want := []string{"begin reading version and settings (3s at most)", "end reading version and settings (3s at most)"}; !slices.Equal(calls, want) {
			t.Errorf("%q, want %q", calls, want)
		}
	})
}
