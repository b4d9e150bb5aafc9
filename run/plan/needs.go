package plan

import (
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/run/allow"
	"github.com/tsmark/tsmark/workload/file/input"
)

// Needs returns the permissions that each agent needs for a run of the plan.
func (p *Plan) Needs() (n allow.Needs, err error) {
	for i := range p.Targets {
		of, err := p.Targets[i].Needs()
		if err != nil {
			return n, err
		}
		n.Add(of)
	}
	files, err := input.Names(p.Experiment.Workload.Settings)
	n.Add(allow.Needs{Files: files})
	return n, err
}

// Needs returns the permissions for a target: its driver and the addresses that it connects to.
func (t *Target) Needs() (n allow.Needs, err error) {
	if t.Caps.Discards {
		return n, nil
	}
	addresses, err := connection.Addresses(&t.Driver, t.Options)
	if err != nil {
		return n, err
	}
	if t.Start != "" { // its ports are known once it has started
		addresses = []string{t.Options[connection.Host]}
	}
	for _, a := range addresses {
		n.Targets = append(n.Targets, allow.Target(t.Driver.Name, a))
	}
	if len(addresses) == 0 { // cannot be permitted
		n.Targets = []string{t.Driver.Name}
	}
	return n, nil
}
