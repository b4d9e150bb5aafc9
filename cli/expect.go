package cli

import (
	"slices"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
)

// expecting returns the text of an experiment with the results that its runs had, as expectations
// for a run of it elsewhere. Several runs yield the results that all have in
// common. A text that this tsmark cannot read is returned unchanged.
func expecting(text string, runs []*result.Run) (string, error) {
	e, err := experiment.Parse("", []byte(text))
	if err != nil || len(runs) == 0 {
		return text, nil
	}
	e.Expect = expectation(runs[0])
	for _, r := range runs[1:] {
		e.Expect = common(e.Expect, expectation(r))
	}
	// Of a sweep each run draws its own queries.
	if len(runs[0].QuerySets) > 0 && !slices.ContainsFunc(runs, func(r *result.Run) bool { return r.QuerySeed != runs[0].QuerySeed }) {
		e.Queries.Seed = runs[0].QuerySeed
	}
	out, err := experiment.Marshal(e)
	return string(out), err
}

// expectation returns the results of a run as an expectation.
func expectation(r *result.Run) experiment.Expect {
	x := experiment.Expect{Dataset: r.Dataset.Fingerprint, Tsmark: r.Tool.Version, Commit: r.Tool.Commit, Queries: experiment.Options{}, Targets: experiment.Options{}}
	for _, q := range r.QuerySets {
		x.Queries[q.Type] = q.Fingerprint
	}
	for i := range r.Targets {
		if v := r.Targets[i].Description.Version; v != "" {
			x.Targets[r.Targets[i].Name] = v
		}
	}
	return x
}

// common returns the part that both expectations share.
func common(a, b experiment.Expect) experiment.Expect {
	keep := func(text *string, other string) {
		if *text != other {
			*text = ""
		}
	}
	keep(&a.Dataset, b.Dataset)
	keep(&a.Tsmark, b.Tsmark)
	keep(&a.Commit, b.Commit)
	for _, pair := range [][2]experiment.Options{{a.Queries, b.Queries}, {a.Targets, b.Targets}} {
		for name, value := range pair[0] {
			if pair[1][name] != value {
				delete(pair[0], name)
			}
		}
	}
	return a
}
