package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/run/experiment"
)

// servers are those that a run started, or finds. One of them at a time has its turn.
type servers struct {
	of       map[string]*ownServer // by target
	among    *process.Children     // their processes are listed there, too
	standing *Standing             // nil: none outlives the run
}

func newServers(among *process.Children, standing *Standing) servers {
	return servers{of: make(map[string]*ownServer), among: among, standing: standing}
}

// Standing are servers that several runs have in turn: those of targets with
// experiment.ForSweep. It is for one run at a time.
type Standing struct {
	dir string                // where their folders are
	of  map[string]*ownServer // by target
}

// NewStanding returns servers that are started when a run needs them, each with its files
// in a new folder below the given one. Stop them.
func NewStanding(dir string) *Standing { return &Standing{dir: dir, of: make(map[string]*ownServer)} }

// Stop ends them. Their files stay.
func (s *Standing) Stop(ctx context.Context) error { return stopAll(ctx, s.of) }

// ownServer is the server of one target.
type ownServer struct {
	line    string // that starts it, with places as in the experiment
	port    int    // the first of its ports
	files   string // the folder of its files
	idle    string
	command process.Command
	running *process.Process // nil: stopped
	paused  bool
	made    bool // its folder was made for it
}

// Options through which a target is told where its server is.
const hostOption, portOption = "host", "port"

// startable says why tsmark cannot start a target's server; empty: it can, or
// need not.
func startable(kind *driver.Driver, t experiment.Target) string {
	if t.Start == "" {
		return ""
	}
	for _, name := range []string{hostOption, portOption} {
		if !slices.ContainsFunc(kind.Options, func(o driver.Option) bool { return o.Name == name }) {
			return fmt.Sprintf("%s has no server that tsmark could start; leave it out", kind.Name)
		}
		if t.Options[name] != "" {
			return fmt.Sprintf("says that tsmark starts the server, and option %s where one runs; leave one of them out", name)
		}
	}
	return ""
}

// located returns a target that names the folder of the scripts with that folder in
// its place.
func (c *Catalog) located(t experiment.Target) (experiment.Target, error) {
	named := strings.Contains(t.Start, experiment.Servers)
	for _, value := range t.Options {
		named = named || strings.Contains(value, experiment.Servers)
	}
	switch {
	case !named:
		return t, nil
	case c.Servers == nil:
		return t, fmt.Errorf("there are no scripts of servers that %s could stand for", experiment.Servers)
	}
	folder, err := c.Servers()
	if err != nil {
		return t, err
	}
	t.Start = strings.ReplaceAll(t.Start, experiment.Servers, shellQuoted(folder))
	t.Options = maps.Clone(t.Options)
	for name, value := range t.Options {
		t.Options[name] = strings.ReplaceAll(value, experiment.Servers, folder)
	}
	return t, nil
}

// furtherPorts takes options of the form {port+2} out of a target, which is its
// own, and returns how far they are from the first port of its server.
func furtherPorts(t experiment.Target) map[string]int {
	ports := make(map[string]int)
	for name, value := range t.Options {
		var offset int
		if n, _ := fmt.Sscanf(value, "{port+%d}", &offset); n == 1 && t.Start != "" && offset > 0 && offset < process.PortsInARow {
			ports[name] = offset
			delete(t.Options, name)
		}
	}
	return ports
}

// turn lets the servers of other targets rest and sees that the target's own
// is there. It returns the target with the options that lead there.
func (s servers) turn(ctx context.Context, planned *plannedTarget, env driver.Env) (*plannedTarget, error) {
	if err := s.restAll(ctx, planned.name); err != nil {
		return nil, fmt.Errorf("%w, while target %s has its turn", err, planned.name)
	}
	if planned.start == "" {
		return planned, nil
	}
	known := s.of
	if s.outlives(planned) {
		known = s.standing.of
	}
	own := known[planned.name]
	if own != nil && (own.line != planned.start || own.command.Memory != planned.memory) { // another run starts it otherwise
		if err := own.stop(ctx); err != nil {
			return nil, err
		}
		own = nil
	}
	if own == nil {
		var err error
		if s.outlives(planned) {
			if env.Dir, err = newFolder(ctx, filepath.Join(s.standing.dir, planned.name)); err != nil {
				return nil, err
			}
		}
		if own, err = newServer(ctx, planned, env, s.among); err != nil {
			return nil, err
		}
		known[planned.name] = own
	}
	here := *planned
	here.options = planned.at(own.port)
	return &here, own.wake(ctx)
}

