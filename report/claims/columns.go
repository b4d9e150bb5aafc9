package claims

import (
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// columns looks which systems made columns when rows brought them.
func (r rule) columns() []Part {
	runs, why := r.points(r.Where)
	var parts []Part
	for _, want := range []struct {
		take    bool
		what    string
		systems []string
	}{
		{true, " takes new tags and fields as rows bring them", r.Columns.Take},
		{false, " refuses rows that bring new tags or fields", r.Columns.Refuse},
	} {
		for _, system := range want.systems {
			if why != (reason{}) {
				parts = append(parts, why.untestedPart(system+want.what))
			}
			for _, run := range runs {
				parts = append(parts, r.growth(system+want.what+pointName(run), run, system, want.take))
			}
		}
	}
	return parts
}

// growth decides whether a system takes (or refuses) rows that need new columns, in every
// load of a run. It needs no interval: all loads must agree.
func (r rule) growth(what string, run *result.Run, system string, take bool) Part {
	s := sideOf(run, system)
	if why := r.untestable(s); why != (reason{}) {
		return why.untestedPart(what)
	}
	t := s.target
	took, refused := 0, 0
	for _, repeat := range t.MeasuredRepeats() {
		switch l := repeat.Load; {
		case l == nil:
		case l.Growth == nil:
			return untestedPart(what, "tables were created with all columns")
		case l.UnsupportedReason() != "" && len(l.Growth.Steps) == 0:
			return untestedPart(what, l.UnsupportedReason())
		case l.UnsupportedReason() != "":
			refused++
		case !l.HasFigures():
			return untestedPart(what, "withheld: "+l.Reason())
		case l.Unverified != "":
			return untestedPart(what, l.Unverified)
		default:
			took++
		}
	}
	p := Part{What: what, Advantage: stats.Value{Bound: stats.Unknown}, Verdict: DoesNotHold}
	switch {
	case took == 0 && refused == 0:
		return untestedPart(what, system+" was not loaded")
	case take && refused == 0, !take && took == 0:
		p.Verdict = Holds
	}
	return p
}
