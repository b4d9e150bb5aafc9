// Package launch starts, pauses and stops the servers of targets.
package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
)

// Servers are the servers that a run started, or found. At most one of them is active at a time.
type Servers struct {
	Own      map[string]*Server // by target
	children *process.Children  // includes their processes
	pool     *Pool              // nil: none outlives the run
	disks    *disks             // nil: the run crashes nothing
}

// NewServers returns no servers yet. Their processes are added to among; shared has the servers
// that outlive the run, nil: none.
func NewServers(among *process.Children, shared *Pool) Servers {
	return Servers{Own: make(map[string]*Server), children: among, pool: shared}
}

// Pool is the servers shared by several runs: those of targets with experiment.ForSweep. Only one
// run may use it at a time.
type Pool struct {
	dir     string             // parent of their folders
	Servers map[string]*Server // by target
}

// NewPool returns servers that are started when a run needs them, each with its files in a new
// folder below the given one. The caller must stop them.
func NewPool(dir string) *Pool { return &Pool{dir: dir, Servers: make(map[string]*Server)} }

// Stop stops the servers, and removes their data, which no other run uses. Their logs remain.
func (s *Pool) Stop(ctx context.Context) error {
	err := stopAll(ctx, s.Servers)
	RemoveData(s.Servers)
	return err
}

// Server is the server of one target.
type Server struct {
	line  string // start command, with placeholders as in the experiment
	port  int    // the first of its ports
	Files string // the folder of its files
	idle  string
	// settings of the server itself, which its script passes on
	settings map[string]string
	command  process.Command
	running  *process.Process // nil: stopped
	paused   bool
	made     bool // its folder was created for it
}

// Switch rests the servers of other targets and ensures that the target's own runs. It returns the
// target with the options for its address.
func (s Servers) Switch(ctx context.Context, planned *plan.Target, env driver.Env) (*plan.Target, error) {
	if err := s.restAll(ctx, planned.Name); err != nil {
		return nil, fmt.Errorf("%w, while target %s has its turn", err, planned.Name)
	}
	if planned.Start == "" {
		return planned, nil
	}
	known := s.Own
	if s.outlives(planned) {
		known = s.pool.Servers
	}
	own := known[planned.Name]
	if own != nil && (own.line != planned.Start || !maps.Equal(own.settings, planned.Server) || own.command.Memory != planned.Memory) { // another run starts it differently
		if err := own.Stop(ctx); err != nil {
			return nil, err
		}
		if s.outlives(planned) {
			own.removeData() // the next one has another folder
		}
		own = nil
	}
	if own == nil {
		var err error
		if s.outlives(planned) {
			if env.Dir, err = newFolder(ctx, filepath.Join(s.pool.dir, planned.Name)); err != nil {
				return nil, err
			}
		}
		if own, err = s.newServer(ctx, planned, env); err != nil {
			return nil, err
		}
		known[planned.Name] = own
	}
	here := *planned
	here.Options = planned.OptionsAt(own.port)
	defer limit.Announce(env.Waiting, fmt.Sprintf("starting the server, whose output is in %s (%v at most)", own.command.Log, serverPatience))()
	return &here, own.Wake(ctx)
}

// Install installs the server of a target, which may take minutes the first time: its parts are
// downloaded or built. Afterwards it returns quickly.
func Install(ctx context.Context, planned *plan.Target, waiting driver.Waiting) error {
	if planned.Script == "" {
		return nil
	}
	defer limit.Announce(waiting, "installing its server, which may take minutes the first time")()
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+planned.Script+" install")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("installing the server: %s", cmp.Or(mainLine(string(output)), err.Error()))
	}
	return nil
}

// colors matches the codes by which programs color their output.
var colors = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// mainLine returns the first line of an output that has the word error, or else its last line.
func mainLine(output string) string {
	var last string
	for line := range strings.Lines(colors.ReplaceAllString(output, "")) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if last = line; strings.Contains(strings.ToLower(line), "error") {
			break
		}
	}
	return last
}

