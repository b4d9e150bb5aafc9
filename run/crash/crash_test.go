package crash_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/crash"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Of the 10 batches of a round, ackedBatches are acknowledged, the next one is under way at the crash, and the
// last one is not sent. They have batchRows rows. The load has loadedBatches.
const (
	batchRows, roundBatches, ackedBatches, loadedBatches = 10, 10, 8, 4
)

// victim is a database in memory that crashes. damage takes the batches that it has stored since the crash before,
// the one under way last, and returns the batches that are left after the crash.
type victim struct {
	db       driver.DB
	schema   *series.Schema
	damage   func(stored []*series.Batch) []*series.Batch
	stored   []*series.Batch
	settled  int           // number of these at the start of the round
	written  int           // batches of the round
	reached  chan struct{} // closed when a batch is under way that waits for the crash
	crashed  chan struct{} // closed by the crash
	dead     bool
	noReturn bool
	safety   driver.Safety // that it reports; the load had none
	late     bool          // a command crashes it, after all batches of the round were stored
	last     chan struct{} // closed when the last batch was stored
	breaks   bool          // the batch under way fails after a pause
	// lostEarlier is the number of batches from before the round that the crash drops.
	lostEarlier int
}

func (v *victim) Can(kind string) error {
	if kind == result.CrashPower {
		return errors.New("this machine has no disk for it")
	}
	return nil
}

// startTime is the time that a start has taken already when it returns.
const startTime = time.Hour

func (v *victim) Start(context.Context) (time.Time, error) {
	if v.dead && v.noReturn {
		return time.Time{}, errors.New("the log is damaged")
	}
	v.dead = false
	return time.Now().Add(-startTime), nil
}

func (v *victim) Open(context.Context) (driver.DB, error) {
	db := v.db
	db.Required = &victimDB{db.Required, v}
	return db, nil
}

func (v *victim) Settle(context.Context) error {
	v.settled, v.written, v.reached, v.crashed, v.last = len(v.stored), 0, make(chan struct{}), make(chan struct{}), make(chan struct{})
	return nil
}

func (v *victim) Kill(ctx context.Context) error {
	if v.late {
		<-v.last
		return nil
	}
	<-v.reached
	v.dead = true
	close(v.crashed)
	kept := append(slices.Clone(v.stored[v.lostEarlier:v.settled]), v.damage(slices.Clone(v.stored[v.settled:]))...)
	return v.replace(ctx, kept)
}

// replace stores other batches in place of all.
func (v *victim) replace(ctx context.Context, batches []*series.Batch) error {
	if err := errors.Join(v.db.Drop(ctx, nil), v.db.Create(ctx, v.schema)); err != nil {
		return err
	}
	v.stored = nil
	return v.write(ctx, batches...)
}

func (v *victim) write(ctx context.Context, batches ...*series.Batch) error {
	w, err := v.db.NewWriter(ctx, 0)
	for _, b := range batches {
		if err == nil {
			v.stored = append(v.stored, b)
			_, err = w.Write(ctx, b)
		}
	}
	return err
}

func (v *victim) FailPower(context.Context) error { return errors.New("no power failed") }
func (v *victim) Pause(context.Context) error     { <-v.reached; return nil }
func (v *victim) Resume(context.Context) error    { close(v.crashed); return nil }

type victimDB struct {
	driver.Required
	v *victim
}

func (d *victimDB) NewWriter(context.Context, int) (driver.Writer, error) {
	return &victimWriter{d.v}, nil
}

func (d *victimDB) Describe(context.Context) (driver.Description, error) {
	return driver.Description{Version: "memory", Durability: "a test's", Safety: d.v.safety}, nil
}

type victimWriter struct{ v *victim }

func (w *victimWriter) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	kept := b.CopyRows(nil)
	if w.v.written++; w.v.written == ackedBatches+1 && w.v.reached != nil && !w.v.late {
		w.v.stored = append(w.v.stored, kept)
		close(w.v.reached)
		<-w.v.crashed
		if w.v.dead || w.v.breaks {
			w.v.breaks = false
			return driver.Receipt{}, errors.New("connection reset by peer")
		}
		w.v.stored = w.v.stored[:len(w.v.stored)-1]
	}
	now, err := time.Now(), w.v.write(ctx, kept)
	if w.v.written == roundBatches && w.v.late {
		close(w.v.last)
	}
	return driver.Receipt{Sent: now, Acked: now, Rows: int64(b.Rows())}, err
}

func (w *victimWriter) Flush(context.Context) (driver.Receipt, error) { return driver.Receipt{}, nil }
func (w *victimWriter) Close() error                                  { return nil }

