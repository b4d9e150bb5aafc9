package claims

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// addPlaces adds to parts where they were measured, if they do not mention it: the
// rule's own parameters, and our values that replace the document's.
func (r rule) addPlaces(parts []Part) []Part {
	e, _ := r.d.Experiment(r.Of)
	cut := e.Cut(r.m.Size)
	for i := range parts {
		p := &parts[i]
		if p.What == "" {
			continue
		}
		var places, stand []string
		for _, path := range slices.Sorted(maps.Keys(r.Where)) {
			if r.Changes == nil && r.Wins == nil { // others name their runs
				break
			}
			value := ours(cut, path, r.Where[path])
			if _, _, ofTarget := option(path); !ofTarget && !strings.Contains(p.What, path+"="+value) {
				places = append(places, path+"="+value)
			}
		}
		if len(places) > 0 {
			p.What += " at " + strings.Join(places, ", ")
		}
		if c := r.Changes; c != nil {
			from, to := ours(cut, c.Along, c.From), ours(cut, c.Along, c.To)
			if against, ok := r.d.Experiment(c.Against); ok {
				to = ours(against.Cut(r.m.Size), c.Along, c.To)
			}
			if from != c.From || to != c.To {
				stand = append(stand, from+" to "+to)
			}
		}
		if c := r.More; c != nil {
			if from, to := ours(cut, c.Along, c.From), ours(cut, c.Along, c.To); from != c.From || to != c.To {
				stand = append(stand, from+" to "+to)
			}
		}
		if len(stand) > 0 {
			p.What += " (here " + strings.Join(stand, ", ") + ")"
		}
		p.What = inWords(e, nameReplaced(e, cut, p.What))
	}
	return parts
}

// nameReplaced returns a text in which a replaced value of a point is followed by the value that
// was measured: dataset=big (here 2016-01-10T08:10:00Z).
func nameReplaced(e *document.Experiment, cut document.Cut, text string) string {
	for _, path := range e.Axes {
		for _, value := range e.Values[path] {
			if ours, ok := cut.For[path][value]; ok && ours != value {
				text = strings.ReplaceAll(text, path+"="+ours, path+"="+value+" (here "+ours+")")
			}
		}
	}
	return text
}

// inWords replaces values in a text by the document's words for them: 18 rows for
// each device, not the time at which the data end.
func inWords(e *document.Experiment, text string) string {
	for name, path := range e.Axes {
		for word, value := range e.Values[path] {
			if strings.Contains(text, path) && strings.Contains(text, value) {
				text = strings.ReplaceAll(strings.ReplaceAll(text, path, name), value, word)
			} else if strings.Contains(text, name) {
				text = strings.ReplaceAll(text, value, word)
			}
		}
	}
	return text
}

// needsFull returns why a rule that only the full size can decide was not tested.
func (r rule) needsFull() string {
	var has []string
	names := []string{r.Of}
	if c := r.Changes; c != nil && c.Against != "" {
		names = append(names, c.Against)
	}
	for _, name := range names {
		if e, _ := r.d.Experiment(name); e.Cut(r.m.Size).Words != "" {
			has = append(has, name+" has "+e.Cut(r.m.Size).Words)
		}
	}
	return fmt.Sprintf("it needs size full, since %s cuts the compared points: %s", r.m.Size, strings.Join(has, "; "))
}

// uncommon returns why two systems have no common query of a type with TSBS's texts.
func uncommon(x, y side, subject string) string {
	var without []string
	for _, s := range []side{x, y} {
		if estimate.CommonSample(s.run, s.target, subject).Queries() == 0 && !slices.Contains(without, s.name) {
			without = append(without, s.name)
		}
	}
	if len(without) == 0 {
		return "no query was run by both"
	}
	return "TSBS has no text for " + strings.Join(without, " and ") + ", or it failed"
}
