package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/internal/suggest"
)

// Condition is what a comparison may not come to, as in `p99 > +5%`: from A to
// B the metric rises by more, or with < falls by more, in any query type or
// load that has it.
//
// Chance alone moves figures. So a condition holds only for a difference that
// was shown (see Figure.Significant); with ! behind it, as in `p99 > +5%!`, for
// the figures as they are. It also holds where A has a figure and B has none:
// nothing shows then that B is no worse.
type Condition struct {
	Metric Metric
	Rise   bool    // written >; else a fall, <
	Limit  float64 // change relative to A: 0.05 is +5 %; not below 0 for a rise, not above for a fall
	AsIs   bool    // written !
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
	// Twelve digits take away what the division by 100 left behind, and the
	// digits are written out: ParseConditions takes no exponent.
	percent, _ := strconv.ParseFloat(strconv.FormatFloat(c.Limit*100, 'g', 12, 64), 64)
	limit := strconv.FormatFloat(percent, 'f', -1, 64)
	if !strings.HasPrefix(limit, "-") {
		limit = "+" + limit
	}
	return fmt.Sprintf("%s %s %s%%%s", c.Metric, operator, limit, mark)
}

// ParseConditions reads conditions separated by commas:
//
//	METRIC (> +NUMBER% | < -NUMBER%) [!]
//
// The metrics are those of Metrics. Its errors name the character, from 1, at
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

// fail is an error at a place in the text. It stays one line whatever the text
// holds.
func (p *parser) fail(at int, format string, args ...any) error {
	return fmt.Errorf("character %d: %s", p.start+at+1, fmt.Sprintf(format, args...))
}

// rest is what is left, quoted for an error.
func (p *parser) rest() string {
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
	known := Metrics()
	names := make([]string, len(known))
	for i, m := range known {
		names[i] = string(m)
	}
	switch {
	case name == "":
		return c, p.fail(at, "a metric is missing before %s; write one as in p99 > +5%%", p.rest())
	case !slices.Contains(names, name):
		return c, p.fail(at, "there is no metric %q%s", name, suggest.Among(name, names))
	}
	c.Metric = Metric(name)
	operator, at := p.word("<>")
	switch operator {
	case ">":
		c.Rise = true
	case "<":
	default:
		p.at = at
		return c, p.fail(at, "> or < is expected, not %s", p.rest())
	}
	if c.Limit, err = p.limit(c.Rise); err != nil {
		return c, err
	}
	mark, at := p.word("!")
	if len(mark) > 1 || p.at < len(p.text) {
		p.at = at
		return c, p.fail(at, "a comma, ! or the end is expected, not %s", p.rest())
	}
	c.AsIs = mark == "!"
	return c, nil
}

// limit reads a change in per cent.
func (p *parser) limit(rise bool) (float64, error) {
	const largest = 1e6 // per cent
	sign, at := p.word("+-")
	number, behind := p.word(numerals)
	percent, err := strconv.ParseFloat(number, 64)
	if len(sign) > 1 || err != nil {
		p.at = at
		return 0, p.fail(at, "a change is expected, as +5%%, not %s", p.rest())
	}
	if p.at == len(p.text) || p.text[p.at] != '%' {
		return 0, p.fail(p.at, "%% is expected, not %s", p.rest())
	}
	p.at++
	if sign == "-" {
		percent = -percent
	}
	switch {
	case rise && percent < 0:
		return 0, p.fail(at, "> takes a rise, as +5%%: no change at all would be above %v%%", percent)
	case !rise && percent > 0:
		return 0, p.fail(at, "< takes a fall, as -5%%: no change at all would be below +%v%%", percent)
	case percent > largest || percent <= -100:
		return 0, p.fail(behind, "a change is above -100%% and up to +%.0f%%", largest)
	}
	return percent / 100, nil
}
