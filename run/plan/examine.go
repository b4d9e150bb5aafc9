package plan

import (
	"context"
	"fmt"
	"os"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/run/check"
)

// Examine opens the targets of a plan as a run would, one after the other, and measures nothing. An
// embedded database uses a temporary folder below dir. The result contains no secrets.
func (p *Plan) Examine(ctx context.Context, c check.Config, dir string) ([]*check.Report, error) {
	var reports []*check.Report
	for i := range p.Targets {
		r, err := p.examine(ctx, c, dir, &p.Targets[i])
		if err != nil {
			return nil, p.Secrets.Error(err)
		}
		p.Secrets.Hide(r)
		reports = append(reports, r)
	}
	return reports, nil
}

func (p *Plan) examine(ctx context.Context, c check.Config, dir string, t *Target) (*check.Report, error) {
	if t.Start != "" {
		return &check.Report{Target: t.Name, Driver: t.Driver.Name, Findings: []check.Finding{
			{Check: "server", Status: check.Skip, Result: "the run starts it: there is nothing to look at yet"},
		}}, nil
	}
	folder, err := os.MkdirTemp(dir, "tsmark-check-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the check: %w", err)
	}
	defer os.RemoveAll(folder) // contains no user data
	c.Waiting = p.Waiting(t, c.Waiting)
	return check.Run(ctx, c, check.Target{Name: t.Name, Driver: t.Driver, Options: t.Options, Folder: folder})
}

// Waiting returns say for the waits of a target, which it names. Nil stays nil.
func (p *Plan) Waiting(t *Target, say driver.Waiting) driver.Waiting {
	if say == nil {
		return nil
	}
	return func(doing string) (end func()) { return say(p.Secrets.Text(t.Name + ": " + doing)) }
}

// Describe opens the targets of a plan, one after the other, and returns the systems' descriptions
// of themselves. It changes nothing. An embedded database uses a temporary folder below dir.
func (p *Plan) Describe(ctx context.Context, dir string) ([]driver.Description, error) {
	var list []driver.Description
	for i := range p.Targets {
		d, err := p.describe(ctx, dir, &p.Targets[i])
		if err != nil {
			return nil, p.Secrets.Error(err)
		}
		p.Secrets.Hide(&d)
		list = append(list, d)
	}
	return list, nil
}

func (p *Plan) describe(ctx context.Context, dir string, t *Target) (driver.Description, error) {
	folder, err := os.MkdirTemp(dir, "tsmark-describe-")
	if err != nil {
		return driver.Description{}, fmt.Errorf("making a folder to open %s: %w", t.Name, err)
	}
	defer os.RemoveAll(folder) // contains no user data
	db, err := t.Open(ctx, driver.Env{Dir: folder, Create: true})
	if err != nil {
		return driver.Description{}, err
	}
	defer db.Close() // only used for reading
	return check.Describe(ctx, db)
}
