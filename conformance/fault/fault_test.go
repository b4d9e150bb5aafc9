package fault

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/puppet"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/monitor/process"
)

// usedPorts are the ports of this process's fakes: those of parallel tests are
// chosen while others' servers still start.
var usedPorts sync.Map

// ownPort returns a port that no other fake of this process has been given.
func ownPort(t *testing.T) int {
	for {
		port := FreePort(t)
		if _, taken := usedPorts.LoadOrStore(port, true); !taken {
			return port
		}
	}
}

// fakes starts the server of the tests.
func fakes(t *testing.T, sins string) *Server {
	port := ownPort(t)
	address := "127.0.0.1:" + strconv.Itoa(port)
	return NewServer(t, port, process.Command{
		Path: puppet.Program(t), Args: []string{address}, Env: append(puppet.Env(), playServer+"="+t.TempDir(), "FAKE_SINS="+sins),
		Ready: func(ctx context.Context) error {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/ping", nil)
			if err != nil {
				return err
			}
			answer, err := http.DefaultClient.Do(r)
			if err == nil {
				_ = answer.Body.Close()
			}
			return err
		},
	})
}

// A target that does all as it should passes, whether or not it dedupes.
func TestFaults(t *testing.T) {
	for _, dedupe := range []string{"on", "off"} {
		t.Run("dedupe "+dedupe, func(t *testing.T) {
			t.Parallel()
			Run(t, Target{
				Driver: fake(""), Options: map[string]string{"dedupe": dedupe, "password": fakePassword},
				Server: fakes(t, ""), Patience: 10 * time.Second,
			})
		})
	}
}

// Whatever is wrong with a target or its server, its part of the suite finds
// it and says so.
func TestFaultsFindSins(t *testing.T) {
	slowtest.Skip(t)
	for _, c := range []struct{ sins, part, want string }{
		{"swallows", Killed, "does not match writer"},
		{"permanent", Killed, "not a driver.Temporary"},
		{"many lines", Throttled, "several lines"},
		{"permanent", KilledRetried, "was not retried to its end"},
		{"swallows", KilledRetried, "retries <nil>"},
		{"sends twice", KilledRetried, "rows, 15000 expected"},
		{"strict in name", KilledAcked, "durability strict: table cpu holds 0 rows, 15000 expected; 15000 of its rows are lost"},
		{"short", CutQuery, "were taken for all"},
		{"any password", WrongPassword, "there is no error"},
		{"echoes", WrongPassword, "shows the secret"},
		{"any database", WrongDatabase, "does not match tsmark_is_not_there"},
		{"ignores tls", NoTLS, "there is no error"},
		{"impatient", Throttled, "no Temporary with After of 1 s"},
		{"permanent", Throttled, "no Temporary with After of 1 s"},
		{"endless patience", NeverAnswers, "it hangs"},
		{"endless patience", FallsSilent, "it hangs"},
		{"deaf", Silences, "it does not return after it was cancelled"},
		{"hopes", Silences, "settling, after 0 % of the answer: the server fell silent, and there is no error"},
		{"full unnoticed", DiskFull, "reported as a success: durability strict: table cpu holds"},
	} {
		t.Run(c.sins+", "+c.part, func(t *testing.T) {
			t.Parallel()
			f := &faults{
				Target: Target{Driver: fake(c.sins), Options: map[string]string{"password": fakePassword}, Server: fakes(t, c.sins), Patience: 4 * time.Second},
				dir:    t.TempDir(), log: t.Logf,
			}
			for _, p := range f.parts() {
				if p.name != c.part {
					continue
				}
				if c.want == "it hangs" {
					f.Patience = 500 * time.Millisecond
				}
				err := p.runBounded(t.Context(), f)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %s", err, c.want)
				}
				return
			}
			t.Errorf("there is no part %q", c.part)
		})
	}
}

// The losses of each level are counted: a level that stores late loses everything.
func TestLostByDurability(t *testing.T) {
	var said []string
	f := &faults{Target: Target{Driver: fake(""), Server: fakes(t, ""), Patience: 10 * time.Second}, dir: t.TempDir(),
		log: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }}
	if err := f.killedAcked(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "durability relaxed: 15000 acknowledged rows lost, 0 duplicates\ndurability strict: 0 acknowledged rows lost, 0 duplicates"
	if got := strings.Join(said, "\n"); got != want {
		t.Errorf("%s; want %s", got, want)
	}
}
