package runner

import (
	"context"
	"fmt"
	"os"

	"github.com/tsmark/tsmark/run/check"
)

// Examine looks at the targets of a plan as a run would use them, one after the other, and
// measures nothing. What an embedded database needs for it is in a folder below dir while
// it lasts. No secret is in what it returns.
func (p *Plan) Examine(ctx context.Context, c check.Config, dir string) ([]*check.Report, error) {
	var reports []*check.Report
	for i := range p.targets {
		r, err := p.examine(ctx, c, dir, &p.targets[i])
		if err != nil {
			return nil, p.secrets.Error(err)
		}
		p.secrets.Hide(r)
		reports = append(reports, r)
	}
	return reports, nil
}

func (p *Plan) examine(ctx context.Context, c check.Config, dir string, t *plannedTarget) (*check.Report, error) {
	if t.start != "" {
		return &check.Report{Target: t.name, Driver: t.driver.Name, Findings: []check.Finding{
			{Check: "server", Status: check.Skip, Result: "the run starts it: there is nothing to look at yet"},
		}}, nil
	}
	folder, err := os.MkdirTemp(dir, "tsmark-check-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the check: %w", err)
	}
	defer os.RemoveAll(folder) // nothing of the user's is in it
	return check.Run(ctx, c, check.Target{Name: t.name, Driver: t.driver, Options: t.options, Folder: folder})
}
