package experiment

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/tsmark/tsmark/result"
)

// Expect has the expected properties of a run, from another run of the experiment. If the dataset
// or the queries differ nothing is measured, because the figures could not be compared. Differing
// versions are only reported, since comparing them may be the purpose. Missing keys are not
// checked.
type Expect struct {
	Dataset string  `yaml:"dataset,omitempty"` // fingerprint of its specification
	Queries Options `yaml:"queries,omitempty"` // fingerprints by query type
	Tsmark  string  `yaml:"tsmark,omitempty"`  // version
	Commit  string  `yaml:"commit,omitempty"`  // of tsmark
	Targets Options `yaml:"targets,omitempty"` // versions of the systems, by the names of targets
}

// fingerprint matches results of workload.Spec.Fingerprint and query.Fingerprint.
var fingerprint = regexp.MustCompile(`^[0-9a-f]{16}$`)

func (c *checker) expect(x *Expect) {
	const want = "is not a fingerprint of 16 hexadecimal digits (0 to 9, a to f); omit it to expect any"
	if x.Dataset != "" && !fingerprint.MatchString(x.Dataset) {
		c.add("expect.dataset", "%q "+want, x.Dataset)
	}
	for _, name := range slices.Sorted(maps.Keys(x.Queries)) {
		if !fingerprint.MatchString(x.Queries[name]) {
			c.add("expect.queries."+name, "%q "+want, x.Queries[name])
		}
	}
}

// CheckExpected returns a *Problem if the dataset, or the queries of a type, differ from the
// expected ones; nil: they match, or none are expected.
func (e *Experiment) CheckExpected(dataset string, queries map[string]string) error {
	x := &e.Expect
	differs := func(path, what, found, expected string) error {
		return e.Problem(path, "%s: fingerprint %s, expected %s: the figures could not be compared; undo the change, use the tsmark that wrote this, or remove the key to go on", what, found, expected)
	}
	if x.Dataset != "" && dataset != "" && x.Dataset != dataset {
		return differs("expect.dataset", "another dataset", dataset, x.Dataset)
	}
	for _, name := range slices.Sorted(maps.Keys(x.Queries)) {
		if found := queries[name]; found != "" && found != x.Queries[name] {
			return differs("expect.queries."+name, "other queries of "+name, found, x.Queries[name])
		}
	}
	return nil
}

// OtherTool says how this tsmark differs from the expected one; empty: it does not, or none is
// expected.
func (x *Expect) OtherTool(version, commit string) string {
	if (x.Tsmark == "" || x.Tsmark == version) && (x.Commit == "" || x.Commit == commit) {
		return ""
	}
	named := func(version, commit string) string {
		if commit == "" {
			commit = "unknown"
		}
		return fmt.Sprintf("tsmark %s, commit %s", version, commit)
	}
	return fmt.Sprintf("%s; this is %s", named(x.Tsmark, x.Commit), named(version, commit))
}

// OtherTarget is OtherTool for the system of a target.
func (x *Expect) OtherTarget(name, version string) string {
	if expected := x.Targets[name]; expected != "" && expected != version {
		return fmt.Sprintf("version %s of target %s; this is %s", expected, name, version)
	}
	return ""
}

// AddExpectations returns the text of an experiment with the results that its runs had, as expectations
// for a run of it elsewhere. Several runs yield the results that all have in
// common. A text that this tsmark cannot read is returned unchanged.
func AddExpectations(text string, runs []*result.Run) (string, error) {
	e, err := Parse("", []byte(text))
	if err != nil || len(runs) == 0 {
		return text, nil
	}
	e.Expect = expectationOf(runs[0])
	for _, r := range runs[1:] {
		e.Expect = commonExpectations(e.Expect, expectationOf(r))
	}
	// Of a sweep each run draws its own queries.
	if len(runs[0].QuerySets) > 0 && !slices.ContainsFunc(runs, func(r *result.Run) bool { return r.QuerySeed != runs[0].QuerySeed }) {
		e.Queries.Seed = runs[0].QuerySeed
	}
	out, err := Marshal(e)
	return string(out), err
}

// expectationOf returns the results of a run as an expectation.
func expectationOf(r *result.Run) Expect {
	x := Expect{Dataset: r.Dataset.Fingerprint, Tsmark: r.Tool.Version, Commit: r.Tool.Commit, Queries: Options{}, Targets: Options{}}
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

// commonExpectations returns the part that both expectations share.
func commonExpectations(a, b Expect) Expect {
	keep := func(text *string, other string) {
		if *text != other {
			*text = ""
		}
	}
	keep(&a.Dataset, b.Dataset)
	keep(&a.Tsmark, b.Tsmark)
	keep(&a.Commit, b.Commit)
	for _, pair := range [][2]Options{{a.Queries, b.Queries}, {a.Targets, b.Targets}} {
		for name, value := range pair[0] {
			if pair[1][name] != value {
				delete(pair[0], name)
			}
		}
	}
	return a
}
