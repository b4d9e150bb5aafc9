package servers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/monitor/process"
)

// containerRuntime finds the program that runs containers.
func containerRuntime() (string, error) {
	for _, name := range []string{"docker", "podman"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("neither docker nor podman is on PATH: install one of them, or leave out --container to install the server from packages")
}

// runtimeCommand runs the program that runs containers and returns its output. Its error has the last line of
// what the program wrote to standard error.
func runtimeCommand(ctx context.Context, runtime string, variables []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, runtime, args...)
	cmd.Env = append(os.Environ(), variables...)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		why := cmp.Or(context.Cause(ctx), err).Error()
		for line := range strings.Lines(problem.String()) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "See '") && !strings.HasPrefix(line, "Run '") { // hints at --help
				why = line
			}
		}
		return "", fmt.Errorf("%s %s: %s", filepath.Base(runtime), args[0], why)
	}
	return strings.TrimSpace(out.String()), nil
}

// StartContainer runs a server's official image in the background and returns its first port on
// 127.0.0.1. A container that runs already is left alone, and a stopped one is started again, with
// its data. Port 0 means free ports. The server may not answer yet.
func (b Background) StartContainer(ctx context.Context, image Image, port int) (int, error) {
	runtime, err := containerRuntime()
	if err != nil {
		return 0, err
	}
	last, err := b.note(image.Server)
	switch known := err == nil; {
	case !known && !errors.Is(err, fs.ErrNotExist):
		return 0, err
	case known && last.Container == "" && last.running(ctx, image.Server):
		return 0, fmt.Errorf("%s runs already, without a container; tsmark server stop %[1]s stops it", image.Server)
	case known && last.Container != "" && port != 0 && port != last.Port:
		return 0, fmt.Errorf("the container of %s has port %d; tsmark server stop %[1]s --remove removes it", image.Server, last.Port)
	case known && last.Container != "" && last.running(ctx, image.Server):
		return last.Port, nil
	case known && last.Container != "":
		_, err := runtimeCommand(ctx, last.Container, nil, "start", ContainerName(image.Server))
		return last.Port, err
	case port == 0:
		if port, err = process.FreePorts(ctx); err != nil {
			return 0, err
		}
	}
	folder := filepath.Join(b.Folder, image.Server)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return 0, fmt.Errorf("making the folder of the server %s: %w", image.Server, err)
	}
	text, err := json.Marshal(note{Port: port, Container: runtime})
	if err != nil {
		return 0, err
	}
	var variables []string
	if image.Secret != "" {
		variables = append(variables, image.Secret+"="+Password())
	}
	if _, err := runtimeCommand(ctx, runtime, variables, image.runArguments(port, false)...); err != nil {
		// The runtime may have made the container before it failed, for example to publish its port. A
		// container of this name may also be of another folder of servers, so that none is removed here.
		if _, missing := runtimeCommand(ctx, runtime, nil, "inspect", ContainerName(image.Server)); missing == nil {
			return 0, fmt.Errorf("%w; %s rm --volumes %s removes the container of this name with its data", err, runtime, ContainerName(image.Server))
		}
		return 0, err
	}
	return port, outfile.WriteBytes(filepath.Join(folder, noteFile), append(text, '\n'))
}

// ContainerState returns "" while a server's container runs, and otherwise the end of its output.
func (b Background) ContainerState(ctx context.Context, server string) (string, error) {
	n, err := b.note(server)
	if err != nil {
		return "", err
	}
	if n.running(ctx, server) {
		return "", nil
	}
	logs, err := runtimeCommand(ctx, n.Container, nil, "logs", "--tail", "20", ContainerName(server))
	return cmp.Or(logs, "it wrote nothing"), err
}

// containerRuns reports whether a container runs.
func containerRuns(ctx context.Context, runtime, server string) bool {
	state, err := runtimeCommand(ctx, runtime, nil, "inspect", "--format", "{{.State.Running}}", ContainerName(server))
	return err == nil && state == "true"
}

// stopContainer stops a container, and removes it with its data if it should be removed.
func stopContainer(ctx context.Context, runtime, server string, remove bool) error {
	_, err := runtimeCommand(ctx, runtime, nil, "stop", ContainerName(server))
	if remove {
		if _, err = runtimeCommand(ctx, runtime, nil, "rm", "--force", "--volumes", ContainerName(server)); err == nil {
			return nil
		}
	}
	return err
}
