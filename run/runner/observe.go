package runner

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
)

// samplePeriod is how often resources are read.
const samplePeriod = time.Second

// observer watches what a run uses.
type observer struct {
	sampler *monitor.Sampler
	origin  time.Time
	watched map[string]bool       // addresses of servers
	inside  map[string]*internals // by target
	// witnesses measure, for each target, what others took of the machine; witness
	// is that of the target whose turn it is.
	witnesses map[string]*monitor.Witness
	witness   *monitor.Witness
	phases    []*result.Noise // parts of the cell that is measured, which have ended
}

// observe begins to watch the client and its host.
func (x *execution) observe(ctx context.Context) {
	x.observer = &observer{
		sampler: monitor.NewSampler(context.WithoutCancel(ctx), x.run.Started, samplePeriod),
		origin:  x.run.Started, watched: make(map[string]bool), inside: make(map[string]*internals),
		witnesses: make(map[string]*monitor.Witness),
	}
	x.sampler.Watch("host", monitor.HostSource(ctx, x.Dir))
	x.sampler.Watch("client", monitor.ClientSource())
}

// stopObserving keeps what was seen. Of a run that was resumed the earlier part
// stays.
func (x *execution) stopObserving() {
	x.run.Resources = append(x.run.Resources, x.sampler.Stop()...)
}

