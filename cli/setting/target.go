package setting

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/protocol"
	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/internal/version"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/servers"
)

// ReadTarget reads a target from the command line. For the URL of an HTTP server it
// finds out which system that is.
func ReadTarget(ctx context.Context, text string) (experiment.Target, error) {
	t, err := experiment.ParseTarget(text)
	if err != nil || t.Driver != experiment.HTTP {
		return t, err
	}
	s := connection.NewSettings(driver.Options(t.Options))
	s.Timeout = identifyTime
	address := s.Address()
	if s.Password, _, err = secret.FromFile(s.Password); err != nil {
		return t, err
	}
	config, err := httpwire.NewConfig(s, t.Options["token"])
	if err != nil {
		return t, fmt.Errorf("target at %s: %w", address, err)
	}
	system, err := protocol.Identify(ctx, &config)
	switch {
	case errors.Is(err, driver.ErrUnreachable):
		return t, &app.Status{Code: app.ExitTarget, Text: fmt.Sprintf("finding out which system it is: %v", err)}
	case err != nil:
		return t, err
	case system.Driver == "":
		return t, fmt.Errorf("%s answers HTTP, but not as a system that tsmark recognizes; name its driver, as in influxdb://%s/DATABASE", address, net.JoinHostPort(s.Host, s.Port))
	}
	t.Identify(system.Driver)
	return t, nil
}

// ResolveVersions replaces versions of servers that stand for a series, such as 9.2, by the newest that
// the registry offers. Its error names the nearest versions to an unknown one.
func ResolveVersions(ctx context.Context, e *experiment.Experiment) error {
	for i := range e.Targets {
		t := &e.Targets[i]
		if t.Version == "" || servers.Find(t.Driver) != nil {
			continue // the plan refuses versions of other systems
		}
		found, err := servers.Resolve(ctx, t.Driver, t.Version)
		if err != nil {
			return e.Problem(fmt.Sprintf("targets[%d].version", i), "%s", err)
		}
		if t.Name == version.Join(t.Driver, t.Version) {
			t.Name = version.Join(t.Driver, found)
		}
		t.Version = found
	}
	return nil
}

// identifyTime is the time limit for each answer of a server whose system is not known.
const identifyTime = 5 * time.Second
