package owndata

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/columnar"
	"github.com/tsmark/tsmark/workload/file/input"
)

// others are the values of a column that are not of a type which most others may be of.
type others struct {
	count   int64
	missing int64       // of these, texts that people often write for a missing value
	outside int64       // among these, times outside the years that 64 bits of nanoseconds hold
	first   input.Error // place of the first one; its Err is nil
	why     error       // in a column of times: the error of the first one
	texts   []string    // the first that differ from each other, at most shownOthers
	rows    []oddValue  // the first of them, at most maxShownRows
	gaveUp  bool        // there are too many to continue counting
}

// oddValue is one of others.
type oddValue struct {
	at   input.Error // its Err is nil
	text string      // at most input.MaxShown bytes of it
	why  error       // in a column of times
}

const (
	shownOthers = 3
	// enoughOthers is the number of other values at which counting ends if they are the majority.
	enoughOthers = 1000
	// valuesPerOther is the minimum number of values per other value in a column that is taken for
	// one of the type with a few mistakes.
	valuesPerOther = 10
)

// missingTexts lists common texts for a missing value.
var missingTexts = [...]string{"NA", "N/A", "n/a", "na", "#N/A", "NULL", "Null", "null", "None", "none", "nil", `\N`, "-", "--", "?", "NaT", "missing", "Missing", "---", ".", "<NA>", "(null)", "n.a.", "undefined",
	"#DIV/0!", "#VALUE!", "#NUM!", "#REF!", "#NAME?", "#NULL!", "#N/A N/A"}

// none reports whether all values are of the type.
func (o *others) none() bool { return o.count == 0 }

// add records a value at a place; values is the number of values so far, including this one.
func (o *others) add(text []byte, at *input.Error, values int64) {
	if o.count++; o.count == 1 {
		o.first = *at
	}
	cut := text[:min(len(text), input.MaxShown)]
	if len(o.rows) < maxShownRows {
		o.rows = append(o.rows, oddValue{at: *at, text: string(cut)})
	}
	if len(o.texts) < shownOthers && !slices.ContainsFunc(o.texts, func(t string) bool { return t == string(cut) }) {
		o.texts = append(o.texts, string(cut))
	}
	if slices.Contains(missingTexts[:], string(text)) {
		o.missing++
		return
	}
	known := o.count - o.missing
	o.gaveUp = known > enoughOthers && 2*known > values
}

// addTime is add for a value that is not a time, with the error. Years such as 9999 represent a
// missing time.
func (o *others) addTime(text []byte, at *input.Error, values int64, why error) {
	if errors.Is(why, input.ErrYear) {
		o.missing++
		o.outside++
	}
	if o.add(text, at, values); o.count == 1 {
		o.why = why
	}
	if n := len(o.rows); int64(n) == o.count {
		o.rows[n-1].why = why
	}
}

// merge adds those of another file.
func (o *others) merge(other *others) {
	if o.count == 0 {
		*o = *other
		o.texts, o.rows = slices.Clone(other.texts), slices.Clone(other.rows)
		return
	}
	o.count, o.missing, o.outside, o.gaveUp = o.count+other.count, o.missing+other.missing, o.outside+other.outside, o.gaveUp || other.gaveUp
	o.rows = append(o.rows, other.rows[:min(len(other.rows), maxShownRows-len(o.rows))]...)
	for _, text := range other.texts {
		if len(o.texts) < shownOthers && !slices.Contains(o.texts, text) {
			o.texts = append(o.texts, text)
		}
	}
}

// few reports whether there are so few others among the values that they look like mistakes or
// missing values.
func (o *others) few(values int64) bool {
	return o.count > 0 && o.count < values && !o.gaveUp &&
		(valuesPerOther*o.count <= values || o.count == o.missing || o.count == 1 && values >= 3)
}

// describe says how many of the values they are, and the place of the first one.
func (o *others) describe(values int64) string {
	text := fmt.Sprintf("%s of %s values, ", humanize.Comma(o.count), humanize.Comma(values))
	if o.count > 1 {
		text += "the first is "
	}
	text += fmt.Sprintf("%q in %s", o.texts[0], o.first.Place())
	if o.outside == o.count {
		text += fmt.Sprintf(", outside the years %d to %d", input.MinYear, input.MaxYear)
	}
	return text
}

// onlyMissing returns the one text that all of them are, if it may stand for a missing
// value.
func (o *others) onlyMissing() (string, bool) {
	return strings.Join(o.texts, ""), len(o.texts) == 1 && o.count == o.missing
}

// almost returns the type that a column of texts would have except for a few values, and these
// values; false: there is no such type. A column with numbers such as 0123 contains codes.
func (c *columnProfile) almost() (series.Type, *others, bool) {
	if kind, _ := c.kind(); kind != series.Text {
		return 0, nil, false
	}
	decimals := c.notInt.gaveUp || c.notInt.count > c.notFloat.count
	switch bare := c.bare; {
	case c.notFloat.few(c.values) && !c.code && bare.Numeric():
		return bare, &c.notFloat, true
	case c.notFloat.few(c.values) && !c.code && bare == 0 && decimals:
		return series.Float, &c.notFloat, true
	case c.notFloat.few(c.values) && !c.code && bare == 0 && !c.names():
		return series.Int, &c.notFloat, true
	case bare != 0 && bare != series.Bool:
		return 0, nil, false
	case c.notTime.few(c.values) && bare == 0 && !c.notDate:
		return series.Date, &c.notTime, true
	case c.notTime.few(c.values) && bare == 0:
		return series.Timestamp, &c.notTime, true
	case c.notBool.few(c.values) && (bare == series.Bool || !c.names()):
		return series.Bool, &c.notBool, true
	}
	return 0, nil, false
}

