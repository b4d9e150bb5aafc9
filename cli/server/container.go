package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/internal/version"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/servers"
)

// findImage returns an error that offers the closest names if a server has no image.
func findImage(name string) error {
	if server, of := version.Split(name); of != "" {
		return fmt.Errorf("--container runs the version of %s whose image tsmark knows; leave out @%s", server, of)
	}
	if _, ok := servers.FindImage(name); ok {
		return nil
	}
	var names []string
	for _, image := range servers.Images() {
		names = append(names, image.Server)
	}
	return fmt.Errorf("tsmark knows no container image of a server %q%s", name, suggest.NamesOr(name, names, "; it knows those of "+strings.Join(names, ", ")))
}

// findAny returns the error of servers.Find, except for a server that has an image alone.
func findAny(name string) error {
	if _, ok := servers.FindImage(name); ok {
		return nil
	}
	return servers.Find(name)
}

// startContainer starts a server in a container, waits until it answers, and prints its target.
func startContainer(ctx context.Context, a *app.App, background servers.Background, name string, port int) error {
	image, _ := servers.FindImage(name)
	scripts, err := servers.Unpack()
	if err != nil {
		return err
	}
	slow := time.AfterFunc(2*time.Second, func() {
		fmt.Fprintf(a.Stderr, "%s: downloading %s, which may take minutes the first time\n", name, image.Reference)
	})
	first, err := background.StartContainer(ctx, image, port)
	slow.Stop()
	if err != nil {
		return &app.Status{Code: app.ExitTarget, Text: err.Error()}
	}
	target := image.Target(first, "@"+filepath.Join(scripts.Folder(), "password"))
	if err := awaitContainer(ctx, a, background, name, target); err != nil {
		return &app.Status{Code: app.ExitTarget, Text: err.Error()}
	}
	fmt.Fprintln(a.Stdout, target)
	return nil
}

// awaitContainer waits until the server of a target answers a driver.
func awaitContainer(ctx context.Context, a *app.App, background servers.Background, name, target string) error {
	t, err := experiment.ParseTarget(target)
	if err != nil {
		return err
	}
	e := experiment.Default()
	e.Targets = []experiment.Target{t}
	planned, err := plan.NewPlan(e, a.Catalog.PlanCatalog(), plan.Steps{Load: true})
	if err != nil {
		return err
	}
	patient, cancel := context.WithTimeout(ctx, servers.Patience)
	defer cancel()
	defer limit.Announce(a.Waiting, fmt.Sprintf("waiting for the server in container %s (%v at most)", servers.ContainerName(name), servers.Patience))()
	for {
		_, failed := planned.Describe(patient, os.TempDir())
		if failed == nil {
			return nil
		}
		output, err := background.ContainerState(ctx, name)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		case output != "":
			lines := strings.Split(output, "\n")
			return fmt.Errorf("container %s has ended; it said: %s", servers.ContainerName(name), printable.OneLine(lines[len(lines)-1]))
		}
		select {
		case <-patient.Done():
			return fmt.Errorf("container %s runs, and its server does not answer: %s", servers.ContainerName(name), printable.OneLine(failed.Error()))
		case <-time.After(500 * time.Millisecond):
		}
	}
}