// newFolder returns a path that does not exist: the given one, or with -2, -3 and so on appended. A
// server is not started on the files of an earlier one, which had other ports and contains another
// run's data; it stops a server that a killed tsmark left running there.
func newFolder(ctx context.Context, path string) (string, error) {
	for n, at := 2, path; ; n++ {
		switch _, err := os.Lstat(at); {
		case errors.Is(err, fs.ErrNotExist):
			return at, nil
		case err != nil:
			return "", fmt.Errorf("looking for a folder for a server: %w", err)
		}
		_, left := os.Stat(filepath.Join(at, pidFile))
		if err := stopEarlier(ctx, at); err != nil {
			return "", err
		}
		if left == nil { // so a killed tsmark made the data
			_ = os.RemoveAll(filesOf(at))
		}
		at = fmt.Sprintf("%s-%d", path, n)
	}
}

// stopEarlier stops the server that a killed tsmark left running in a target's folder.
func stopEarlier(ctx context.Context, dir string) error {
	if err := stopLeftOver(ctx, filepath.Join(dir, pidFile)); err != nil {
		return fmt.Errorf("%w: a server that an earlier tsmark left behind: %w", plan.ErrInput, err)
	}
	return nil
}

// outlives reports whether other runs use the server of a target too. They do not use one that crashes.
func (s Servers) outlives(planned *plan.Target) bool {
	return s.pool != nil && planned.ForSweep() && s.disks == nil
}

// ServerOf returns the server of a target; nil: none was started here.
func (s Servers) ServerOf(planned *plan.Target) *Server {
	if s.outlives(planned) {
		return s.pool.Servers[planned.Name]
	}
	return s.Own[planned.Name]
}

// restAll rests all servers except that of one target; "": all.
func (s Servers) restAll(ctx context.Context, but string) error {
	all := maps.Clone(s.Own)
	if s.pool != nil {
		maps.Copy(all, s.pool.Servers) // a target's server is in one of the maps
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == but {
			continue
		}
		if err := all[name].putToRest(ctx); err != nil {
			return fmt.Errorf("the server of target %s, which is to rest: %w", name, err)
		}
	}
	return nil
}

// Leave stops the run's own servers, and rests the ones that outlive it. Their data remains, but for that on disks whose
// power can fail.
func (s Servers) Leave(ctx context.Context) error {
	return errors.Join(stopAll(ctx, s.Own), s.restAll(ctx, ""), s.disks.remove(ctx))
}

func stopAll(ctx context.Context, of map[string]*Server) error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if err := of[name].Stop(ctx); err != nil {
			problems = append(problems, fmt.Errorf("stopping the server of target %s: %w", name, err))
		}
	}
	return errors.Join(problems...)
}

// RemoveData removes the data of stopped servers, in folders that were created for them. Their logs
// remain.
func RemoveData(of map[string]*Server) {
	for _, own := range of {
		own.removeData()
	}
}

func (s *Server) removeData() {
	if s.made && s.running == nil {
		_ = os.RemoveAll(s.Files) // remaining files only take space
	}
}

// HasData reports whether the folder of a target has the data of the server that was started for it.
func HasData(dir string) bool {
	_, err := os.Stat(filesOf(dir))
	return err == nil
}

// RemoveFolders removes the folders that were created for the servers of a discarded run or sweep.
func RemoveFolders(of map[string]*Server) {
	for _, own := range of {
		if own.made {
			_ = os.RemoveAll(filepath.Dir(own.command.Log)) // a remaining folder does no harm
		}
	}
}

// pidFile contains the ID and the start time of a server's process, to find a process that outlived
// a killed tsmark.
const pidFile = "server.pid"

func (s Servers) newServer(ctx context.Context, planned *plan.Target, env driver.Env) (*Server, error) {
	dir, err := filepath.Abs(env.Dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: making the folder of the server: %w", plan.ErrInput, err)
	}
	if err := stopEarlier(ctx, dir); err != nil {
		return nil, err
	}
	port, err := process.FreePorts(ctx)
	if err != nil {
		return nil, err
	}
	options := planned.OptionsAt(port)
	files := filesOf(dir)
	_, before := os.Stat(files)
	if files, err = s.disks.folder(ctx, planned.Name, dir, files); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(files, 0o777); err != nil {
		return nil, fmt.Errorf("%w: making the folder of the server: %w", plan.ErrInput, err)
	}
	if err := writeSettings(files, planned.Server); err != nil {
		return nil, err
	}
	line := strings.NewReplacer(experiment.StartDir, plan.ShellQuote(files), experiment.StartPort, strconv.Itoa(port)).Replace(planned.Start)
	var stop os.Signal // nil: SIGTERM
	if planned.Script != "" {
		stop = planned.Driver.StopSignal
	}
	return &Server{
		line: planned.Start, settings: planned.Server, port: port, Files: files, idle: planned.Idle, made: errors.Is(before, fs.ErrNotExist),
		command: process.Command{
			// exec: the server has the shell's process ID, and receives its signals.
			Path: "sh", Args: []string{"-c", "exec " + line}, Log: filepath.Join(dir, "server.log"),
			Within: serverPatience, Grace: serverPatience, Signal: stop, Among: s.children, Memory: planned.Memory,
			Note: NoteIn(dir),
			Ready: func(ctx context.Context) error {
				if err := checkReady(ctx, planned.Script, files, port); err != nil {
					return err
				}
				return checkAnswers(ctx, planned.Driver, env, options)
			},
		},
	}, nil
}

