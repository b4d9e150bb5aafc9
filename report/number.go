package report

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// unitSpace stands between a figure and its unit: a narrow space at which no
// line breaks. Text leaves it out.
const unitSpace = "\u202f"

// none stands for a figure that does not exist.
const none = "–"

// digits renders v to three significant digits, with thousands separated.
func digits(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		if v == 0 {
			return "0"
		}
		return none
	}
	// Rounding first: 999.7 is 1,000 and must not be given a decimal.
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	decimals := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	return separate(strconv.FormatFloat(v, 'f', decimals, 64))
}

// number renders a whole number as it is, any other to three digits.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return count(int64(v))
	}
	return digits(v)
}

// count renders a whole number with thousands separated.
func count(n int64) string { return separate(strconv.FormatInt(n, 10)) }

// separate puts commas between the thousands of a decimal number.
func separate(s string) string {
	whole, fraction, dotted := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dotted {
		whole += "." + fraction
	}
	return sign + whole
}

// unit is a name and how many base units it stands for.
type unit struct {
	name string
	size float64
}

// scaled renders v in the largest of the units, given from small to large, of
// which it is at least one after rounding.
func scaled(v float64, units []unit) string {
	if v == 0 {
		return "0" + unitSpace + units[len(units)-1].name
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	u := units[0]
	for _, larger := range units[1:] {
		// A hair less than the unit, since 1e-3 is no binary fraction.
		if max(math.Abs(v), math.Abs(rounded)) >= larger.size*(1-1e-9) {
			u = larger
		}
	}
	return digits(v/u.size) + unitSpace + u.name
}

// duration renders seconds.
func duration(s float64) string {
	return scaled(s, []unit{{"ns", 1e-9}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}})
}

// size renders bytes.
func size(n int64) string {
	if n < 1024 {
		return count(n) + unitSpace + "B"
	}
	return scaled(float64(n), []unit{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}})
}

// ratio renders how many times as much.
func ratio(v float64) string { return digits(v) + "×" }

// moment renders a time of day.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// elapsed renders a span as people say it: 2h3m4s.
func elapsed(d time.Duration) string {
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return duration(d.Seconds())
}
