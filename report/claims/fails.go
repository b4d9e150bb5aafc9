package claims

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// fails says whether loads of systems failed at the rule's points.
func (r rule) fails() []Part {
	runs, why := r.points(r.Where)
	var parts []Part
	for _, system := range r.Fails.Systems {
		what := fmt.Sprintf("a load of %s fails", system)
		if why != (reason{}) {
			parts = append(parts, why.untestedPart(what))
		}
		for _, run := range runs {
			parts = append(parts, r.judgeFailure(what+pointName(run), run, system))
		}
	}
	return parts
}

// judgeFailure returns the part of a claim that loads fail for one run. A system that fails at each other
// point, too, for example
// because it does not start, shows nothing about this point.
func (r rule) judgeFailure(what string, run *result.Run, system string) Part {
	s := r.side(run, system, r.Where)
	if why := r.untestable(s); why != (reason{}) {
		return why.untestedPart(what)
	}
	if s.target.Failure == "" {
		n := len(estimate.Loads(s.target, estimate.SettledRate))
		if n == 0 {
			return untestedPart(what, "it finished, and its load is not verified")
		}
		return Part{What: fmt.Sprintf("%s; here %d of its loads finished, verified", what, n), Verdict: DoesNotHold, Advantage: stats.Value{Bound: stats.Unknown}}
	}
	said, _, _ := strings.Cut(s.target.Failure, "\n")
	elsewhere := slices.ContainsFunc(r.m.Runs[r.Of], func(other *result.Run) bool {
		t := r.side(other, system, r.Where).target
		return other != run && t != nil && t.Failure == "" && len(estimate.Loads(t, estimate.SettledRate)) > 0
	})
	if !elsewhere {
		return untestedPart(what, "it failed, and no load at another point was verified: "+said)
	}
	return Part{What: what + "; here: " + said, Verdict: Holds, Advantage: stats.Value{Bound: stats.Unknown}}
}

// Ended reports whether a run of an experiment has all the results that it will have: it is
// complete, or the only missing results are of systems that fail there as the document
// says.
func Ended(d *document.Document, e *document.Experiment, size document.Size, run *result.Run) bool {
	if run.Status == result.Complete {
		return true
	}
	return run.Ended() && !slices.ContainsFunc(run.Targets, func(t result.Target) bool {
		return t.Failure != "" && !claimedToFail(d, e, size, run, t.Driver)
	})
}

// claimedToFail reports whether a claim is that a system fails at a run's point.
func claimedToFail(d *document.Document, e *document.Experiment, size document.Size, run *result.Run, system string) bool {
	for _, c := range d.Claims {
		for i := range c.Rules {
			r := &c.Rules[i]
			if r.Fails == nil || r.Of != e.Name || !slices.Contains(r.Fails.Systems, system) {
				continue
			}
			there := true
			for path, value := range r.Where {
				there = there && run.Parameters.Value(path) == ours(e.Cut(size), path, value)
			}
			if there {
				return true
			}
		}
	}
	return false
}

// input compares the sizes of two systems' input files, which nothing measures: they are
// counted.
func (r rule) input() []Part {
	in := r.Input
	what := fmt.Sprintf("the input file of %s is %d to %d %% smaller than that of %s", in.Smaller, in.From, in.To, in.Than)
	runs, why := r.points(r.Where)
	if why != (reason{}) {
		return []Part{why.untestedPart(what)}
	}
	var parts []Part
	for _, run := range runs {
		smaller, than := inputBytes(r.d, run, in.Smaller, ""), inputBytes(r.d, run, in.Than, "")
		if smaller == 0 || than == 0 {
			parts = append(parts, untestedPart(what+pointName(run), "the size of the input was not recorded"))
			continue
		}
		saved := 100 * (1 - float64(smaller)/float64(than))
		p := Part{What: fmt.Sprintf("%s%s; here %.1f %%", what, pointName(run), saved), Verdict: DoesNotHold, Advantage: stats.Value{Bound: stats.Unknown}}
		if saved >= float64(in.From)-0.5 && saved < float64(in.To)+0.5 {
			p.Verdict = Holds
		}
		parts = append(parts, p)
		if in.Gzip > 0 {
			parts = append(parts, r.compareGzip(run, in.Smaller), r.compareGzip(run, in.Than))
		}
	}
	return parts
}

// compareGzip compares the size of a system's input file after gzip with the one before.
func (r rule) compareGzip(run *result.Run, driver string) Part {
	what := fmt.Sprintf("gzip leaves about %g %% of the input file of %s%s", r.Input.Gzip, driver, pointName(run))
	before, after := inputBytes(r.d, run, driver, ""), inputBytes(r.d, run, driver, encode.Gzipped)
	if before == 0 || after == 0 {
		return untestedPart(what, "the size of the input after gzip was not recorded")
	}
	left := 100 * float64(after) / float64(before)
	p := Part{What: fmt.Sprintf("%s; here %.1f %%", what, left), Verdict: DoesNotHold, Advantage: stats.Value{Bound: stats.Unknown}}
	if least, most := (document.By{About: r.Input.Gzip}).Ends(); left >= least && left <= most {
		p.Verdict = Holds
	}
	return p
}

// inputBytes returns the size of a dataset as the input file of a system, whose name has a suffix; 0: not
// recorded.
func inputBytes(d *document.Document, run *result.Run, driver, suffix string) int64 {
	s, ok := d.System(driver)
	if !ok {
		return 0
	}
	return run.Dataset.FormatBytes[s.Input+suffix]
}
