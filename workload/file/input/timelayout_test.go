package input

import (
	"strings"
	"testing"
	"time"
)

func TestGoLayout(t *testing.T) {
	for format, want := range map[string]string{
		"02/01/2006 15:04":             "02/01/2006 15:04",
		"%Y-%m-%d %H:%M:%S":            "2006-01-02 15:04:05",
		"%d/%b/%Y:%H:%M:%S %z":         "02/Jan/2006:15:04:05 -0700",
		"%Y%m%d%H%M%S":                 "20060102150405",
		"%FT%T.%f":                     "2006-01-02T15:04:05.999999999",
		"%-m/%-d/%y %I:%M %p":          "1/2/06 03:04 PM",
		"%Y.%j 100%%":                  `"%Y.%j 100%%", character 7: the text "1" cannot be in a layout with times around it`,
		"%Y-%U":                        `"%Y-%U", character 4: %U is unknown, or cannot be read`,
		"%s %Y":                        `"%s %Y", character 1: %s cannot be read: write s as the time-format`,
		"%Y %f":                        `"%Y %f", character 4: %f cannot be read: it follows %S and a point or a comma`,
		"%H:%M":                        `"%H:%M" has no year; add it, as in %Y or yyyy`,
		"%Y-%":                         `"%Y-%", character 4: % is unknown, or cannot be read`,
		"yyyy-MM-dd'T'HH:mm:ss.SSSXXX": "2006-01-02T15:04:05.999999999Z07:00",
		"dd.MM.yyyy HH:mm":             "02.01.2006 15:04",
		"EEE, d MMM yyyy h:mm a z":     "Mon, 2 Jan 2006 3:04 PM MST",
		"yyyyMMddHHmmss":               "20060102150405",
		"yyyy 'o''clock' HH":           "2006 o'clock 15",
		"YYYY-MM-dd":                   `"YYYY-MM-dd", character 1: YYYY cannot be read: YYYY is the year of a week; write yyyy`,
		"yyyy-mm-DD":                   `"yyyy-mm-DD", character 9: DD cannot be read: DD is the day of the year; write dd`,
		"yyyy-MM-dd'T":                 `"yyyy-MM-dd'T", character 11: the quote is not closed`,
		"yyyy[-MM]":                    `"yyyy[-MM]", character 5: [ cannot be read; write one layout for all times`,
		"yyyy_d":                       `"yyyy_d" has parts that cannot stand beside each other; write the time in another way`,
		"Q yyyy":                       `"Q yyyy", character 1: Q is unknown, or cannot be read`,
		"hh:mm":                        `"hh:mm" is not a format of times`,
	} {
		got, err := goLayout(format)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) || err == nil && got != want {
			t.Errorf("%s: %s, want %s", format, got, want)
		}
	}
}

func FuzzGoLayout(f *testing.F) {
	for _, format := range []string{"%Y-%m-%dT%H:%M:%S.%f", "yyyy-MM-dd'T'HH:mm:ss.SSS XXX", "%Y%j", "yyyy_d"} {
		f.Add(format)
	}
	f.Fuzz(func(t *testing.T, format string) {
		layout, err := goLayout(format)
		if err != nil || layout == format || strings.ContainsAny(layout, "MJ") {
			return
		}
		at := time.Date(2021, 11, 12, 21, 44, 55, 0, time.UTC)
		if _, err := time.Parse(layout, at.Format(layout)); err != nil {
			t.Errorf("%q is %q, which does not parse %q: %v", format, layout, at.Format(layout), err)
		}
	})
}

func TestTimeZone(t *testing.T) {
	c, err := NewClock(AsText)
	if err == nil {
		c.Zone, err = NewZone("Europe/Athens")
	}
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"2024-01-15 12:00":          "2024-01-15T10:00:00Z",
		"2024-07-15T12:00:00":       "2024-07-15T09:00:00Z",
		"2024-07-15T12:00:00Z":      "2024-07-15T12:00:00Z",
		"2024-07-15T12:00:00+00:00": "2024-07-15T12:00:00Z",
		"2024-07-15":                "2024-07-14T21:00:00Z",
		"2024-03-31 02:59:59":       "2024-03-31T00:59:59Z",
		"2024-03-31 03:30":          "2024-03-31T01:30:00Z", // there was no such time: it is half an hour behind 03:00
		"2024-03-31 04:00":          "2024-03-31T01:00:00Z",
		"2024-10-27 02:59":          "2024-10-26T23:59:00Z",
		"2024-10-27 03:30":          "2024-10-27T00:30:00Z", // and again an hour later
		"2024-10-27 04:00":          "2024-10-27T02:00:00Z",
	} {
		ns, err := c.Read([]byte(text))
		if got := time.Unix(0, ns).UTC().Format(time.RFC3339); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
	if c.Zone.Skipped != 1 || c.Zone.Repeated != 1 {
		t.Errorf("%d times were skipped, and %d repeated", c.Zone.Skipped, c.Zone.Repeated)
	}
	if _, err := NewZone("Europe/Athen"); err == nil {
		t.Error("Europe/Athen is a time zone")
	}
}
