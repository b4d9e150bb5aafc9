package claims

import (
	"cmp"
	"fmt"
	"math"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// newPart makes a part from a figure of a comparison, oriented so that above 1 is better. It
// decides nothing yet.
func newPart(what string, f *compare.Figure) Part {
	p := Part{What: what, Advantage: f.Ratio, Interval: f.Interval}
	missing := cmp.Or(f.MissingA, f.MissingB)
	switch {
	case missing != "":
		return untestedPart(what, missing)
	case f.Method == compare.WithinRepeat || f.Interval == nil || f.Interval.Level < stats.Confidence:
		return untestedPart(what, tooFewRepeats)
	}
	if f.Better == compare.Lower {
		p = p.invert()
	}
	return p
}

// invert returns the part with its sides exchanged.
func (p Part) invert() Part {
	if p.Verdict != NotTested {
		p.Advantage = inverse(p.Advantage)
		p.Interval = &stats.Interval{Lo: inverse(p.Interval.Hi), Hi: inverse(p.Interval.Lo), Level: p.Interval.Level}
	}
	return p
}

// inverse returns 1 divided by a value.
func inverse(v stats.Value) stats.Value {
	i := stats.Value{Figure: 1 / v.Figure, Bound: v.Bound}
	switch v.Bound {
	case stats.AtLeast:
		i.Bound = stats.AtMost
	case stats.AtMost:
		i.Bound = stats.AtLeast
	case stats.Unknown:
		i.Figure = 0
	}
	return i
}

// ends returns the ends of a part's interval; an end that was cut off is open.
func (p *Part) ends() (low, high float64) {
	low, high = p.Interval.Lo.Figure, p.Interval.Hi.Figure
	if b := p.Interval.Lo.Bound; b == stats.AtMost || b == stats.Unknown {
		low = 0
	}
	if b := p.Interval.Hi.Bound; b == stats.AtLeast || b == stats.Unknown {
		high = math.Inf(1)
	}
	return low, high
}

// decide says whether the advantage is between the factors that are meant.
func (p Part) decide(by document.By) Part {
	if p.Verdict == NotTested {
		return p
	}
	least, most := by.Ends()
	switch {
	case !math.IsInf(most, 1):
		p.Range = fmt.Sprintf("within %.3g to %.3g", least, most)
	case least > 1:
		p.Range = fmt.Sprintf("at least %.3g", least)
	default:
		p.Range = "above 1"
	}
	p.least, p.most = least, most
	switch low, high := p.ends(); {
	case (low > least || least > 1 && low == least) && high <= most:
		p.Verdict = Holds
	case high < least || low > most:
		p.Verdict = DoesNotHold
	default:
		p.Verdict = Tie
	}
	return p
}

// better decides a comparison without a factor.
func (p Part) better() Part { return p.decide(document.By{}) }

// factor returns the required factor in words.
func factor(by document.By) string {
	least, most := by.Ends()
	switch {
	case by.About > 0:
		return fmt.Sprintf(" about %g times (%.3g to %.3g)", by.About, least, most)
	case by.AtLeast > 0 && by.AtMost > 0:
		return fmt.Sprintf(" %g to %g times", by.AtLeast, by.AtMost)
	case by.AtLeast > 0:
		return fmt.Sprintf(" at least %g times", by.AtLeast)
	case by.AtMost > 0:
		return fmt.Sprintf(" less than %g times", by.AtMost)
	}
	return ""
}

// decideChange decides on the ratio of a figure to its earlier value.
func (p Part) decideChange(to document.Direction, by document.By) Part {
	switch to {
	case document.Better:
		return p.decide(by)
	case document.Worse:
		return p.invert().decide(by)
	case document.NotBetter:
		return p.notBetter()
	}
	return p.decideSame()
}

func goes(d document.Direction) string {
	switch d {
	case document.Better:
		return "improves"
	case document.Worse:
		return "worsens"
	case document.NotBetter:
		return "does not improve by more than a tenth"
	}
	return "stays within a tenth"
}

// decideSame says whether the advantage is within a tenth of 1.
func (p Part) decideSame() Part {
	if p.Verdict == NotTested {
		return p
	}
	p.Range, p.least, p.most = fmt.Sprintf("within %.3g to %.3g", 1/tenth, tenth), 1/tenth, tenth
	switch low, high := p.ends(); {
	case low >= 1/tenth && high <= tenth:
		p.Verdict = Holds
	case low > tenth || high < 1/tenth:
		p.Verdict = DoesNotHold
	default:
		p.Verdict = Tie
	}
	return p
}

// notBetter says whether the advantage is at most a tenth.
func (p Part) notBetter() Part {
	if p.Verdict == NotTested {
		return p
	}
	p.Range, p.most = fmt.Sprintf("at most %.3g", tenth), tenth
	switch low, high := p.ends(); {
	case high <= tenth:
		p.Verdict = Holds
	case low > tenth:
		p.Verdict = DoesNotHold
	default:
		p.Verdict = Tie
	}
	return p
}
