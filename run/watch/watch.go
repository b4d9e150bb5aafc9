// Package watch observes the resources of a phase: its time, the client's usage, the usage by other
// processes, and whether the client limited the rate.
package watch

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
)

// Watch observes the resources that a run and other processes use.
type Watch struct {
	Limits limit.Limits
	bound  float64       // share of the machine's CPU time that others may use
	period time.Duration // between two readings of resources
	strict bool          // a phase in which they use more does not count

	Sampler *monitor.Sampler
	origin  time.Time
	watched map[string]bool        // addresses of servers' metrics
	readAs  map[string]string      // the target under whose name a server's resources are recorded, by its ports
	found   map[string]LocalServer // servers on this host, by target
	current string                 // the current target
	inside  map[string]*internals  // by target
	// witnesses measure, for each target, the usage of the machine by other processes; witness is
	// the current target's.
	witnesses map[string]*monitor.Witness
	witness   *monitor.Witness
	phases    []*result.Noise // finished parts of the current measurement
}

// NewWatch returns a Watch for a run of the plan, which Start starts.
func NewWatch(p *plan.Plan) *Watch {
	return &Watch{
		Limits: p.Experiment.Timeouts.Limits(), bound: p.Settings.Quiet, period: cmp.Or(p.Experiment.MonitorInterval, experiment.DefaultMonitorInterval), strict: p.Experiment.RequireQuiet != "",
		watched: make(map[string]bool), readAs: make(map[string]string), found: make(map[string]LocalServer), inside: make(map[string]*internals), witnesses: make(map[string]*monitor.Witness),
	}
}

// Start starts to observe the client and its host; the time line begins at origin.
func (w *Watch) Start(ctx context.Context, origin time.Time, dir string) {
	w.Sampler, w.origin = monitor.NewSampler(context.WithoutCancel(ctx), origin, w.period), origin
	w.Sampler.Watch("host", monitor.HostSource(ctx, dir))
	w.Sampler.Watch(result.ClientSource, monitor.ClientSource())
}

// WatchServer starts to observe a target's server, as far as it runs on this host, and records
// whether it does. It observes a server of several targets once. It returns the ports on which the
// server listens here.
func (w *Watch) WatchServer(ctx context.Context, t driver.DB, out *result.Target) (ports []int, err error) {
	s, err := FindServer(ctx, w.Limits, t)
	if err != nil {
		return nil, fmt.Errorf("finding out where the server of target %s runs: %w", out.Name, err)
	}
	out.CoLocated = s.here
	if len(s.ports) == 0 && s.process == 0 {
		return nil, nil
	}
	listens := fmt.Sprint(s.ports, s.process)
	if s.readAs = w.readAs[listens]; s.readAs == "" {
		s.readAs, w.readAs[listens] = out.Name, out.Name
		w.Sampler.Watch(result.ServerSource(out.Name), s.Source())
	} else if s.readAs != out.Name {
		out.SameServer = s.readAs
	}
	w.found[out.Name] = s
	return s.ports, nil
}

// LocalServer is the part of a target's server that runs on this host.
type LocalServer struct {
	here    bool
	ports   []int  // on which its processes listen, starting with the one that is connected to
	process int    // external driver, which works for it; 0: unknown
	unknown error  // why its other processes are unknown; nil: they are known
	readAs  string // the target under whose name its resources are recorded
}

// FindServer searches this host for the server of a target.
func FindServer(ctx context.Context, limits limit.Limits, t driver.DB) (s LocalServer, err error) {
	s.process = t.ProcessID
	if s.here = s.process != 0; t.Address == "" {
		return s, nil
	}
	isHere := func(address string) (here bool, err error) {
		err = limits.InStatement(ctx, "resolving "+address, func(ctx context.Context) (err error) {
			here, err = monitor.CoLocated(ctx, address)
			return err
		})
		return here, err
	}
	here, err := isHere(t.Address)
	if s.here = s.here || here; err != nil || !here {
		return s, err
	}
	addresses := []string{t.Address}
	if t.ListProcesses != nil {
		var further []string
		further, s.unknown = t.ListProcesses(ctx)
		for _, address := range further {
			here, err := isHere(address)
			if err != nil {
				s.unknown = err
			}
			if here {
				addresses = append(addresses, address)
			}
		}
	}
	for _, address := range addresses {
		if port := portOf(address); port > 0 && !slices.Contains(s.ports, port) {
			s.ports = append(s.ports, port)
		}
	}
	return s, nil
}

// Source reads the usage of its processes; nil: they are not on this host.
func (s LocalServer) Source() monitor.Source {
	switch {
	case len(s.ports) == 0 && s.process == 0:
		return nil
	case s.unknown != nil: // the figure for a part would look like that for all
		return monitor.UnknownSource(fmt.Errorf("which processes the server has is not known: %w", s.unknown))
	}
	if s.process != 0 {
		return monitor.ProgramSource(s.process, s.ports...)
	}
	return monitor.PortSource(s.ports...)
}

// portOf returns the port of an address; 0: it is a name, or missing.
func portOf(address string) int {
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(text) // a named port cannot be searched
	return port
}

