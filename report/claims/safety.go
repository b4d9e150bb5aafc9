package claims

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// ratesLoads reports whether the rule compares load rates.
func (r rule) ratesLoads() bool {
	return len(r.Types) == 0 && slices.Contains([]compare.Metric{compare.Load, compare.Acked, document.Points}, r.metric())
}

// incomparable returns why the load rates of two systems cannot be compared: one server acknowledges
// by a timer, which limits its rate.
func (r rule) incomparable(x, y side) reason {
	if r.unequalSafety(x, y) == "" {
		return reason{}
	}
	for _, pair := range [][2]side{{x, y}, {y, x}} {
		if timed, other := pair[0], pair[1]; timed.target.Description.Safety == driver.ByTimer {
			return reason{words: fmt.Sprintf("an acknowledged row of %s is %s, of %s %s: the load rate of %[1]s is that of the timer", timed.name, driver.ByTimer, other.name, other.target.Description.Safety)}
		}
	}
	return reason{}
}

// unequalSafety describes the safety of acknowledged rows if it differs between two systems whose load
// rates are compared; empty: it is equal, or unknown.
func (r rule) unequalSafety(x, y side) string {
	if !r.ratesLoads() || x.target.Driver == y.target.Driver {
		return ""
	}
	ofX, ofY := x.target.Description.Safety, y.target.Description.Safety
	if ofX == ofY || ofX == "" || ofY == "" {
		return ""
	}
	return fmt.Sprintf("of %s %s, of %s %s", x.name, ofX, y.name, ofY)
}

// unequalNote names the unequal safety of the compared systems, each pair once; empty: none is known.
func unequalNote(parts []Part) string {
	var list []string
	for _, p := range parts {
		if p.Verdict != NotTested && p.unequal != "" && !slices.Contains(list, p.unequal) {
			list = append(list, p.unequal)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "these are load rates at unequal durability: an acknowledged row is " + strings.Join(list, "; ")
}