// newFolder returns a path at which nothing is: the given one, or with -2, -3 and so on behind
// it. A server is not started on the files of an earlier one, which had other ports and holds
// what another run loaded; one that a killed tsmark left running there is stopped.
func newFolder(ctx context.Context, path string) (string, error) {
	for n, at := 2, path; ; n++ {
		switch _, err := os.Lstat(at); {
		case errors.Is(err, fs.ErrNotExist):
			return at, nil
		case err != nil:
			return "", fmt.Errorf("looking for a folder for a server: %w", err)
		}
		if err := stopEarlier(ctx, at); err != nil {
			return "", err
		}
		at = fmt.Sprintf("%s-%d", path, n)
	}
}

// stopEarlier stops the server that an earlier tsmark, which was killed, left running in a
// target's folder.
func stopEarlier(ctx context.Context, dir string) error {
	if err := stopLeftOver(ctx, filepath.Join(dir, pidFile)); err != nil {
		return fmt.Errorf("%w: a server that an earlier tsmark left behind: %w", ErrInput, err)
	}
	return nil
}

// outlives reports whether the server of a target is there for other runs, too.
func (s servers) outlives(planned *plannedTarget) bool {
	return s.standing != nil && planned.forSweep()
}

// forSweep reports whether a target's server is started for several runs, which replace
// what the others loaded.
func (p *plannedTarget) forSweep() bool { return p.start != "" && p.startFor == experiment.ForSweep }

// serverOf returns the server that a target has; nil: none that was started here.
func (s servers) serverOf(planned *plannedTarget) *ownServer {
	if s.outlives(planned) {
		return s.standing.of[planned.name]
	}
	return s.of[planned.name]
}

// restAll lets all servers rest but that of one target; "": all.
func (s servers) restAll(ctx context.Context, but string) error {
	all := maps.Clone(s.of)
	if s.standing != nil {
		maps.Copy(all, s.standing.of) // a target's server is in one of them
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == but {
			continue
		}
		if err := all[name].rest(ctx); err != nil {
			return fmt.Errorf("the server of target %s, which is to rest: %w", name, err)
		}
	}
	return nil
}

// leave ends those of the run, and lets those that outlive it rest. Their data stays.
func (s servers) leave(ctx context.Context) error {
	return errors.Join(stopAll(ctx, s.of), s.restAll(ctx, ""))
}

func stopAll(ctx context.Context, of map[string]*ownServer) error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if err := of[name].stop(ctx); err != nil {
			problems = append(problems, fmt.Errorf("stopping the server of target %s: %w", name, err))
		}
	}
	return errors.Join(problems...)
}

// discard removes the folders that were made for servers of a run, or a sweep, of
// which nothing is kept.
func discard(of map[string]*ownServer) {
	for _, own := range of {
		if own.made {
			_ = os.RemoveAll(filepath.Dir(own.command.Log)) // what stays is only in the way
		}
	}
}

// pidFile holds the number and the start of a server's process: one that
// outlived a killed tsmark is found by it.
const pidFile = "server.pid"

