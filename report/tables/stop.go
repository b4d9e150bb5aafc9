package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/result"
)

// StopReasons returns why the queries of a type ended, and in how many repeats if
// that differs: interval within 2 % in 5, time box in 1. It is empty if unknown.
func StopReasons(t *result.Target, queryType string) string {
	var reasons []string
	times := make(map[string]int)
	for i := range t.Repeats {
		q := t.Repeats[i].Type(queryType)
		if q == nil || q.Stopped == "" {
			continue
		}
		if times[q.Stopped]++; !slices.Contains(reasons, q.Stopped) {
			reasons = append(reasons, q.Stopped)
		}
	}
	if len(reasons) < 2 {
		return strings.Join(reasons, "")
	}
	for i, reason := range reasons {
		reasons[i] = fmt.Sprintf("%s in %d", reason, times[reason])
	}
	return strings.Join(reasons, ", ")
}

// stopNotes explain why the queries of each type ended, if an interval could end them.
func stopNotes(t *result.Target) []doc.Span {
	var order []string
	types := make(map[string][]string)
	byInterval := false
	for i := range t.Queries {
		text := StopReasons(t, t.Queries[i].Type)
		if text == "" {
			continue
		}
		byInterval = byInterval || strings.Contains(text, result.StoppedByIntervals)
		if types[text] == nil {
			order = append(order, text)
		}
		types[text] = append(types[text], t.Queries[i].Type)
	}
	if !byInterval {
		return nil
	}
	var list []doc.Span
	for _, text := range order {
		which := strings.Join(types[text], ", ")
		if len(order) == 1 && len(types[text]) > 1 {
			which = "every type"
		}
		list = append(list, doc.Dim("stopped: "+text+": "+which))
	}
	return list
}
