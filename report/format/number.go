// Package format renders figures, times and lists as the text that people read in every
// report.
package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// UnitSpace separates a figure from its unit: a narrow no-break space. Text leaves it
// out.
const UnitSpace = "\u202f"

// None stands for a figure that does not exist.
const None = "–"

// Digits renders v to three significant digits, with thousands separated.
func Digits(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		if v == 0 {
			return "0"
		}
		return None
	}
	// Rounding first: 999.7 is 1,000 and must not be given a decimal.
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	decimals := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	return separate(strconv.FormatFloat(v, 'f', decimals, 64))
}

// Number renders a whole number as it is, any other to three digits.
func Number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return Count(int64(v))
	}
	return Digits(v)
}

// Count renders a whole number with thousands separated.
func Count(n int64) string { return separate(strconv.FormatInt(n, 10)) }

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

// Unit is a name and its size in base units.
type Unit struct {
	Name string
	Size float64
}

// scale renders v in the largest of the units, sorted from small to large, of
// which it is at least one after rounding.
func scale(v float64, units []Unit) string {
	if v == 0 {
		return "0" + UnitSpace + units[len(units)-1].Name
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	u := units[0]
	for _, larger := range units[1:] {
		// A hair less than the unit, since 1e-3 has no exact binary representation.
		if max(math.Abs(v), math.Abs(rounded)) >= larger.Size*(1-1e-9) {
			u = larger
		}
	}
	return Digits(v/u.Size) + UnitSpace + u.Name
}

// Duration renders seconds.
func Duration(s float64) string {
	return scale(s, []Unit{{"ns", 1e-9}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}})
}

// Size renders bytes.
func Size(n int64) string {
	if n < 1024 {
		return Count(n) + UnitSpace + "B"
	}
	return scale(float64(n), []Unit{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}})
}

// Ratio renders a multiple.
func Ratio(v float64) string { return Digits(v) + "×" }

// Time renders a time of day.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// ElapsedTime renders a duration as people say it: 2h3m4s.
func ElapsedTime(d time.Duration) string {
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return Duration(d.Seconds())
}

// SignedDuration renders seconds with their sign.
func SignedDuration(seconds float64) string {
	if seconds > 0 {
		return "+" + Duration(seconds)
	}
	return Duration(seconds)
}

func PerSecond(n int64, seconds float64) string {
	if seconds <= 0 {
		return None
	}
	return Digits(float64(n) / seconds)
}

// PerSecondOf renders a rate; 0: unknown.
func PerSecondOf(rate float64) string {
	if rate <= 0 {
		return None
	}
	return Digits(rate)
}

func CSSPercent(v float64) string { return fmt.Sprintf("%.2f%%", v*100) }

// PercentUp renders a share in percent, rounded up so that it never looks too good.
func PercentUp(share float64) string {
	p := 100 * share
	if p < 10 {
		return fmt.Sprintf("%.1f%s%%", math.Ceil(10*p)/10, UnitSpace)
	}
	return fmt.Sprintf("%.0f%s%%", math.Ceil(p), UnitSpace)
}

// Percent renders a part in per cent.
func Percent(v float64) string { return Digits(100*v) + UnitSpace + "%" }

// PartialSize renders a size, or a part of it.
func PartialSize(v float64) string {
	if v < 1024 && v != math.Trunc(v) {
		return Digits(v) + UnitSpace + "B"
	}
	return Size(int64(math.Round(v)))
}
