package claims

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// Which systems make columns is decided by all of their loads: a refusal that was seen, or
// loads that were verified.
func TestColumns(t *testing.T) {
	took := func() *result.Load {
		return &result.Load{Rows: 3, Growth: &result.Growth{Steps: make([]result.GrowthStep, 3)}}
	}
	refused := func() *result.Load {
		return &result.Load{Rows: 1, Growth: &result.Growth{Unsupported: "column missing", Steps: make([]result.GrowthStep, 1)}}
	}
	untried := &result.Load{Growth: &result.Growth{Unsupported: "the driver does not try"}}
	wrong := took()
	wrong.Withheld = "0 where nothing was sent"
	for _, c := range []struct {
		rule  string
		loads []*result.Load
		want  Verdict
		why   string
	}{
		{`take: [questdb]`, []*result.Load{took(), took()}, Holds, ""},
		{`take: [questdb]`, []*result.Load{refused()}, DoesNotHold, ""},
		{`take: [questdb]`, []*result.Load{took(), refused()}, DoesNotHold, ""},
		{`refuse: [questdb]`, []*result.Load{refused(), refused()}, Holds, ""},
		{`refuse: [questdb]`, []*result.Load{took()}, DoesNotHold, ""},
		{`refuse: [questdb]`, []*result.Load{untried}, NotTested, "does not try"},
		{`take: [questdb]`, []*result.Load{wrong}, NotTested, "0 where nothing was sent"},
		{`take: [questdb]`, []*result.Load{{Rows: 3}}, NotTested, "created with all columns"},
		{`take: [questdb]`, nil, NotTested, "questdb was not loaded"},
		{`take: [influxdb]`, []*result.Load{took()}, NotTested, "influxdb was not given"},
	} {
		target := result.Target{Name: "questdb", Driver: "questdb"}
		for i, l := range c.loads {
			target.Repeats = append(target.Repeats, result.Repeat{Number: i + 1, Load: l})
		}
		d := description(t, `rules: [{of: load, columns: {`+c.rule+`}}]`)
		run := &result.Run{ID: "20260101-000000-aaaa", Status: result.Complete, Targets: []result.Target{target}}
		found := Judge(d, Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": {run}}})[0]
		if found.Verdict != c.want || !strings.Contains(found.Why, c.why) {
			t.Errorf("%s of %d loads: %s (%s), want %s (%s)", c.rule, len(c.loads), found.Verdict, found.Why, c.want, c.why)
		}
	}
}
