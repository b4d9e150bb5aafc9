package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/store"
)

// A run that is killed again and again, at random moments, and resumed each
// time, comes to its end; nothing that had finished is lost or done again.
func TestResumeAfterKills(t *testing.T) {
	slowtest.Skip(t)
	generated := []string{"--scale", "40", "--log-interval", "5m", "--query-type", "lastpoint,single-groupby-1-1-1,double-groupby-1,high-cpu-1"}
	t.Run("interleaved", func(t *testing.T) { resumeAfterKills(t, 6, generated...) })
	// Of targets in one place the second is loaded over the first, once that is done.
	path := filepath.Join(t.TempDir(), "x.db")
	t.Run("one after the other", func(t *testing.T) {
		resumeAfterKills(t, 3, append(generated, "--replace", "--target", "a=sqlite,index=both,path="+path, "--target", "b=sqlite,index=tags_time,path="+path)...)
	})
	t.Run("own data", func(t *testing.T) {
		conformance.Long(t)
		resumeAfterKills(t, 6, "--use-case", "own", "--own", "files="+ownFile(t))
	})
}

// ownFile writes a file with rows of eight series.
func ownFile(t *testing.T) string {
	t.Helper()
	text := []byte("time,host,load\n")
	for i := range 20_000 {
		text = fmt.Appendf(text, "%s,h%d,%d\n", time.Unix(1_700_000_000+int64(i/8)*10, 0).UTC().Format(time.RFC3339), i%8, i%101)
	}
	path := filepath.Join(t.TempDir(), "own.csv")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// killsVariable sets the number of random times in each series of kills, and the seed of these
// times, as in 40,7: the nightly's. Without it there are fewer, always the same.
const killsVariable = "TSMARK_KILLS"

// killSeries returns the number of kills, and the source of their times.
func killSeries(t *testing.T, kills int) (int, *rand.Rand) {
	t.Helper()
	seed := uint64(1)
	if text := os.Getenv(killsVariable); text != "" {
		if _, err := fmt.Sscanf(text, "%d,%d", &kills, &seed); err != nil {
			t.Fatalf("%s=%s: %v", killsVariable, text, err)
		}
	}
	t.Logf("%d kills; %s=%d,%d has the same moments", kills, killsVariable, kills, seed)
	return kills, rand.New(rand.NewPCG(seed, 2))
}

// leftovers lists files in a results folder that do not belong to its runs, which have all
// ended: partly written files, locks, and folders of killed processes.
func leftovers(t *testing.T, dir string) (left []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		if path != dir && (strings.HasPrefix(name, ".") || name == "running" || strings.HasSuffix(name, ".tmp") || strings.HasPrefix(name, "reference-") || name == "taken-answers") {
			left = append(left, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// absent are figures that could not be read: one is as another.
var absent = cmp.Comparer(func(x, y result.Value) bool { return x == y || !x.IsKnown() && !y.IsKnown() })

func resumeAfterKills(t *testing.T, kills int, more ...string) {
	kills, random := killSeries(t, kills)
	dir := t.TempDir()
	args := append([]string{"run", "--verbose", "--results", dir, "--queries", "20", "--verify", "2",
		"--batch-size", "200", "--repeats", "3", "--load-repeats", "1"}, more...)
	begin := args
	started := time.Now()
	if err := exec.Command("tsmark", args...).Run(); err != nil {
		t.Fatal(err)
	}
	whole := len(cells(newest(t, dir)))
	longest := time.Since(started) / 2 // between two kills: busy machines need longer
	var finished map[string]any
	killed, completed, order := 0, 0, "" // the initial order of the run
	for killed < kills || completed == 0 && killed < 4*kills {
		cmd := exec.Command("tsmark", args...)
		cmd.Env = append(os.Environ(), "NO_COLOR=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		killedNow := false
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("after %d kills: %v: %v", killed, cmd, err)
			}
		case <-time.After(time.Duration(random.Int64N(int64(longest)))):
			if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
			<-ended
			killed, killedNow = killed+1, true
			if completed == 0 && killed >= kills {
				longest += longest / 4 // the machine became busier: a run needs more time to come to its end
			}
		}
		run := newest(t, dir)
		if run == nil { // killed before it began
			continue
		}
		for _, target := range run.Targets {
			for _, q := range target.Queries {
				if run.Status != result.Complete && q.Verdict.Checked > int(q.Sample.Captured) {
					t.Fatalf("%s of %s is said to have been compared", q.Type, target.Name)
				}
			}
		}
		if order != "" && run.OrderSeed != order || run.OrderSeed == "" {
			t.Fatalf("after %d kills the order of turns is that of %q, was %q", killed, run.OrderSeed, order)
		}
		order = run.OrderSeed
		now := cells(run)
		for name, was := range finished {
			if diff := cmp.Diff(was, now[name], absent); diff != "" {
				t.Fatalf("after %d kills %s has changed:\n%s", killed, name, diff)
			}
		}
		finished, args = now, []string{"resume", "--results", dir}
		if run.Status == result.Complete {
			if len(now) != whole || !run.Passed() {
				t.Fatalf("complete with %d cells, passed: %v", len(now), run.Passed())
			}
			for _, target := range run.Targets {
				for _, q := range target.Queries {
					// Whenever the run was killed, all captured answers are still there.
					if most := int(q.Sample.Captured); q.Verdict.Checked == 0 || q.Verdict.Checked != most {
						t.Fatalf("%s of %s: %d answers compared of %d taken", q.Type, target.Name, q.Verdict.Checked, most)
					}
				}
			}
			if killedNow { // after its end was stored: the next command cleans up
				if err := exec.Command("tsmark", "resume", "--results", dir).Run(); err != nil {
					t.Fatalf("resume of a complete run: %v", err)
				}
			}
			if left := leftovers(t, dir); left != nil {
				t.Fatalf("after %d kills, complete, there are still %v", killed, left)
			}
			completed++
			finished, args, order = nil, begin, ""
		}
	}
	if completed == 0 {
		t.Errorf("no run came to its end between %d kills", killed)
	}
	t.Logf("%d kills within %v each, %d runs completed", killed, longest, completed)
}

// newest returns the newest run of a results folder, or nil.
func newest(t *testing.T, dir string) *result.Run {
	t.Helper()
	s, err := store.OpenExisting(t.Context(), dir, nil)
	if errors.Is(err, store.ErrNoResults) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run, err := s.Run(t.Context(), store.Latest)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// cells returns the finished cells of a run: loads that settled, types that
// ran.
func cells(run *result.Run) map[string]any {
	found := make(map[string]any)
	for i := range run.Targets {
		t := &run.Targets[i]
		for _, r := range t.Repeats {
			if r.Load != nil && r.Load.Settled > 0 {
				found[fmt.Sprintf("load %d of %s", r.Number, t.Name)] = *r.Load
			}
			for _, q := range r.Queries {
				// Comparisons and verdicts come at the end of a run, texts and plans after the first repeat of all types.
				if q.Verdict, q.Text, q.Plan, q.Read = (result.Verdict{}), "", "", nil; q.Executed > 0 {
					found[fmt.Sprintf("%s, repeat %d of %s", q.Type, r.Number, t.Name)] = q
				}
			}
		}
	}
	return found
}