// writeSettings writes the settings of a server into its folder, NAME=VALUE on each line, where its
// script reads them.
func writeSettings(files string, settings map[string]string) error {
	file := filepath.Join(files, "settings")
	if len(settings) == 0 {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: removing the settings of an earlier server: %w", plan.ErrInput, err)
		}
		return nil
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&text, "%s=%s\n", name, settings[name])
	}
	if err := outfile.WriteBytes(file, []byte(text.String())); err != nil {
		return fmt.Errorf("%w: writing the settings of the server: %w", plan.ErrInput, err)
	}
	return nil
}

// filesOf is the folder of the server's files below a target's folder.
func filesOf(dir string) string { return filepath.Join(dir, "server") }

// serverPatience is the time limit for a server to start, and to stop before it is killed.
const serverPatience = 2 * time.Minute

// checkReady runs the verb ready of tsmark's own script, if one started the server: some servers accept
// connections before their users exist.
func checkReady(ctx context.Context, script, files string, port int) error {
	if script == "" {
		return nil
	}
	output, err := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf("exec %s ready %s %d", script, plan.ShellQuote(files), port)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("the server is not ready: %s", cmp.Or(mainLine(string(output)), err.Error()))
	}
	return nil
}

// checkAnswers reports whether a target can be opened. Other errors are found when it is opened for
// a job.
func checkAnswers(ctx context.Context, kind driver.Driver, env driver.Env, options driver.Options) error {
	env.Waiting = nil // the user is told about the server that starts
	t, err := kind.Open(ctx, env, options)
	switch {
	case err == nil:
		return t.Close()
	case errors.Is(err, driver.ErrUnreachable):
		return err
	}
	return nil
}

// Wake ensures that the server runs.
func (s *Server) Wake(ctx context.Context) (err error) {
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

// putToRest puts the server into the state that its target selects while others are measured.
func (s *Server) putToRest(ctx context.Context) error {
	switch {
	case s.running == nil || s.paused || s.idle == experiment.IdleRun:
		return nil
	case s.idle == experiment.IdleStop:
		return s.Stop(ctx)
	case !s.running.Running(ctx):
		return nil // the target's next job starts it again
	}
	s.paused = true
	err := s.running.Pause(ctx)
	if errors.Is(err, errors.ErrUnsupported) {
		s.paused = false
		return s.Stop(ctx)
	}
	return err
}

// Stop stops the server if it runs. Its files remain.
func (s *Server) Stop(ctx context.Context) error {
	if s.running == nil {
		return nil
	}
	if err := s.running.Stop(ctx); err != nil {
		return err
	}
	s.running, s.paused = nil, false
	return os.Remove(filepath.Join(filepath.Dir(s.command.Log), pidFile))
}

// NoteIn returns the Note of a process.Command that records the process of a server in the folder of its target.
func NoteIn(dir string) func(process.Info) error {
	return func(info process.Info) error {
		// Atomically: a half-written file would identify no process.
		if err := outfile.WriteBytes(filepath.Join(dir, pidFile), fmt.Appendf(nil, "%d\n%d\n", info.PID, info.Started)); err != nil {
			return fmt.Errorf("%w: noting the server's process: %w", plan.ErrInput, err)
		}
		return nil
	}
}

// stopLeftOver stops the server that a PID file identifies, if it is still the same process.
func stopLeftOver(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil // none was left behind
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