// noteAlmost notes which other type a column of texts nearly has, and how to select it.
func (l *layout) noteAlmost(c *columnProfile, kind series.Type, o *others) {
	fix := fmt.Sprintf("correct the value, or name the column in fields as %s:%s to have such rows refused", input.QuoteName(c.name), kind)
	if text, ok := o.onlyMissing(); ok && l.null == "" {
		fix = fmt.Sprintf("--null %s (own.null) reads that as missing, and the column as %s", shellName(text), kind)
	} else if at := slices.IndexFunc(o.texts, func(text string) bool { return slices.Contains(missingTexts[:], text) }); at >= 0 && l.null == "" {
		fix = fmt.Sprintf("--null %s (own.null) reads %[1]s as missing; correct the others, such as %q, or name the column in fields as %s:%s to have such rows refused",
			shellName(o.texts[at]), o.texts[(at+1)%len(o.texts)], input.QuoteName(c.name), kind)
	}
	l.note("column %s is %s but for %s, so it is a text; %s", c.name, kind, o.describe(c.values), fix)
}

// withCommas reports whether a text is a number with a comma for the decimal point, or
// for thousands.
func withCommas(text []byte) bool {
	digits, commas, points := 0, 0, 0
	for i, b := range text {
		switch {
		case b >= '0' && b <= '9':
			digits++
		case b == ',' && digits > 0 && points == 0:
			commas++
		case b == '.' && points == 0:
			points++
		case b == '-' && i == 0:
		default:
			return false
		}
	}
	last := len(text) - 1
	return commas > 0 && text[last] >= '0' && text[last] <= '9' && (commas == 1 || thousands(text))
}

// dressed reports whether a text is a number with characters that are not part of a plain number: 5
// %, $1.50, 1'000, 12 000, (3.5), or a typographic minus sign.
func dressed(text []byte) bool {
	const longest = 40
	if len(text) > longest {
		return false
	}
	whole := string(text)
	if inner, ok := strings.CutPrefix(whole, "("); ok && strings.HasSuffix(inner, ")") {
		whole = inner[:len(inner)-1]
	}
	whole = strings.TrimPrefix(strings.TrimPrefix(whole, "\u2212"), "-")
	whole = strings.Trim(whole, "%‰$€£¥ \u00a0\u202f")
	for _, sign := range []string{" ", "\u00a0", "\u202f", "\u2009", "'", "’", "_"} {
		if ungrouped, ok := ungroup(whole, sign); ok {
			whole = ungrouped
			break
		}
	}
	return whole != string(text) && len(whole) > 0 && whole[0] >= '0' && whole[0] <= '9' && (input.IsNumber([]byte(whole)) || withCommas([]byte(whole)))
}

// ungroup takes the signs out of a number that separate three digits each; false: it has
// none, or they separate others.
func ungroup(number, sign string) (string, bool) {
	whole, decimals := number, ""
	if at := strings.IndexAny(number, ".,"); at >= 0 {
		whole, decimals = number[:at], number[at:]
	}
	groups := strings.Split(whole, sign)
	if len(groups) < 2 || len(groups[0]) == 0 || len(groups[0]) > 3 || groups[0][0] == '0' {
		return "", false
	}
	for _, group := range groups[1:] {
		if len(group) != 3 {
			return "", false
		}
	}
	return strings.Join(groups, "") + decimals, true
}

// thousands reports whether the commas of a number stand before three digits each.
func thousands(text []byte) bool {
	whole, _, _ := strings.Cut(string(text), ".")
	for _, group := range strings.Split(whole, ",")[1:] {
		if len(group) != 3 {
			return false
		}
	}
	return true
}

// large is a number that a float rounds.
type large struct {
	text string
	at   input.Error
}

// rounds reports whether a float cannot represent an integer exactly, or has fewer significant
// digits than the text.
func rounds(digits []byte, v float64) bool {
	whole, known, zeros := true, 0, 0
	for _, b := range digits {
		switch {
		case b == 'e', b == 'E':
			return known > columnar.DigitsOfFloats+2 && !holds(digits, v)
		case b == '0':
			zeros++
		case b > '0' && b <= '9':
			if known > 0 {
				known += zeros
			}
			known, zeros = known+1, 0
		case b == '.':
			whole = false
		case b != '-':
			return false
		}
	}
	if !whole {
		return known > columnar.DigitsOfFloats+2 && !holds(digits, v)
	}
	var buf [400]byte
	return string(strconv.AppendFloat(buf[:0], v, 'f', 0, 64)) != string(digits)
}

// holds reports whether a float is a number of many digits exactly, as programs write floats
// in full.
func holds(digits []byte, v float64) bool {
	const most = 1100 // characters: every float has fewer
	if len(digits) > most || v == 0 {
		return false
	}
	n, ok := new(big.Rat).SetString(string(digits))
	of := new(big.Rat).SetFloat64(v)
	return ok && of != nil && n.Cmp(of) == 0
}