func newServer(ctx context.Context, planned *plannedTarget, env driver.Env, among *process.Children) (*ownServer, error) {
	dir, err := filepath.Abs(env.Dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: making the folder of the server: %w", ErrInput, err)
	}
	if err := stopEarlier(ctx, dir); err != nil {
		return nil, err
	}
	port, err := process.FreePorts(ctx)
	if err != nil {
		return nil, err
	}
	options := planned.at(port)
	files := filesOf(dir)
	_, before := os.Stat(files)
	if err := os.MkdirAll(files, 0o777); err != nil {
		return nil, fmt.Errorf("%w: making the folder of the server: %w", ErrInput, err)
	}
	line := strings.NewReplacer(experiment.StartDir, shellQuoted(files), experiment.StartPort, strconv.Itoa(port)).Replace(planned.start)
	return &ownServer{
		line: planned.start, port: port, files: files, idle: planned.idle, made: errors.Is(before, fs.ErrNotExist),
		command: process.Command{
			// exec: the server has the number of the shell, and its signals.
			Path: "sh", Args: []string{"-c", "exec " + line}, Log: filepath.Join(dir, "server.log"),
			Within: serverPatience, Grace: serverPatience, Among: among, Memory: planned.memory,
			Note:  func(info process.Info) error { return note(filepath.Join(dir, pidFile), info) },
			Ready: func(ctx context.Context) error { return answers(ctx, planned.driver, env, options) },
		},
	}, nil
}

// at returns the options of a target whose server has ports from this one on.
func (p *plannedTarget) at(port int) driver.Options {
	options := maps.Clone(p.options)
	options[hostOption], options[portOption] = "127.0.0.1", strconv.Itoa(port)
	for name, offset := range p.ports {
		options[name] = strconv.Itoa(port + offset)
	}
	return options
}

// filesOf is where below a target's folder its server's files are.
func filesOf(dir string) string { return filepath.Join(dir, "server") }

// serverPatience is how long a server may take to start, and to end before it
// is killed.
const serverPatience = 2 * time.Minute

// answers reports whether a target can be opened. Whatever else is wrong shows
// when it is opened in earnest.
func answers(ctx context.Context, kind driver.Driver, env driver.Env, options driver.Options) error {
	t, err := kind.Open(ctx, env, options)
	switch {
	case err == nil:
		return t.Close()
	case errors.Is(err, driver.ErrUnreachable):
		return err
	}
	return nil
}

// wake sees that the server runs.
func (s *ownServer) wake(ctx context.Context) (err error) {
	if s.running != nil && s.paused {
		s.paused = false
		return s.running.Continue(ctx)
	}
	if s.running != nil && s.running.Running(ctx) {
		return nil
	}
	if s.running, err = process.Start(ctx, s.command); err != nil {
		return fmt.Errorf("starting the server (its output is in %s): %w", s.command.Log, err)
	}
	return nil
}

// rest does to the server what its target asks for while others have their
// turn.
func (s *ownServer) rest(ctx context.Context) error {
	switch {
	case s.running == nil || s.paused || s.idle == experiment.IdleRun:
		return nil
	case s.idle == experiment.IdleStop:
		return s.stop(ctx)
	case !s.running.Running(ctx):
		return nil // its target's next turn starts it again
	}
	s.paused = true
	err := s.running.Pause(ctx)
	if errors.Is(err, errors.ErrUnsupported) {
		s.paused = false
		return s.stop(ctx)
	}
	return err
}

func (s *ownServer) stop(ctx context.Context) error {
	if s.running == nil {
		return nil
	}
	if err := s.running.Stop(ctx); err != nil {
		return err
	}
	s.running, s.paused = nil, false
	return os.Remove(filepath.Join(filepath.Dir(s.command.Log), pidFile))
}

// note writes down which process a server is. It is on its way until that is
// done: see process.Command.
func note(file string, info process.Info) error {
	// Whole or not at all: a file that is half written would name nobody.
	if err := outfile.WriteBytes(file, fmt.Appendf(nil, "%d\n%d\n", info.PID, info.Started)); err != nil {
		return fmt.Errorf("%w: noting the server's process: %w", ErrInput, err)
	}
	return nil
}

// stopLeftOver stops the server that a PID file names, if it is still the same
// process.
func stopLeftOver(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil // none was left
	}
	var pid int
	var started int64
	if _, err := fmt.Sscan(string(text), &pid, &started); err != nil {
		return fmt.Errorf("%s does not name a process: end the server, and remove the file", file)
	}
	if info, err := process.Lookup(ctx, pid); err == nil && info.Started == started {
		left, err := process.Attach(ctx, pid)
		if err != nil {
			return nil // it has just ended
		}
		if err := left.Stop(ctx); err != nil {
			return err
		}
	}
	return os.Remove(file)
}

// shellQuoted is a text as one word for sh.
func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
