package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/retry"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// The parts of the fault suite, as Target.Cannot names them.
const (
	Killed        = "killed during a load"
	KilledRetried = "killed during a load that is retried"
	KilledAcked   = "killed after the last acknowledgement"
	PowerFails    = "power fails after the last acknowledgement"
	CutQuery      = "connection cut in a query"
	WrongPassword = "wrong password"
	WrongDatabase = "wrong database"
	NoTLS         = "TLS required of a server without it"
	Throttled     = "429 and 503 with Retry-After"
	NeverAnswers  = "a server that never answers"
	FallsSilent   = "a server that falls silent"
	DiskFull      = "disk full"
	Silences      = "silence at every step"
)

// Target is a target and the server that fails it.
type Target struct {
	Driver  driver.Driver
	Options map[string]string // in addition to the ones that the suite sets: host, and Ports
	Server  *Server
	// Ports are the options that are ports, each with its distance from the
	// server's first port. Nil: port alone.
	Ports map[string]int
	// HTTP is the option with the port of HTTP, for Throttled; default: port.
	HTTP string
	// Password is the option that WrongPassword sets; default: password.
	Password string
	// Database is the option that WrongDatabase sets; default: database.
	Database string
	// Sparse says that the server takes few rows a second: it gets fewer, as RunSparse.
	Sparse bool
	// FileLimit is the maximum size of the server's files in DiskFull; default: 64 KiB.
	FileLimit uint64
	// Cannot names the parts that the target or its test server cannot take
	// part in, each with the reason.
	Cannot map[string]string
	// Patience is the maximum time for noticing that a server is
	// silent or gone; default: half a minute. A server may take as long to start.
	Patience time.Duration
}

// Run runs the fault suite: every fault of a server must end in one
// clear line or in figures that report it, never in a hang, a short
// answer or a load that only seems to be complete. The suite fills and replaces
// the data that the options lead to, and leaves the server damaged.
func Run(t *testing.T, f Target) {
	parts := f.parts()
	for name := range f.Cannot {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			t.Fatalf("there is no part %q of the fault suite", name)
		}
	}
	f.runParts(t, parts)
}

// RunOnly runs some parts of the suite, for example the parts that depend on an
// option. It leaves no long part to the nightly.
func RunOnly(t *testing.T, f Target, names ...string) {
	parts := slices.DeleteFunc(f.parts(), func(p part) bool { return !slices.Contains(names, p.name) })
	if len(parts) != len(names) {
		t.Fatalf("the fault suite has %d of the %d parts %q", len(parts), len(names), names)
	}
	for i := range parts {
		parts[i].long = false
	}
	f.runParts(t, parts)
}

func (f *Target) runParts(t *testing.T, parts []part) {
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) {
			if reason := f.Cannot[p.name]; reason != "" {
				t.Logf("left out: %s", reason)
				return
			}
			if p.long {
				conformance.Long(t)
			}
			if err := p.runBounded(t.Context(), &faults{Target: *f, dir: t.TempDir(), log: t.Logf}); err != nil {
				t.Error(err)
			}
			if !p.harms {
				return
			}
			if err := f.Server.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// part is one fault.
type part struct {
	name  string
	harms bool // it leaves the server so that it must be started again
	long  bool // left to .ci/nightly: see Long
	run   func(*faults, context.Context) error
}

func (f *Target) parts() []part {
	return []part{
		{name: Killed, harms: true, run: (*faults).killWithoutRetry}, {name: KilledRetried, harms: true, run: (*faults).killedRetried},
		{name: KilledAcked, harms: true, run: (*faults).killedAcked}, {name: PowerFails, harms: true, long: true, run: (*faults).powerFails}, {name: CutQuery, run: (*faults).cutQuery},
		{name: WrongPassword, run: (*faults).wrongPassword}, {name: WrongDatabase, run: (*faults).wrongDatabase},
		{name: NoTLS, run: (*faults).noTLS}, {name: Throttled, run: (*faults).throttle}, {name: NeverAnswers, run: (*faults).neverAnswers},
		{name: Silences, harms: true, long: true, run: (*faults).silences}, {name: FallsSilent, harms: true, run: (*faults).fallsSilent},
		{name: DiskFull, harms: true, run: (*faults).diskFull},
	}
}

// runBounded runs the part, and ends waiting for one that hangs whatever its
// contexts say.
func (p part) runBounded(ctx context.Context, f *faults) error {
	done := make(chan error, 1)
	go func() { done <- p.run(f, ctx) }()
	limit := 8 * f.patience()
	if p.long {
		limit *= 3 // dozens of trials, each with a new database
	}
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		return fmt.Errorf("it hangs: no end after %v", limit)
	}
}

// faults is the state of one part.
type faults struct {
	Target
	dir string // of the target's files, if it has any
	log func(string, ...any)
}

func (f *faults) patience() time.Duration {
	if f.Patience == 0 {
		return 30 * time.Second
	}
	return f.Patience
}

// options returns the target's options, with the address of the server unless more has another.
func (f *faults) options(more map[string]string) (driver.Options, error) {
	options := maps.Clone(f.Options)
	if options == nil {
		options = make(map[string]string)
	}
	options["host"] = "127.0.0.1"
	for name, distance := range f.ports() {
		options[name] = strconv.Itoa(f.Server.Port() + distance)
	}
	maps.Copy(options, more)
	return f.Driver.Resolve(options)
}

func (f *faults) ports() map[string]int {
	if f.Ports == nil {
		return map[string]int{"port": 0}
	}
	return f.Ports
}