// WithoutServer returns the processes on this host without those of a server under test.
func WithoutServer(ctx context.Context, running []result.OtherDatabase, ports []int) []result.OtherDatabase {
	listening, err := process.ByPort(ctx, ports...)
	if err != nil {
		return running // the listening process cannot be identified
	}
	return slices.DeleteFunc(running, func(r result.OtherDatabase) bool {
		family, err := process.Tree(ctx, r.PID)
		return err == nil && slices.ContainsFunc(family, func(p process.Info) bool { return slices.Contains(listening, p.PID) })
	})
}

// WatchRemote starts to read the metrics of the target's host and server. An address that does not
// answer now is an error, because nobody would notice missing metrics later.
func (w *Watch) WatchRemote(ctx context.Context, planned *plan.Target) error {
	for _, s := range []struct {
		name, address string
		open          func(string) (monitor.Source, error)
	}{
		{"host of " + planned.Name, planned.Exporter, func(a string) (monitor.Source, error) { return monitor.NodeSource(a, "") }},
		{result.ServerSource(planned.Name), planned.Metrics, monitor.MetricsSource},
	} {
		if s.address == "" || w.watched[s.address] {
			continue
		}
		source, err := s.open(s.address)
		if err == nil {
			err = w.Limits.InStatement(ctx, s.address, func(ctx context.Context) error {
				_, err := source.Read(ctx)
				return err
			})
		}
		if err != nil {
			return fmt.Errorf("%w: watching the %s: %w", plan.ErrInput, s.name, err)
		}
		w.watched[s.address] = true
		w.Sampler.Watch(s.name, source)
	}
	return nil
}

// Now returns the current time on the run's time line.
func (w *Watch) Now() float64 { return time.Since(w.origin).Seconds() }

// SetTarget sets the current target, to distinguish its processes from others from now on.
func (w *Watch) SetTarget(ctx context.Context, name string) {
	w.current = name
	if w.witnesses[name] == nil {
		w.witnesses[name] = monitor.NewWitness(ctx, w.found[name].Source())
	}
	w.witness = w.witnesses[name]
}

// Measurement is a phase in progress.
type Measurement struct {
	watch    *Watch
	embedded bool
	cell     result.Cell
	client   *monitor.Client // nil: the target is embedded
}

// Begin begins a measurement. The costs of an embedded target and of the client cannot be
// separated.
func (w *Watch) Begin(ctx context.Context, embedded bool) *Measurement {
	w.readServer(embedded) // at both ends, so that the usage of a short measurement is known too
	m := &Measurement{watch: w, embedded: embedded, cell: result.Cell{From: w.Now()}}
	w.BeginNoise(ctx)
	if !embedded {
		m.client = monitor.BeginClient(ctx)
	}
	return m
}

// End ends a measurement and returns its time on the time line, the usage of the machine by other
// processes, and the client's usage.
func (m *Measurement) End(ctx context.Context) result.Cell {
	if m.client != nil {
		used := m.client.End(ctx)
		m.cell.Client = &used
	}
	m.cell.Noise = m.watch.EndNoise(ctx)
	m.cell.To = m.watch.Now()
	m.watch.readServer(m.embedded)
	return m.cell
}

// BeginNoise starts to measure the usage of the machine by other processes.
func (w *Watch) BeginNoise(ctx context.Context) {
	w.phases = nil
	w.witness.Begin(ctx)
}

// NextNoise ends a section of a phase, such as sending the rows of a load, and begins the next.
func (w *Watch) NextNoise(ctx context.Context) {
	w.phases = append(w.phases, w.witness.End(ctx, w.bound))
	w.witness.Begin(ctx)
}

// EndNoise returns the usage of the machine by other processes since BeginNoise. A noisy section
// makes the whole phase noisy.
func (w *Watch) EndNoise(ctx context.Context) *result.Noise {
	phases := append(w.phases, w.witness.End(ctx, w.bound))
	noise := result.AddNoise(phases...)
	for _, section := range phases {
		if noise.Noisy() == "" && section.Noisy() != "" {
			noise.Reasons = []string{fmt.Sprintf("%s, for %.2g of %.2g s", section.Noisy(), section.Wall, noise.Wall)}
		}
	}
	return noise
}

// WrittenBytes returns the bytes that the current target's server has written to disk since it was first
// watched, or tsmark if the target is embedded; -1: unknown.
func (w *Watch) WrittenBytes(embedded bool) int64 {
	source := result.ServerSource(w.found[w.current].readAs)
	if embedded {
		source = result.ClientSource
	}
	w.readServer(embedded)
	for _, r := range w.Sampler.Last(1) {
		if column := r.Metrics[result.DiskWritten]; r.Source == source && len(column) == 1 && column[0].IsKnown() {
			return int64(column[0])
		}
	}
	return -1
}

// readServer reads the current usage of the current target if that is fast: the target is in
// tsmark's process, or its server's processes are on this host.
func (w *Watch) readServer(embedded bool) {
	if embedded {
		w.Sampler.Read(result.ClientSource)
	} else if s, ok := w.found[w.current]; ok && s.unknown == nil {
		w.Sampler.Read(result.ServerSource(s.readAs))
	}
}
