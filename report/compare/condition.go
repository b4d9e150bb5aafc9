package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/internal/suggest"
)

// Condition is a limit for figures: a change, as in `p99 > +5%`, or an absolute value,
// as in `p99 > 50ms`.
//
// A change is from A to B: the metric rises by more, or with < falls by more, in
// any query type or load that has it. It also holds if A has a figure and B has
// none, since nothing then shows that B is not worse. An absolute limit is about B
// alone.
//
// Figures vary by chance. So a change counts only if a difference was shown
// (see Figure.Significant), and an absolute limit only if the whole interval across repeats
// is beyond it. With a trailing !, as in `p99 > +5%!`, the figures count as they are.
type Condition struct {
	Metric   Metric
	Rise     bool    // written >; else a fall, <
	Absolute bool    // the limit is not a change
	Limit    float64 // in the metric's unit; else relative to A: 0.05 is +5 %, not below 0 for a rise, not above for a fall
	AsIs     bool    // written !
}

// String is the condition as ParseConditions takes it.
func (c Condition) String() string {
	operator, mark := "<", ""
	if c.Rise {
		operator = ">"
	}
	if c.AsIs {
		mark = "!"
	}
	limit := digits(c.Limit*100) + "%"
	switch {
	case c.Absolute:
		limit = c.Metric.unit().text(c.Limit, digits)
	case !strings.HasPrefix(limit, "-"):
		limit = "+" + limit
	}
	return fmt.Sprintf("%s %s %s%s", c.Metric, operator, limit, mark)
}

// digits writes a number out, since ParseConditions does not accept exponents. Twelve digits
// remove the rounding errors of divisions and multiplications.
func digits(number float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(number, 'g', 12, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// ParseConditions reads conditions separated by commas:
//
//	METRIC (> +NUMBER% | < -NUMBER%) [!]
//	METRIC (> | <) NUMBER UNIT [!]
//
// The metrics are those of Metrics; units are ns, us, ms and s of times, rows/s, also
// k and M of them, of rates, and B, kB, MB, GB, KiB, MiB and GiB of sizes. Its errors name the character, from 1, at
// which the text goes wrong.
func ParseConditions(text string) ([]Condition, error) {
	var list []Condition
	start := 0
	for part := range strings.SplitSeq(text, ",") {
		p := parser{text: part, start: start}
		c, err := p.condition()
		if err != nil {
			return nil, err
		}
		list = append(list, c)
		start += len(part) + 1
	}
	return list, nil
}

// parser reads one condition.
type parser struct {
	text  string // of the condition
	start int    // bytes of other conditions before it
	at    int
}

// fail returns an error at a place in the text. It stays one line whatever the text
// contains.
func (p *parser) fail(at int, format string, args ...any) error {
	return fmt.Errorf("character %d: %s", p.start+at+1, fmt.Sprintf(format, args...))
}

// remainder returns the unparsed text, quoted for an error.
func (p *parser) remainder() string {
	if p.at >= len(p.text) {
		return "the end"
	}
	return strconv.Quote(p.text[p.at:])
}

func (p *parser) spaces() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// word takes characters of the set, and the spaces before and behind them.
func (p *parser) word(set string) (word string, at int) {
	p.spaces()
	at = p.at
	for p.at < len(p.text) && strings.IndexByte(set, p.text[p.at]) >= 0 {
		p.at++
	}
	word = p.text[at:p.at]
	p.spaces()
	return word, at
}

const letters, numerals = "abcdefghijklmnopqrstuvwxyz", "0123456789."

func (p *parser) condition() (c Condition, err error) {
	name, at := p.word(letters + strings.ToUpper(letters) + numerals + "_-")
	known := append(Metrics(), Step)
	names := make([]string, len(known))
	for i, m := range known {
		names[i] = string(m)
	}
	switch {
	case name == "":
		return c, p.fail(at, "a metric is missing before %s; write one as in p99 > +5%%", p.remainder())
	case !slices.Contains(names, name):
		return c, p.fail(at, "there is no metric %q%s", name, suggest.Names(name, names))
	}
	c.Metric = Metric(name)
	operator, at := p.word("<>")
	switch operator {
	case ">":
		c.Rise = true
	case "<":
	default:
		p.at = at
		return c, p.fail(at, "> or < is expected, not %s", p.remainder())
	}
	if c.Limit, c.Absolute, err = p.limit(c.Rise, c.Metric.unit()); err != nil {
		return c, err
	}
	mark, at := p.word("!")
	if len(mark) > 1 || p.at < len(p.text) {
		p.at = at
		return c, p.fail(at, "a comma, ! or the end is expected, not %s", p.remainder())
	}
	c.AsIs = mark == "!"
	return c, nil
}

// limit reads a change in per cent, or a figure with its unit.
func (p *parser) limit(rise bool, unit Unit) (limit float64, absolute bool, err error) {
	const largest = 1e6 // per cent
	sign, at := p.word("+-")
	number, behind := p.word(numerals)
	limit, err = strconv.ParseFloat(number, 64)
	if len(sign) > 1 || err != nil {
		p.at = at
		return 0, false, p.fail(at, "a change is expected, as +5%%, or a limit, as %s, not %s", unit.example(), p.remainder())
	}
	if sign == "" && !strings.HasPrefix(p.text[p.at:], "%") {
		name, at := p.word(letters + strings.ToUpper(letters) + "µ/")
		if factor, ok := unit.factors()[name]; ok {
			return limit * factor, true, nil
		}
		p.at = at
		return 0, false, p.fail(at, "%% or a unit is expected, as in %s, not %s", unit.example(), p.remainder())
	}
	if !strings.HasPrefix(p.text[p.at:], "%") {
		return 0, false, p.fail(p.at, "%% or a unit is expected, as in %s, not %s", unit.example(), p.remainder())
	}
	p.at++
	if sign == "-" {
		limit = -limit
	}
	switch {
	case rise && limit < 0:
		return 0, false, p.fail(at, "> takes a rise, as +5%%: no change at all would be above %v%%", limit)
	case !rise && limit > 0:
		return 0, false, p.fail(at, "< takes a fall, as -5%%: no change at all would be below +%v%%", limit)
	case limit > largest || limit <= -100:
		return 0, false, p.fail(behind, "a change is above -100%% and up to +%.0f%%", largest)
	}
	return limit / 100, false, nil
}
