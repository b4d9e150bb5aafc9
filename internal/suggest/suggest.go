// Package suggest offers the closest known names for a mistyped one.
package suggest

import (
	"slices"
	"strings"
)

// Names returns the end of an error message: `; did you mean "a" or "b"?` with the known names
// closest to the given one, or `; known: a, b, …` if none is close.
func Names(name string, known []string) string {
	if len(known) == 0 {
		return "; none exist"
	}
	return NamesOr(name, known, "; known: "+strings.Join(known, ", "))
}

// NamesOr is Names for cases in which a list of all known names does not help: if none is close it
// returns otherwise.
func NamesOr(name string, known []string, otherwise string) string {
	if near := similarNames(name, known); len(near) > 0 {
		return didYouMean(near)
	}
	return otherwise
}

// Paths is Names for the keys of a section: it suggests SECTION.KEY, as users have to write it.
func Paths(section, key string, known []string) string {
	near := similarNames(key, known)
	if len(near) == 0 {
		return Names(key, known)
	}
	for i := range near {
		near[i] = section + "." + near[i]
	}
	return didYouMean(near)
}

// similarNames returns up to three known names that are similar to the one, the closest first.
func similarNames(name string, known []string) []string {
	near := closestNames(name, known, func(k string, distance int) bool {
		return distance <= max(2, len(k)/3) || len(name) > 2 && strings.HasPrefix(k, name)
	})
	return near[:min(3, len(near))]
}

// Nearest is Names for possibly thousands of names: it returns the closest one, however distant,
// and the first of several.
func Nearest(name string, known []string) string {
	if len(known) == 0 {
		return "; none exist"
	}
	return didYouMean(closestNames(name, known, func(string, int) bool { return true })[:1])
}

// closestNames returns the known names that may be meant, the closest first.
func closestNames(name string, known []string, meant func(known string, distance int) bool) []string {
	distances := make(map[string]int, len(known))
	var near []string
	for _, k := range known {
		distances[k] = editDistance(strings.ToLower(name), strings.ToLower(k))
		if meant(k, distances[k]) {
			near = append(near, k)
		}
	}
	slices.SortStableFunc(near, func(a, b string) int { return distances[a] - distances[b] })
	return near
}

func didYouMean(names []string) string {
	return `; did you mean "` + strings.Join(names, `" or "`) + `"?`
}

// editDistance returns how many characters must be inserted, deleted or replaced to turn one text
// into the other.
func editDistance(from, to string) int {
	target := []rune(to)
	row := make([]int, len(target)+1) // distances of the characters read so far to each prefix of to
	for i := range row {
		row[i] = i
	}
	for _, r := range from {
		diagonal := row[0]
		row[0]++
		for i, t := range target {
			replaced := diagonal
			if r != t {
				replaced++
			}
			diagonal = row[i+1]
			row[i+1] = min(replaced, row[i]+1, diagonal+1)
		}
	}
	return row[len(target)]
}
