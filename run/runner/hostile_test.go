package runner_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver/db/null"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
)

// replaceFigures replaces the figures after the log that an agent wrote.
func replaceFigures(t *testing.T, file string, change func(figures []byte) []byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil || len(text) < 8 {
		return // it wrote nothing
	}
	behind := len(text) - 8
	size := int(binary.LittleEndian.Uint64(text[behind:]))
	figures := change(bytes.Clone(text[behind-size : behind]))
	text = append(text[:behind-size], figures...)
	if err := os.WriteFile(file, binary.LittleEndian.AppendUint64(text, uint64(len(figures))), 0o600); err != nil {
		t.Error(err)
	}
}

// An agent that reports impossible measurements is removed, with one line, and none of its results
// count.
func TestHostileResult(t *testing.T) {
	more := func(field string) func(string) {
		return func(file string) {
			replaceFigures(t, file, func(figures []byte) []byte {
				return append(figures[:len(figures)-1], ","+field+"}"...)
			})
		}
	}
	for name, alter := range map[string]func(file string){
		"calibration": more(`"calibration":{}`), // crashed the coordinator by a nil map
		"queries":     more(`"queries":{}`),
		"mixed":       more(`"mixed":{"types":[{},{},{}]}`),
		"its start":   more(`"start":-1`),
		"no figures":  func(file string) { replaceFigures(t, file, func([]byte) []byte { return []byte("nothing") }) },
		"a length":    func(file string) { _ = os.WriteFile(file, bytes.Repeat([]byte{255}, 100), 0o600) },
		"four bytes":  func(file string) { _ = os.WriteFile(file, []byte("four"), 0o600) },
		"a damaged log": func(file string) {
			text, err := os.ReadFile(file)
			if err == nil && len(text) > 200 {
				copy(text[40:80], bytes.Repeat([]byte{7}, 40))
				_ = os.WriteFile(file, text, 0o600)
			}
		},
	} {
		c := catalogOf(null.Driver())
		e := small(t, "cpu-only")
		e.Targets = []experiment.Target{{Name: "x", Driver: "null"}}
		agents := newCrew(t, 2, c)
		agents.alters = func(member int, file string) {
			if member == 1 {
				alter(file)
			}
		}
		run, err := execute(t, e, c, agents, plan.Steps{Load: true})
		if run == nil || len(agents.dismissed) != 1 || strings.Contains(agents.dismissed[0], "\n") {
			t.Errorf("%s: %v, dismissed %q", name, err, agents.dismissed)
			continue
		}
		if lost := run.Agents[1].Lost; !strings.Contains(lost, "agent b was lost: it sent a result that no agent sends: ") {
			t.Errorf("%s: %q", name, lost)
		}
	}
}