func (f *faults) has(option string) bool {
	return slices.ContainsFunc(f.Driver.Options, func(o driver.Option) bool { return o.Name == option })
}

func (f *faults) address(distance int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(f.Server.Port()+distance))
}

// open opens the target with further options.
func (f *faults) open(ctx context.Context, more map[string]string) (driver.DB, error) {
	options, err := f.options(more)
	if err != nil {
		return driver.DB{}, err
	}
	db, err := f.Driver.Open(ctx, driver.Env{Dir: f.dir, Create: true}, options)
	if err != nil {
		return driver.DB{}, fmt.Errorf("opening the target: %w", err)
	}
	return db, nil
}

// spec is a day of few hosts, for tests that need some rows.
func (f *faults) spec() workload.Spec {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	spec := workload.Spec{Name: "cpu-only", Seed: 123, Scale: 40, Start: start, End: start.Add(25 * time.Hour), Interval: conformance.RegularInterval}
	if f.Sparse {
		spec.Interval *= conformance.Sparse
	}
	return spec
}

func exampleUse() workload.Workload { return tsbs.CPUOnly() }

// batchSize is the number of rows in a batch: few, so that a load has many batches.
func (f *faults) batchSize() int {
	if f.Sparse {
		return 400 / conformance.Sparse
	}
	return 400
}

func (f *faults) rows() (workload.Dataset, *oracle.Survey, error) {
	d, err := exampleUse().Dataset(f.spec())
	if err != nil {
		return nil, nil, err
	}
	expected, err := oracle.Pass(context.Background(), d, nil, nil, func(int) {})
	if err != nil {
		return nil, nil, err
	}
	return d, &expected.Survey, nil
}

// loading is a load during which something happens once.
type loading struct {
	retry   retry.Policy
	writers int // 0: two, if the target allows it
	after   float64
	happens func() error          // after that share of the rows, while other workers write
	acked   func(context.Context) // see engine.LoadConfig
	more    map[string]string     // options
	opened  func(driver.DB) error // before the load
}

// loaded is the result of a loading.
type loaded struct {
	db     driver.DB
	load   *result.Load
	err    error
	survey *oracle.Survey
}

// load prepares the target and loads. The returned error is for unexpected failures;
// the caller closes db.
func (f *faults) load(ctx context.Context, l loading) (*loaded, error) {
	d, survey, err := f.rows()
	if err != nil {
		return nil, err
	}
	options, err := f.options(l.more)
	if err != nil {
		return nil, err
	}
	db, err := f.open(ctx, l.more)
	if err != nil {
		return nil, err
	}
	out := &loaded{db: db, survey: survey}
	if err := session.New(db).Prepare(ctx, d.Schema(), session.Mark{Tool: "test"}); err != nil {
		return out, fmt.Errorf("preparing: %w", err)
	}
	if l.opened != nil {
		if err := l.opened(db); err != nil {
			return out, err
		}
	}
	writers := l.writers
	if writers == 0 {
		writers = 2
	}
	caps := f.Driver.Caps(options)
	if caps.MaxWriters > 0 {
		writers = min(writers, caps.MaxWriters)
	}
	trigger := newTrigger(int64(float64(survey.Rows)*l.after), l.happens)
	out.load, out.err = engine.Load(ctx, engine.LoadConfig{
		Workers: writers, BatchSize: f.batchSize(), InOrder: caps.InOrder, Retry: l.retry, Acked: l.acked,
	}, d, db, trigger.progress)
	if err := trigger.wait(); err != nil {
		return out, err
	}
	return out, nil
}

// count takes the census and judges it as the runner does.
func (f *faults) count(ctx context.Context, l *loaded, more map[string]string) (*result.Load, error) {
	options, err := f.options(more)
	if err != nil {
		return nil, err
	}
	sent := verify.Sent{Acknowledged: l.load.Acked > 0}
	if r := l.load.Retries; r != nil && !f.Driver.Caps(options).Dedupes {
		sent.Twice = r.SentTwice
	}
	census, err := verify.Census(ctx, l.db, l.survey, sent, nil)
	return &result.Load{Census: census}, err
}

// censusError returns the error in a census. Rows may be lost only
// if the level of durability allows it.
func (f *faults) censusError(counted *result.Load, level string) error {
	f.log("durability %s: %d acknowledged rows lost, %d duplicates", level, counted.LostRows(), counted.Duplicates())
	for _, c := range counted.Census {
		if c.Problem != "" && (c.Lost == 0 || level == driver.Strict) {
			return fmt.Errorf("durability %s: %s", level, c.Problem)
		}
	}
	return nil
}

var (
	namesBatch = regexp.MustCompile(`writer \d+, (batch \d+ \(rows \d+ to \d+, .*\)|sending the rest): .`)
	isSilence  = regexp.MustCompile(`(?i)time|answer|deadline|silent`)
	isRefusal  = regexp.MustCompile(`(?i)password|authent|authori|credential|user`)
)

// clear returns why an error must not be shown to a user, or nil.
func (f *faults) clear(err error, wanted *regexp.Regexp) error {
	switch {
	case err == nil:
		return errors.New("there is no error")
	case strings.Contains(err.Error(), "\n"):
		return fmt.Errorf("the error has several lines: %q", err)
	case wanted != nil && !wanted.MatchString(err.Error()):
		return fmt.Errorf("the error %q does not match %s", err, wanted)
	}
	for _, o := range f.Driver.Options {
		if v := f.Options[o.Name]; o.Secret && v != "" && strings.Contains(err.Error(), v) {
			return fmt.Errorf("the error shows the secret option %s", o.Name)
		}
	}
	return nil
}