// suffer lets a database crash once in a way.
func suffer(t *testing.T, kind string, change func(*victim)) *result.Crash {
	t.Helper()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := tsbs.CPUOnly().Dataset(workload.Spec{Name: "cpu-only", Seed: 1, Scale: 5, Start: start, End: start.Add(time.Hour), Interval: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	of := memory.Driver("memory")
	db, err := of.Open(t.Context(), driver.Env{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &victim{db: db, schema: d.Schema(), damage: func(stored []*series.Batch) []*series.Batch { return stored[:ackedBatches] }}
	if change != nil {
		change(v)
	}
	if err := db.Create(t.Context(), d.Schema()); err != nil {
		t.Fatal(err)
	}
	reader := d.Open()
	for range loadedBatches {
		b := new(series.Batch)
		if err := errors.Join(reader.Next(b, batchRows), v.write(t.Context(), b)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := crash.Run(t.Context(), crash.Config{
		Victim: v, Kinds: []string{kind, result.CrashPower}, Count: 1, Seed: 1, Rows: workload.SkipRows(d, loadedBatches*batchRows), RoundRows: roundBatches * batchRows, Stored: loadedBatches * batchRows,
		Load: engine.LoadConfig{Workers: 1, BatchSize: batchRows}, Verify: verify.Config{Workers: 2},
		Render:   func(q *query.Query, s *series.Schema) (driver.Request, error) { return of.Render(q, s, nil) },
		Patience: 20 * time.Millisecond, Pause: time.Millisecond, ByCommand: v.late,
		Begin:    func(context.Context, driver.DB) error { return nil },
		Announce: func(int, string) func(string, bool) { return func(string, bool) {} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Each way to lose or damage rows is found, and only that way.
func TestDamage(t *testing.T) {
	t.Parallel()
	set := func(b *series.Batch, change func(run *series.Run)) *series.Batch {
		changed := b.CopyRows(nil)
		change(&changed.Runs[0])
		return changed
	}
	for _, c := range []struct {
		name   string
		damage func(stored []*series.Batch) []*series.Batch
		want   string
	}{
		{"nothing lost", func(s []*series.Batch) []*series.Batch { return s[:8] }, "lost 0; extra 0, doubled 0, torn 0, wrong 0"},
		{"a suffix is lost", func(s []*series.Batch) []*series.Batch { return s[:6] }, "lost 20 in batches 7 to 8 from cpu of hostname=host_0 at 2016-01-01T00:03:20Z to cpu of hostname=host_4 at 2016-01-01T00:03:50Z; extra 0, doubled 0, torn 0, wrong 0"},
		{"a hole", func(s []*series.Batch) []*series.Batch { return append(s[:2], s[3:8]...) }, "lost 10 in batch 3 with holes from cpu of hostname=host_0 at 2016-01-01T00:02:00Z to cpu of hostname=host_4 at 2016-01-01T00:02:10Z; extra 0, doubled 0, torn 0, wrong 0"},
		{"all is lost", func([]*series.Batch) []*series.Batch { return nil }, "lost 80 in batches 1 to 8 from cpu of hostname=host_0 at 2016-01-01T00:01:20Z to cpu of hostname=host_4 at 2016-01-01T00:03:50Z; extra 0, doubled 0, torn 0, wrong 0"},
		{"the batch under way is there", func(s []*series.Batch) []*series.Batch { return s }, "lost 0; extra 10, doubled 10, torn 0, wrong 0"},
		{"half of it is there", func(s []*series.Batch) []*series.Batch {
			n := 0
			s[8] = s[8].CopyRows(func(*series.Run, int) int { n++; return n % 2 })
			return s
		}, "lost 0; extra 5, doubled 5, torn 0, wrong 0"},
		{"fields of it are there", func(s []*series.Batch) []*series.Batch {
			s[8] = set(s[8], func(run *series.Run) { run.SetNull(2, 1); run.SetNull(0, 7) })
			return s
		}, "lost 0; extra 10, doubled 10, torn 0, wrong 0"},
		{"rows are doubled", func(s []*series.Batch) []*series.Batch { return append(s[:8], s[3]) }, "lost 0; extra 0, doubled 10, repeated 10, torn 0, wrong 0"},
		{"rows are torn", func(s []*series.Batch) []*series.Batch {
			s[4] = set(s[4], func(run *series.Run) { run.SetNull(2, 1); run.SetNull(3, 1); run.SetNull(0, 7) })
			return s[:8]
		}, "lost 0; extra 0, doubled 0, torn 2, wrong 0"},
		{"a value is wrong", func(s []*series.Batch) []*series.Batch {
			s[4] = set(s[4], func(run *series.Run) {
				if len(run.Columns[2].Ints) > 0 {
					run.Columns[2].Ints[3]++
				} else {
					run.Columns[2].Floats[3]++
				}
			})
			return s[:8]
		}, "lost 0; extra 0, doubled 0, torn 0, wrong 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found := suffer(t, result.CrashKill, func(v *victim) { v.damage = c.damage })
			if len(found.Rounds) != 1 || found.Ended != "" {
				t.Fatalf("rounds %+v, ended %q", found.Rounds, found.Ended)
			}
			r := found.Rounds[0]
			where := ""
			if r.Lost > 0 {
				where = fmt.Sprintf(" in %s%s from %s to %s", r.LostIn, map[bool]string{true: " with holes"}[r.Holes], r.FirstLost, r.LastLost)
			}
			repeated := ""
			if r.Repeated > 0 {
				repeated = fmt.Sprintf(" repeated %d,", r.Repeated)
			}
			if got := fmt.Sprintf("lost %d%s; extra %d, doubled %d,%s torn %d, wrong %d", r.Lost, where, r.Extra, r.Doubled, repeated, r.Torn, r.Wrong); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if r.Acked != 80 || r.AckedBatches != 8 || r.InFlight != 10 || r.Unsent != 10 || r.Stored != 40 || r.LostEarlier != 0 {
				t.Errorf("counts: %+v", r)
			}
			damaged := r.Lost+r.Torn+r.Wrong > 0
			if r.Intact() == (damaged || r.Repeated > 0) || (r.Complete >= startTime.Seconds()) == damaged || r.Answers < startTime.Seconds() {
				t.Errorf("intact %v, complete %v, answers %v", r.Intact(), r.Complete, r.Answers)
			}
		})
	}
}

// Rows that were there before the round are missed too.
func TestEarlierRowsLost(t *testing.T) {
	t.Parallel()
	found := suffer(t, result.CrashKill, func(v *victim) { v.lostEarlier = 1 })
	if r := found.Rounds[0]; r.LostEarlier != batchRows || r.Lost != 0 || r.Intact() {
		t.Errorf("%+v", r)
	}
}

// A pause loses nothing; a kind of crash that is impossible is unsupported, with the reason.
func TestPause(t *testing.T) {
	t.Parallel()
	found := suffer(t, result.CrashPause, nil)
	if len(found.Rounds) != 1 {
		t.Fatalf("rounds %+v, ended %q", found.Rounds, found.Ended)
	}
	if r := found.Rounds[0]; r.Acked != 100 || r.InFlight != 0 || r.Unsent != 0 || !r.Intact() || r.Doubled != 0 || r.Complete < 0 {
		t.Errorf("%+v", r)
	}
	if why := found.Unsupported[result.CrashPower]; why != "this machine has no disk for it" {
		t.Errorf("power is unsupported because %q", why)
	}
}

// Writers that end because of a pause are mentioned.
func TestPauseEndsWriters(t *testing.T) {
	t.Parallel()
	found := suffer(t, result.CrashPause, func(v *victim) { v.breaks = true })
	if r := found.Rounds[0]; r.Acked != 80 || r.InFlight != 10 || !r.Intact() || !strings.Contains(r.Finding(), "nothing lost; the writers ended: ") || !strings.Contains(r.Finding(), "connection reset by peer") {
		t.Errorf("%+v: %s", r, r.Finding())
	}
}

// A restart command that kills after the writers have ended proves nothing.
func TestLateCommand(t *testing.T) {
	t.Parallel()
	found := suffer(t, result.CrashKill, func(v *victim) { v.late = true })
	if r := found.Rounds[0]; r.Acked != 100 || r.Intact() || !strings.Contains(r.Failed, "before the restart command killed the target") {
		t.Errorf("%+v", r)
	}
}

// Of a target that does not come back no row is known to be lost.
func TestNeverBack(t *testing.T) {
	t.Parallel()
	found := suffer(t, result.CrashKill, func(v *victim) { v.noReturn = true })
	if len(found.Rounds) != 1 || !strings.Contains(found.Ended, "crash 1 of 1 was the last: the target did not come back: the log is damaged") {
		t.Fatalf("rounds %+v, ended %q", found.Rounds, found.Ended)
	}
	if r := found.Rounds[0]; r.Intact() || r.Lost != 0 || r.Acked != 80 || r.Answers != -1 || r.Failed != "" || r.Finding() != "did not answer again" {
		t.Errorf("%+v", r)
	}
}

// Crashes of a server that has lost the settings of its load prove nothing.
func TestOtherDurability(t *testing.T) {
	t.Parallel()
	found := suffer(t, result.CrashKill, func(v *victim) { v.safety = driver.OnDisk })
	if len(found.Rounds) != 1 || !strings.HasSuffix(found.Ended, "acknowledged rows were of unknown durability when the target was loaded, and are on disk now: a test's") {
		t.Errorf("rounds %+v, ended %q", found.Rounds, found.Ended)
	}
}
