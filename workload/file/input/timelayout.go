package input

import (
	"fmt"
	"strings"
	"time"
)

// layoutPart is one directive of strptime, or one run of letters of LDML, as Go writes it.
type layoutPart struct{ directive, layout string }

// strptimeParts are the directives that Go can parse. Digits behind a second's point follow %S.
var strptimeParts = []layoutPart{
	{"%Y", "2006"}, {"%y", "06"}, {"%m", "01"}, {"%-m", "1"}, {"%d", "02"}, {"%-d", "2"}, {"%e", "_2"}, {"%j", "002"},
	{"%H", "15"}, {"%-H", "15"}, {"%I", "03"}, {"%-I", "3"}, {"%M", "04"}, {"%-M", "4"}, {"%S", "05"}, {"%-S", "5"}, {"%p", "PM"}, {"%P", "pm"},
	{"%b", "Jan"}, {"%h", "Jan"}, {"%B", "January"}, {"%a", "Mon"}, {"%A", "Monday"}, {"%z", "-0700"}, {"%:z", "-07:00"}, {"%Z", "MST"},
	{"%F", "2006-01-02"}, {"%T", "15:04:05"}, {"%R", "15:04"}, {"%D", "01/02/06"}, {"%%", "%"},
	{".%f", ".999999999"}, {",%f", ",999999999"},
}

// ldmlParts are the letters of LDML, as Java's DateTimeFormatter and ICU have them.
var ldmlParts = []layoutPart{
	{"yyyy", "2006"}, {"uuuu", "2006"}, {"y", "2006"}, {"u", "2006"}, {"yy", "06"}, {"uu", "06"}, {"M", "1"}, {"MM", "01"}, {"MMM", "Jan"}, {"MMMM", "January"}, {"L", "1"}, {"LL", "01"},
	{"d", "2"}, {"dd", "02"}, {"DDD", "002"}, {"H", "15"}, {"HH", "15"}, {"h", "3"}, {"hh", "03"}, {"m", "4"}, {"mm", "04"}, {"s", "5"}, {"ss", "05"}, {"a", "PM"},
	{"E", "Mon"}, {"EE", "Mon"}, {"EEE", "Mon"}, {"EEEE", "Monday"},
	{"X", "Z07"}, {"XX", "Z0700"}, {"XXX", "Z07:00"}, {"x", "-07"}, {"xx", "-0700"}, {"xxx", "-07:00"}, {"Z", "-0700"}, {"ZZ", "-0700"}, {"ZZZ", "-0700"}, {"ZZZZZ", "Z07:00"}, {"z", "MST"}, {"zzz", "MST"},
}

// layoutAdvice says what to write instead of directives that seem to fit.
var layoutAdvice = map[string]string{
	"Y": "Y is the year of a week; write y", "YYYY": "YYYY is the year of a week; write yyyy", "D": "D is the day of the year; write d", "DD": "DD is the day of the year; write dd",
	"k": "write H", "kk": "write HH", "n": "write S behind the seconds and a point", "%s": "write s as the time-format", "%f": "it follows %S and a point or a comma",
	"%G": "it is the year of a week; write %Y", "%c": "write its parts", "%x": "write its parts", "%X": "write its parts",
}

// goLayout returns a layout of Go's package time for one of Go, of strptime (%Y-%m-%d) or of LDML
// (yyyy-MM-dd). The error names the place of a part that cannot be read.
func goLayout(format string) (string, error) {
	switch {
	case strings.Contains(format, "%"):
		return translate(format, nextStrptime)
	case strings.Contains(format, "06"):
		return format, nil
	case strings.Contains(format, "y"), strings.Contains(format, "u"), strings.Contains(format, "Y"):
		return translate(format, nextLDML)
	}
	return "", fmt.Errorf("%q is not a format of times; write %s, s, ms, us or ns, or a layout with a year: of Go such as 01/02/2006 15:04, of strptime such as %%m/%%d/%%Y %%H:%%M, or of Java such as MM/dd/yyyy HH:mm", format, AsText)
}

