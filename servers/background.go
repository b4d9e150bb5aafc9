package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/internal/version"
	"github.com/tsmark/tsmark/monitor/process"
)

// Background manages servers that keep running after the process that started them. Each
// has a folder with its files, its output, and a note of its process.
type Background struct {
	Folder string            // of the servers' folders
	Among  *process.Children // lists the servers that are being started; may be nil
}

// StateFolder is where programs of this user keep servers in the background, by the
// XDG Base Directory Specification.
func StateFolder() (string, error) {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "tsmark", "servers"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the folder of servers: %w", err)
	}
	return filepath.Join(home, ".local", "state", "tsmark", "servers"), nil
}

// Known is a server that was started in the background.
type Known struct {
	Name    string // or NAME@VERSION
	Port    int    // its first
	Running bool
	// Container says that it runs, or ran, in a container.
	Container bool
}

// note is the record of a server's process. A folder without one does not belong to
// tsmark.
type note struct {
	PID     int   `json:"pid"`
	Started int64 `json:"started"` // distinguishes it from a later process of that number
	Port    int   `json:"port"`
	// Script is the digest of the script that started it.
	Script string `json:"script"`
	// Container is the program that runs its container; empty: it is a process.
	Container string `json:"container,omitempty"`
}

// Files in the folder of a server.
const (
	noteFile   = "server.json"
	logFile    = "server.log"
	dataFolder = "data"
)

// optionsFile is the file in the script's folder in which a script writes the options
// of the server that it started, if they differ from the driver's TestServer:
// NAME=VALUE a line. One of several variants may need options that another does not.
const optionsFile = "options"

// Options returns the options that the script of a server wrote down at its last start, by
// name. They are nil if the driver's TestServer has all options.
func (b Background) Options(name string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(b.Folder, name, dataFolder, optionsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the options of the server %s: %w", name, err)
	}
	options := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if option, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			options[option] = value
		}
	}
	return options, nil
}

// List lists the servers that were started and not removed.
func (b Background) List(ctx context.Context) ([]Known, error) {
	var list []Known
	folders, err := os.ReadDir(b.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing the servers: %w", err)
	}
	for _, folder := range folders { // sorted by name
		name := folder.Name()
		if server, _ := version.Split(name); !slices.Contains(AllNames(), server) {
			continue // somebody else's
		}
		n, err := b.note(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		}
		list = append(list, Known{name, n.Port, n.running(ctx, name), n.Container != ""})
	}
	return list, nil
}

// AllNames lists the servers that have a script or an image, sorted.
func AllNames() []string {
	names := Names()
	for _, image := range Images() {
		names = append(names, image.Server)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// note reads a server's note. Its error wraps fs.ErrNotExist if the server was never
// started.
func (b Background) note(name string) (note, error) {
	var n note
	text, err := os.ReadFile(filepath.Join(b.Folder, name, noteFile))
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err != nil {
		return n, fmt.Errorf("reading which process the server %s is: %w", name, err)
	}
	return n, nil
}

// running reports whether the process of the note is the one of today, or its container runs.
func (n note) running(ctx context.Context, name string) bool {
	if n.Container != "" {
		return containerRuns(ctx, n.Container, name)
	}
	info, err := process.Lookup(ctx, n.PID)
	return err == nil && info.Started == n.Started && !info.Ended
}

// Start starts an installed server, NAME or NAME@VERSION, and returns its first port. A server that runs
// already is left alone, unless its script has changed: then it is started again, with its
// data, since its options may have changed. Port 0 means the port of its last start, or a free
// one if that is taken.
func (b Background) Start(ctx context.Context, scripts Scripts, name string, port int) (int, error) {
	digest, err := scripts.digest(name)
	if err != nil {
		return 0, err
	}
	last, err := b.note(name)
	known := err == nil
	if known && last.Container != "" {
		return 0, fmt.Errorf("%s has a container; tsmark server start %[1]s --container starts it, and tsmark server stop %[1]s --remove removes it", name)
	}
	if known && last.Script != digest && last.running(ctx, name) {
		if err := b.Stop(ctx, name, false); err != nil {
			return 0, err
		}
	}
	switch {
	case !known && !errors.Is(err, fs.ErrNotExist):
		return 0, err
	case known && last.running(ctx, name) && port != 0 && port != last.Port:
		return 0, fmt.Errorf("%s runs already, on port %d", name, last.Port)
	case known && last.running(ctx, name):
		return last.Port, nil
	case port == 0 && known && free(last.Port):
		port = last.Port
	case port == 0:
		if port, err = process.FreePorts(ctx); err != nil {
			return 0, err
		}
	}
	folder := filepath.Join(b.Folder, name)
	data := filepath.Join(folder, dataFolder)
	if err := os.MkdirAll(data, 0o755); err != nil {
		return 0, fmt.Errorf("making the folder of the server %s: %w", name, err)
	}
	c := scripts.Command(name, data, filepath.Join(folder, logFile), port)
	c.Among = b.Among
	c.Note = func(info process.Info) error {
		text, err := json.Marshal(note{PID: info.PID, Started: info.Started, Port: port, Script: digest})
		if err != nil {
			return err
		}
		return outfile.WriteBytes(filepath.Join(folder, noteFile), append(text, '\n'))
	}
	_, err = process.Start(ctx, c)
	return port, err
}

// free reports whether the ports of a server are free.
func free(first int) bool {
	for port := first; port < first+process.PortsInARow; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}

// Stop ends a server, which may have ended already. Its data stays, unless it should
// be removed.
func (b Background) Stop(ctx context.Context, name string, remove bool) error {
	n, err := b.note(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s was not started here", name)
	case err != nil:
		return err
	}
	switch {
	case n.Container != "":
		if err := stopContainer(ctx, n.Container, name, remove); err != nil {
			return err
		}
	case n.running(ctx, name):
		server, err := process.Attach(ctx, n.PID)
		if err == nil {
			err = server.Stop(ctx)
		}
		if err != nil {
			return fmt.Errorf("stopping the server %s, process %d: %w", name, n.PID, err)
		}
	}
	if remove {
		if err := os.RemoveAll(filepath.Join(b.Folder, name)); err != nil {
			return fmt.Errorf("removing the files of the server %s: %w", name, err)
		}
	}
	return nil
}
