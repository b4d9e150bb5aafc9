package fault

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/internal/powerloss"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/run/launch"
	"github.com/tsmark/tsmark/servers"
)

// Server is a server that the fault suite starts, kills and starts again over
// the same files. Its methods are used by one goroutine at a time.
type Server struct {
	command process.Command
	port    int
	running *process.Process
	disk    *powerloss.Disk // of its files; nil: noDisk is the reason
	noDisk  error
}

// NewServer starts a server that listens on a port of 127.0.0.1. It ends with
// the test.
func NewServer(t testing.TB, port int, c process.Command) *Server {
	t.Helper()
	s := &Server{command: c, port: port}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Kill(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Script starts the server of a script in the folder servers, which it has
// installed before, with more in its environment, each NAME=value. Of a server that users
// bring they may bring the script as well, which TSMARK_SCRIPT_<NAME> names and which
// has the same verbs; without it the test is skipped.
func Script(t testing.TB, name string, env ...string) *Server {
	t.Helper()
	script := filepath.Join(conformance.ModuleRoot(t), "servers", name)
	if !slices.Contains(servers.Names(), name) {
		variable := "TSMARK_SCRIPT_" + strings.ToUpper(name)
		if script = os.Getenv(variable); script == "" {
			t.Skipf("no script starts a server that can be killed: give one in %s, with the verbs install, exec DIR PORT and ready DIR PORT", variable)
		}
	}
	if out, err := exec.CommandContext(t.Context(), script, "install").CombinedOutput(); err != nil {
		t.Fatalf("%s install: %v: %s", script, err, out)
	}
	dir, port := t.TempDir(), FreePort(t)
	var note func(process.Info) error
	disk, noDisk := launch.NewDisk(t.Context(), dir)
	switch {
	case disk != nil:
		note, dir = launch.NoteIn(dir), disk.Dir
		t.Cleanup(func() {
			if err := disk.Remove(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	case !errors.Is(noDisk, powerloss.ErrUnavailable):
		t.Fatal(noDisk)
	}
	at := []string{dir, strconv.Itoa(port)}
	s := NewServer(t, port, process.Command{
		Path: script, Args: append([]string{"exec"}, at...), Env: append(servers.Environment(), env...), Log: filepath.Join(t.TempDir(), name+".log"),
		Note:   note,
		Within: 5 * time.Minute, // on a busy machine two processes of Java's have taken more than one
		Ready: func(ctx context.Context) error {
			return exec.CommandContext(ctx, script, append([]string{"ready"}, at...)...).Run()
		},
	})
	s.disk, s.noDisk = disk, noDisk
	return s
}

// FreePort returns the first of process.PortsInARow free ports of 127.0.0.1.
func FreePort(t testing.TB) int {
	t.Helper()
	port, err := process.FreePorts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// Start starts it, and returns once it answers.
func (s *Server) Start(ctx context.Context) error {
	p, err := process.Start(ctx, s.command)
	if err != nil {
		return err
	}
	s.running = p
	return nil
}

// Kill ends it as a crash would.
func (s *Server) Kill() error { return s.running.Kill() }

// Restart kills it and starts it again.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Kill(); err != nil {
		return err
	}
	return s.Start(ctx)
}

// FailPower drops what the server has not synced, kills it, and starts it again.
func (s *Server) FailPower(ctx context.Context) error {
	if err := launch.FailPower(ctx, s.disk, s.running); err != nil {
		return err
	}
	return s.Start(ctx)
}

// Port is the first of its ports.
func (s *Server) Port() int { return s.port }

// Address is host:port.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }
