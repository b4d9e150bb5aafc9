package prometheus

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/internal/option"
)

// quirks are the differences of a system that takes remote write and answers PromQL, as a profile states them. It
// has none of Prometheus's reports about itself, and deletes nothing.
type quirks struct {
	Write string `yaml:"write"` // path of remote write
	// BehavesAs is the version of Prometheus whose PromQL the system has: before 3 ranges include their start,
	// from 2.43 on queries say how far they look back.
	BehavesAs string `yaml:"behaves-as"`
	// Lookback is how far selectors look back if queries cannot say it.
	Lookback time.Duration `yaml:"lookback"`
	// Visible is how long after its acknowledgement a sample may be missing in answers.
	Visible time.Duration `yaml:"visible-after"`
}

// adapt returns the driver of a compatible system.
func adapt(c driver.Compatible) (driver.Driver, error) {
	q := c.Quirks.(*quirks)
	var major, minor int
	_, err := fmt.Sscanf(q.BehavesAs, "%d.%d", &major, &minor)
	switch {
	case !strings.HasPrefix(q.Write, "/"):
		return driver.Driver{}, &driver.QuirkError{Path: "write", Text: fmt.Sprintf("must be a path such as /api/v1/write, not %q", q.Write)}
	case err != nil:
		return driver.Driver{}, &driver.QuirkError{Path: "behaves-as", Text: fmt.Sprintf("must be a version of Prometheus such as 2.45.0, not %q", q.BehavesAs)}
	case q.Lookback < 0 || q.Visible < 0:
		return driver.Driver{}, &driver.QuirkError{Path: "lookback", Text: "durations must not be negative"}
	}
	d := Driver()
	for i := range d.Options {
		switch d.Options[i].Name {
		case metric.OptionProtocol:
			d.Options[i].Type = option.Choice(metric.RemoteWrite1)
		case optionOldData:
			d.Options[i].Help, d.Options[i].Type, d.Options[i].Default = "any: nothing is known about old samples", option.Choice(oldAny), oldAny
		}
	}
	d.Caps = func(o driver.Options) driver.Caps {
		out := caps(c.System, o[metric.OptionProtocol])
		out.Steps, out.Changes = nil, driver.Unchangeable("its profile does not say how the system changes samples")
		return out
	}
	d.Place = metric.Place(c.System, optionPrefix)
	d.Open = func(ctx context.Context, _ driver.Env, o driver.Options) (driver.DB, error) {
		return openAs(ctx, c.System, q, o)
	}
	return d, nil
}

// server describes the system as the server whose PromQL it has.
func (q *quirks) server() server {
	var major, minor int
	_, _ = fmt.Sscanf(q.BehavesAs, "%d.%d", &major, &minor) // adapt has checked it
	return server{version: q.BehavesAs, closed: major < 3, lookback: major > 2 || major == 2 && minor >= 43, reaches: q.Lookback}
}

// settle returns when samples are visible.
func (q *quirks) settle(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(q.Visible):
		return nil
	}
}
