// Package pprof reads CPU profiles of servers.
package pprof

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// Function is a function's share of the samples of a profile.
type Function struct {
	Name        string
	Self, Total float64 // Total includes the functions that it called
}

// Read returns the number of samples of a CPU profile, and the functions with the largest shares:
// the first by each kind of share, ordered by Self.
func Read(data []byte, first int) (samples int64, list []Function, err error) {
	p, err := profile.ParseData(data)
	if err != nil {
		return 0, nil, fmt.Errorf("reading a CPU profile: %w", err)
	}
	self, total := make(map[string]int64), make(map[string]int64)
	for _, s := range p.Sample {
		n := s.Value[0] // the number of samples, followed by their time
		samples += n
		seen := make(map[string]bool)
		for i, l := range s.Location {
			for j, line := range l.Line {
				if line.Function == nil {
					continue
				}
				name := short(line.Function.Name)
				if i == 0 && j == 0 {
					self[name] += n
				}
				if !seen[name] { // of a recursion only once
					seen[name] = true
					total[name] += n
				}
			}
		}
	}
	for name, n := range total {
		list = append(list, Function{name, float64(self[name]) / float64(samples), float64(n) / float64(samples)})
	}
	byTotal := func(a, b Function) int { return cmp.Or(cmp.Compare(b.Total, a.Total), strings.Compare(a.Name, b.Name)) }
	slices.SortFunc(list, byTotal)
	rest := list[min(first, len(list)):]
	list = list[:len(list)-len(rest)]
	bySelf := func(a, b Function) int { return cmp.Or(cmp.Compare(b.Self, a.Self), byTotal(a, b)) }
	slices.SortFunc(rest, bySelf)
	list = append(list, rest[:min(first, len(rest))]...)
	slices.SortFunc(list, bySelf)
	return samples, list, nil
}

// short returns the name of a function without the host and owner of its module.
func short(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[i+1:]
	}
	return name
}
