package owndata_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A text that changes within a series of regular times is a field; a text that tells series apart is a
// tag, also of devices that report by turns. Where times are irregular, nothing is known.
func TestStates(t *testing.T) {
	// at writes rows of a header; row returns the seconds of a row and the text after them.
	at := func(header string, n int, row func(i int) (seconds int, text string)) string {
		text := header + "\n"
		for i := range n {
			seconds, rest := row(i)
			text += time.Date(2024, 1, 1, 0, 0, seconds, 0, time.UTC).Format(time.RFC3339) + "," + rest + "\n"
		}
		return text
	}
	status := func(i int) string {
		switch {
		case i%17 == 5, i%17 == 6:
			return "failed"
		case i%11 == 3:
			return "degraded"
		}
		return "ok"
	}
	for name, c := range map[string]struct {
		text string
		proposal
	}{
		"one device": {at("time,Status,v", 60, func(i int) (int, string) { return 10 * i, status(i) + ",1.5" }), proposal{
			want:  map[string]string{"tags": "", "fields": "v:float, Status:text"},
			facts: []string{"column Status changes within a series, so it is a text field and not a tag; to make it a tag, name all tags with own.tags, as in --tags Status", "1 series"},
		}},
		"devices at the same times": {at("time,device,site,Status,v", 120, func(i int) (int, string) {
			return 10 * (i / 4), fmt.Sprintf("d%d,s%d,%s,1.5", i%4, i%2, status(i/4+3*(i%4)))
		}), proposal{want: map[string]string{"tags": "device, site", "fields": "v:float, Status:text"}, facts: []string{"column Status changes within a series", "4 series"}}},
		"devices one after the other": {at("time,device,Status,v", 120, func(i int) (int, string) { return 10 * (i % 40), fmt.Sprintf("d%d,%s,1.5", i/40, status(i)) }), proposal{
			want: map[string]string{"tags": "device", "fields": "v:float, Status:text"},
		}},
		"devices by turns": {at("time,device,Status,v", 120, func(i int) (int, string) { return 5 * i, fmt.Sprintf("d%d,%s,1.5", i%2, status(i/2)) }), proposal{
			want: map[string]string{"tags": "device", "fields": "v:float, Status:text"}, facts: []string{"2 series"},
		}},
		"devices by turns without a state": {at("time,device,v", 60, func(i int) (int, string) { return 5 * i, fmt.Sprintf("d%d,1.5", i%3) }), proposal{
			want: map[string]string{"tags": "device", "fields": "v:float"}, facts: []string{"3 series"},
		}},
		"two states": {at("time,device,mode,Status,v", 120, func(i int) (int, string) {
			return 10 * (i / 2), fmt.Sprintf("d%d,%s,%s,1.5", i%2, map[bool]string{true: "auto", false: "manual"}[i/2%29 < 13], status(i/2))
		}), proposal{want: map[string]string{"tags": "device", "fields": "v:float, mode:text, Status:text"}}},
		"a label of the device": {at("time,device,model,v", 80, func(i int) (int, string) { return 10 * (i / 4), fmt.Sprintf("d%d,m%d,1.5", i%4, i%2) }), proposal{
			want: map[string]string{"tags": "device, model", "fields": "v:float"}, facts: []string{"4 series"},
		}},
		"trades": {at("time,symbol,v", 90, func(i int) (int, string) { return i*i%7 + 5*i, []string{"A", "B", "C"}[i*i%3] + ",1.5" }), proposal{
			want: map[string]string{"tags": "symbol", "fields": "v:float"},
		}},
		"named as a tag": {at("time,Status,v", 60, func(i int) (int, string) { return 10 * i, status(i) + ",1.5" }), proposal{
			settings: []string{"tags=Status"}, want: map[string]string{"tags": "Status", "fields": "v:float"}, facts: []string{"3 series"}, quiet: true,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for file, text := range map[string]string{"t.csv": c.text, "t.ndjson": asObjects(c.text)} {
				c.check(t, write(t, file, text))
			}
		})
	}
}

// asObjects writes CSV without quotes as JSON lines.
func asObjects(csv string) string {
	lines := strings.Split(strings.TrimSpace(csv), "\n")
	names := strings.Split(lines[0], ",")
	var text strings.Builder
	for _, line := range lines[1:] {
		var members []string
		for i, cell := range strings.Split(line, ",") {
			if names[i] != "v" {
				cell = fmt.Sprintf("%q", cell)
			}
			members = append(members, fmt.Sprintf("%q:%s", names[i], cell))
		}
		fmt.Fprintf(&text, "{%s}\n", strings.Join(members, ","))
	}
	return text.String()
}