// translate translates a layout part by part; next returns how Go writes the first part of a text,
// whether times have the part unchanged, and its length.
func translate(format string, next func(text, before string) (layout string, literal bool, length int, err error)) (string, error) {
	var out, shown strings.Builder
	before := ""
	for at := 0; at < len(format); {
		layout, literal, length, err := next(format[at:], before)
		if err == nil && literal && probe.Format(layout) != layout {
			err = fmt.Errorf("the text %q cannot be in a layout with times around it", layout)
		}
		if err != nil {
			return "", fmt.Errorf("%q, character %d: %w", format, at+1, err)
		}
		out.WriteString(layout)
		shown.WriteString(probe.Format(layout))
		before = layout
		at += length
	}
	if probe.Format(out.String()) != shown.String() {
		return "", fmt.Errorf("%q has parts that cannot stand beside each other; write the time in another way", format)
	}
	if !strings.Contains(out.String(), "06") {
		return "", fmt.Errorf("%q has no year; add it, as in %%Y or yyyy", format)
	}
	return out.String(), nil
}

// probe differs from every number and name in a layout.
var probe = time.Date(2013, 11, 28, 21, 37, 49, 123456789, time.FixedZone("QQQ", 3*3600+1800))

func find(list []layoutPart, directive string) (string, bool) {
	for i := range list {
		if list[i].directive == directive {
			return list[i].layout, true
		}
	}
	return "", false
}

func unknownPart(directive string) error {
	if advice := layoutAdvice[directive]; advice != "" {
		return fmt.Errorf("%s cannot be read: %s", directive, advice)
	}
	return fmt.Errorf("%s is unknown, or cannot be read", directive)
}

// nextStrptime is next of translate.
func nextStrptime(text, before string) (layout string, literal bool, length int, err error) {
	if text[0] != '%' {
		if layout, ok := find(strptimeParts, text[:min(3, len(text))]); ok && strings.HasSuffix(before, "05") {
			return layout, false, 3, nil
		}
		return text[:1], true, 1, nil
	}
	length = min(2, len(text))
	if length == 2 && (text[1] == '-' || text[1] == ':') {
		length = min(3, len(text))
	}
	layout, ok := find(strptimeParts, text[:length])
	if !ok {
		return "", false, 0, unknownPart(text[:length])
	}
	return layout, layout == "%", length, nil
}

// nextLDML is next of translate.
func nextLDML(text, before string) (layout string, literal bool, length int, err error) {
	switch c := text[0]; {
	case c == '\'':
		return quotedLDML(text)
	case c == '[', c == ']', c == '{', c == '}', c == '#':
		return "", false, 0, fmt.Errorf("%c cannot be read; write one layout for all times", c)
	case (c == '.' || c == ',') && strings.HasPrefix(text[1:], "S") && (strings.HasSuffix(before, "05") || strings.HasSuffix(before, "5")):
		length = 1 + len(text[1:]) - len(strings.TrimLeft(text[1:], "S"))
		return text[:1] + "999999999", false, length, nil
	case c|0x20 < 'a' || c|0x20 > 'z':
		return text[:1], true, 1, nil
	}
	length = len(text) - len(strings.TrimLeft(text, text[:1]))
	layout, ok := find(ldmlParts, text[:length])
	if !ok {
		return "", false, 0, unknownPart(text[:length])
	}
	return layout, false, length, nil
}

// quotedLDML returns a text in single quotes. Two quotes within it mean one.
func quotedLDML(text string) (layout string, literal bool, length int, err error) {
	if strings.HasPrefix(text, "''") {
		return "'", true, 2, nil
	}
	var out strings.Builder
	for at := 1; at < len(text); at++ {
		switch {
		case text[at] != '\'':
			out.WriteByte(text[at])
		case at+1 < len(text) && text[at+1] == '\'':
			out.WriteByte('\'')
			at++
		default:
			return out.String(), true, at + 1, nil
		}
	}
	return "", false, 0, fmt.Errorf("the quote is not closed")
}
