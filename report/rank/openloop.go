package rank

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/result"
)

// Names of the times that reports compare: see result.Queries.Time.
const (
	ServiceTime  = "service time"
	ResponseTime = "response time"
)

// TimeName names the times of the queries of targets.
func TimeName(targets ...*result.Target) string {
	for _, t := range targets {
		if slices.ContainsFunc(t.Queries, func(q result.Queries) bool { return q.ByResponse() }) {
			return ResponseTime
		}
	}
	return ServiceTime
}

// TimeName names the times that the group compares.
func (g *Group) TimeName() string {
	targets := make([]*result.Target, len(g.Subjects))
	for i := range g.Subjects {
		targets[i] = g.Subjects[i].Target
	}
	return TimeName(targets...)
}

// saturatedNotes names the targets that did not keep the schedule of an open loop.
func (g *Group) saturatedNotes() (list []doc.Span) {
	for _, s := range g.Subjects {
		first, n := "", 0
		for i := range s.Target.Queries {
			if q := &s.Target.Queries[i]; HasFigures(q) && q.Open != nil && q.Open.Search == nil && q.Open.Saturated != "" {
				if n++; n == 1 {
					first = q.Type + ": " + strings.TrimPrefix(q.Open.Saturated, "saturated: ")
				}
			}
		}
		if n > 0 {
			text := s.Label + " is saturated in " + first
			if all := len(s.Target.Queries); all > 1 {
				text = fmt.Sprintf("%s is saturated in %d of %d query types, %s", s.Label, n, all, first)
			}
			list = append(list, doc.Bad(text))
		}
	}
	return list
}

// rateNotes names the highest rates that targets kept, for each objective of a search.
func (g *Group) rateNotes() (list []doc.Span) {
	var objectives []string
	targets, types := make(map[string][]string), make(map[string][]string) // by objective
	for _, s := range g.Subjects {
		rates := make(map[string][]float64) // by objective; 0: none was found
		for i := range s.Target.Queries {
			q := &s.Target.Queries[i]
			if !HasFigures(q) || q.Open == nil || q.Open.Search == nil {
				continue
			}
			o, kept := q.Open.Search.Objective, q.Open.Search.Kept
			if !slices.Contains(objectives, o) {
				objectives = append(objectives, o)
			}
			if !slices.Contains(types[o], q.Type) {
				types[o] = append(types[o], q.Type)
			}
			if q.RateNotFound() != "" {
				kept = 0
			}
			rates[o] = append(rates[o], kept)
		}
		for _, o := range objectives {
			if len(rates[o]) == 0 {
				continue
			}
			least, most := slices.Min(rates[o]), slices.Max(rates[o])
			text := s.Label + " " + rateText(least)
			if least < most {
				text += " to " + rateText(most)
			}
			targets[o] = append(targets[o], text)
		}
	}
	for _, o := range objectives {
		what := types[o][0]
		if n := len(types[o]); n > 1 {
			what = format.Plural(n, "query type")
		}
		list = append(list, doc.Plain("Highest rate of "+what+" with "+o+": "+strings.Join(targets[o], ", ")))
	}
	return list
}

// rateText renders a highest rate; 0: none was found.
func rateText(kept float64) string {
	if kept == 0 {
		return "none found"
	}
	return format.Digits(kept) + "/s"
}
