package owndata_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Damaged files of TSBS's format timescaledb are refused with the line.
func TestDamagedTimescaleDB(t *testing.T) {
	const whole = "tags,host string\ncpu,a,b\n\ntags,host=x\ncpu,1451606400000000000,1,2.5\ntags,host=y\ncpu,1451606410000000000,24,\n"
	if _, err := inspect(t, "files="+write(t, "whole", whole)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"cut in a value":        {"24,\n", "2", ":7: the file ends in the middle of a line"},
		"cut before the end":    {"24,\n", "24,", ":7: the file ends in the middle of a line; copy it again"},
		"tags at the end":       {"cpu,1451606410000000000,24,\n", "", ":6: a line of tags has no line of values behind it"},
		"tags twice":            {"cpu,1451606400000000000,1,2.5\n", "", ":5: a line of tags has no line of values behind it"},
		"no tags":               {"tags,host=y\n", "", ":6: a row begins with a line of tags, not with"},
		"no end of the header":  {"b\n\n", "b\n", ":3: the header of timescaledb format has no end, an empty line"},
		"a field twice":         {"cpu,a,b", "cpu,a,a", ":2: the header has field a twice"},
		"another table":         {"cpu,145160641", "mem,145160641", `:7: the header has no table "mem"`},
		"too many values":       {"24,\n", "24,,\n", ":7: 3 values, where the header names 2 fields"},
		"a tag without a value": {"host=y", "host", `:7: "host" is no`},
		"no time":               {"1451606410000000000", "soon", `:7: the time "soon"`},
	} {
		_, err := inspect(t, "files="+write(t, "cut", strings.Replace(whole, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// A column of numbers and texts is loaded as text, and every format says so.
func TestMixedColumn(t *testing.T) {
	const rows = 40
	values := map[bool]string{true: "off", false: "1.5"}
	for name, c := range map[string]struct {
		line     func(i int, value string) string
		header   string
		settings []string
		want     string
	}{
		"t.ts": {
			header: "tags,host string\ncpu,v\n\n", want: `column v is a text, though 26 of 40 values are numbers; the first other value is "off" in t.ts:5; write one type for all values`,
			line: func(i int, value string) string {
				return fmt.Sprintf("tags,host=x\ncpu,%d000000000,%s\n", 1704067200+i, value)
			},
		},
		"t.lp": {
			want: `column v is text in t.lp:1 and float in t.lp:2, so it is a text; write one type for all values`,
			line: func(i int, value string) string {
				if value == "off" {
					value = `"off"`
				}
				return fmt.Sprintf("cpu,host=x v=%s %d000000000\n", value, 1704067200+i)
			},
		},
		"t.csv": {
			header: "time,v\n", settings: []string{"tags=none"}, want: `column v is a text, though 26 of 40 values are numbers; the first other value is "off" in t.csv:2; write one type for all values`,
			line: func(i int, value string) string { return fmt.Sprintf("%d,%s\n", 1704067200+i, value) },
		},
		"t.ndjson": {
			settings: []string{"tags=none"}, want: `column v is a text, though 26 of 40 values are numbers; the first other value is "off" in t.ndjson:1; write one type for all values`,
			line: func(i int, value string) string {
				if value == "off" {
					value = `"off"`
				}
				return fmt.Sprintf("{\"time\":%d,\"v\":%s}\n", 1704067200+i, value)
			},
		},
	} {
		text := c.header
		for i := range rows {
			text += c.line(i, values[i%3 == 0])
		}
		path := write(t, name, text)
		found, err := inspect(t, append(c.settings, "files="+path)...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		facts := strings.ReplaceAll(strings.Join(found.Facts, "\n"), filepath.Dir(path)+string(filepath.Separator), "")
		if fields := found.Spec.Settings["own.fields"]; !strings.Contains(fields, "v:text") || !strings.Contains(facts, c.want) {
			t.Errorf("%s: fields %s, facts\n%s\nwant %s", name, fields, facts, c.want)
		}
	}
}