// watchServer begins to watch a target's server where it runs on this host.
func (x *execution) watchServer(ctx context.Context, t driver.DB, out *result.Target) error {
	server, ok := driver.As[driver.Server](t)
	if !ok {
		return nil
	}
	address := server.Address()
	err := x.limits().InStatement(ctx, "resolving "+address, func(ctx context.Context) (err error) {
		out.CoLocated, err = monitor.CoLocated(ctx, address)
		return err
	})
	if err != nil {
		return fmt.Errorf("finding out where the server of target %s runs: %w", out.Name, err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil || !out.CoLocated || x.watched[address] {
		return nil
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil // a named port: nothing to look for
	}
	x.watched[address] = true
	x.sampler.Watch("server "+out.Name, monitor.PortSource(number))
	x.notOther(ctx, number)
	return nil
}

// notOther takes the processes of a server under test off the list of other databases.
func (x *execution) notOther(ctx context.Context, port int) {
	listening, err := process.ByPort(ctx, port)
	if err != nil {
		return // whoever listens cannot be told from others
	}
	x.run.OtherDatabases = slices.DeleteFunc(x.run.OtherDatabases, func(r result.OtherDatabase) bool {
		family, err := process.Tree(ctx, r.PID)
		return err == nil && slices.ContainsFunc(family, func(p process.Info) bool { return slices.Contains(listening, p.PID) })
	})
}

// watchRemote begins to watch what the target's host and server tell of
// themselves. What does not answer now is an error: nobody would miss it later.
func (x *execution) watchRemote(ctx context.Context, planned *plannedTarget) error {
	for _, s := range []struct {
		name, address string
		open          func(string) (monitor.Source, error)
	}{
		{"host of " + planned.name, planned.exporter, func(a string) (monitor.Source, error) { return monitor.NodeSource(a, "") }},
		{"server " + planned.name, planned.metrics, monitor.MetricsSource},
	} {
		if s.address == "" || x.watched[s.address] {
			continue
		}
		source, err := s.open(s.address)
		if err == nil {
			err = x.limits().InStatement(ctx, s.address, func(ctx context.Context) error {
				_, err := source.Read(ctx)
				return err
			})
		}
		if err != nil {
			return fmt.Errorf("%w: watching the %s: %w", ErrInput, s.name, err)
		}
		x.watched[s.address] = true
		x.sampler.Watch(s.name, source)
	}
	return nil
}

// now is the present on the run's time line.
func (o *observer) now() float64 { return time.Since(o.origin).Seconds() }

// attend makes ready to tell, from now on, the processes of the target whose turn
// it is from others.
func (x *execution) attend(ctx context.Context, name string, t driver.DB, coLocated bool) {
	if x.witnesses[name] == nil {
		port := 0
		if server, ok := driver.As[driver.Server](t); ok && coLocated {
			if _, text, err := net.SplitHostPort(server.Address()); err == nil {
				port, _ = strconv.Atoi(text) // a named port: nothing to look for
			}
		}
		x.witnesses[name] = monitor.NewWitness(ctx, port)
	}
	x.witness = x.witnesses[name]
}

// quietBound is the share of the machine's CPU time that others may use.
func (x *execution) quietBound() float64 {
	if bound, err := experiment.ParseQuiet(x.plan.experiment.RequireQuiet); err == nil { // as Check did
		return bound
	}
	return result.QuietShare
}

// phaseEnds ends a part of the cell that is being measured, such as sending the
// rows of a load, and begins the next.
func (x *execution) phaseEnds(ctx context.Context) {
	x.phases = append(x.phases, x.witness.End(ctx, x.quietBound()))
	x.witness.Begin(ctx)
}

// noiseOf runs a phase and returns what others took of the machine meanwhile. A
// part of the phase that was noisy makes the whole noisy.
func (x *execution) noiseOf(ctx context.Context, do func() error) (*result.Noise, error) {
	x.phases = nil
	x.witness.Begin(ctx)
	err := do()
	phases := append(x.phases, x.witness.End(ctx, x.quietBound()))
	noise := result.AddNoise(phases...)
	for _, part := range phases {
		if noise.Noisy() == "" && part.Noisy() != "" {
			noise.Reasons = []string{fmt.Sprintf("%s, for %.2g of %.2g s", part.Noisy(), part.Wall, noise.Wall)}
		}
	}
	return noise, err
}

// cell runs a measurement and returns where it stands on the time line, what
// others took of the machine, and what it asked of the client, which an embedded
// target's cannot be told from.
func (x *execution) cell(ctx context.Context, embedded bool, do func() error) (result.Cell, error) {
	c := result.Cell{From: x.now()}
	var err error
	c.Noise, err = x.noiseOf(ctx, func() error {
		if embedded {
			return do()
		}
		client := monitor.BeginClient(ctx)
		err := do()
		used := client.End(ctx)
		c.Client = &used
		return err
	})
	c.To = x.now()
	return c, err
}

// Beyond these the client may have set the pace: it had little left, or the
// target came near what the client can do at most, or goroutines waited for a
// processor as long as a typical answer takes.
const (
	busyShare    = 0.8 // of the processors that the client may use
	ceilingShare = 0.5 // of the calibrated rate
)

// boundBy says why the client may have set the pace of a measurement; empty: it
// did not. Where other programs kept processors busy, waiting for one is their
// doing and not the client's. Rate and ceiling are operations a second, typical a latency in
// seconds; 0: not known.
func boundBy(measured *result.Cell, rate, ceiling, typical float64) string {
	c := measured.Client
	if c == nil {
		return ""
	}
	if c.CPU.Known() && c.Wall > 0 && c.Procs > 0 {
		if share := float64(c.CPU) / c.Wall / float64(c.Procs); share > busyShare {
			return fmt.Sprintf("the client used %.0f %% of its processors", 100*share)
		}
	}
	if ceiling > 0 && rate > ceilingShare*ceiling {
		return fmt.Sprintf("%.0f %% of the rate that the client reaches where nothing answers", 100*rate/ceiling)
	}
	if typical > 0 && !measured.Noise.Contended() && c.SchedulingP99.Known() && float64(c.SchedulingP99) > typical {
		return fmt.Sprintf("one in a hundred goroutines waited %v and longer for a processor", time.Duration(float64(c.SchedulingP99)*1e9).Round(time.Microsecond))
	}
	return ""
}

// calibrationTime is how long each of the two halves of a calibration takes.
const calibrationTime = time.Second

// calibrate measures the client itself, once a run, where a target has a
// process of its own.
func (x *execution) calibrate(ctx context.Context) error {
	if x.run.Calibration != nil || x.dataset == nil {
		return nil
	}
	e := x.plan.experiment
	task := x.Display.Start("calibrating the client", "rows", 0)
	found, err := engine.Calibrate(ctx, engine.LoadConfig{
		Workers: max(e.Load.Workers, e.Queries.Workers), BatchSize: e.Load.BatchSize, Period: calibrationTime,
	}, x.dataset, calibrationTime)
	if err != nil {
		task.Fail(reason(ctx, err))
		return fmt.Errorf("calibrating the client: %w", err)
	}
	task.Done(fmt.Sprintf("%.0f rows/s, %.0f queries/s at most", found.RowsPerSecond, found.QueriesPerSecond))
	x.run.Calibration = &found
	return nil
}
