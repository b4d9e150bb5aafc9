package servers

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/tsmark/tsmark/internal/version"
	"github.com/tsmark/tsmark/monitor/process"
)

// Temporary manages servers that are started from scratch and leave no files. Its zero value
// has no servers.
type Temporary struct {
	Among *process.Children // lists the running servers; may be nil

	folder    string
	running   []*process.Process
	variables []string
}

// Start starts a server, NAME or NAME@VERSION, that is installed and returns its address, host:port, and the
// number of its process.
func (t *Temporary) Start(ctx context.Context, scripts Scripts, name string) (address string, pid int, err error) {
	if t.folder == "" {
		if t.folder, err = os.MkdirTemp("", "tsmark-servers-"); err != nil {
			return "", 0, err
		}
	}
	port, err := process.FreePorts(ctx)
	if err != nil {
		return "", 0, err
	}
	dir := filepath.Join(t.folder, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", 0, err
	}
	c := scripts.Command(name, dir, dir+".log", port, t.variables...)
	c.Among = t.Among
	started, err := process.Start(ctx, c)
	if err != nil {
		return "", 0, err
	}
	t.running = append(t.running, started)
	address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	server, chosen := version.Split(name)
	t.variables = append(t.variables, AddressVariable(server)+"="+address)
	if chosen != "" {
		t.variables = append(t.variables, version.Variable(server)+"="+chosen)
	}
	return address, started.PID(), nil
}

// Variables are the addresses of the servers, as NAME=value, and the versions that were chosen: see
// AddressVariable and version.Variable.
func (t *Temporary) Variables() []string { return t.variables }

// AddressVariable is the variable of the environment in which tests find the address of
// a server.
func AddressVariable(name string) string { return "TSMARK_TEST_" + strings.ToUpper(name) }

// Stop ends the servers, all at once, and removes their files.
func (t *Temporary) Stop(ctx context.Context) error {
	problems := make([]error, len(t.running)+1)
	var wait sync.WaitGroup
	for i, server := range t.running {
		wait.Go(func() { problems[i] = server.Stop(ctx) })
	}
	wait.Wait()
	if t.folder != "" {
		problems[len(t.running)] = os.RemoveAll(t.folder)
	}
	*t = Temporary{Among: t.Among}
	return errors.Join(problems...)
}
