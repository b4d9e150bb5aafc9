// Package version has the notation NAME@VERSION for versions of servers, and their order.
package version

import (
	"cmp"
	"strconv"
	"strings"
)

// Mark separates the name of a system and its version.
const Mark = "@"

// Split divides NAME@VERSION. The version is empty if the text has none.
func Split(text string) (name, version string) {
	name, version, _ = strings.Cut(text, Mark)
	return name, version
}

// Join returns NAME@VERSION; without a version the name alone.
func Join(name, version string) string {
	if version == "" {
		return name
	}
	return name + Mark + version
}

// HasName reports whether a text, NAME or NAME@VERSION, has the name.
func HasName(text, name string) bool {
	has, _ := Split(text)
	return has == name
}

// Variable is the environment variable by which the script of a server, and the tests of its driver,
// learn which version to start. Unset, they start the script's default.
func Variable(name string) string { return "TSMARK_VERSION_" + strings.ToUpper(name) }

// IsStable reports whether a version has no letters: with letters it is a pre-release.
func IsStable(version string) bool {
	return !strings.ContainsFunc(version, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
}

// IsWithin reports whether a version belongs to a series, such as 9.2.3 to 9 and to 9.2.
func IsWithin(version, series string) bool {
	return version == series || strings.HasPrefix(version, series+".")
}

// Compare orders versions part by part: 9.2.10 follows 9.2.9, 2.0.1 follows 2.0.1-beta, and 1.3.0-1
// follows 1.3.0.
func Compare(a, b string) int {
	left, right := parts(a), parts(b)
	for i := range max(len(left), len(right)) {
		if c := comparePart(partAt(left, i), partAt(right, i)); c != 0 {
			return c
		}
	}
	return 0
}

func parts(version string) []string {
	return strings.FieldsFunc(version, func(r rune) bool { return r == '.' || r == '-' || r == '+' })
}

func partAt(parts []string, i int) string {
	if i < len(parts) {
		return parts[i]
	}
	return ""
}

// comparePart compares two parts. A text precedes the end of a version, which precedes a number.
func comparePart(a, b string) int {
	class := func(part string) (class, number int) {
		n, err := strconv.Atoi(part)
		switch {
		case part == "":
			return 1, 0
		case err != nil:
			return 0, 0
		}
		return 2, n
	}
	classA, numberA := class(a)
	classB, numberB := class(b)
	return cmp.Or(cmp.Compare(classA, classB), cmp.Compare(numberA, numberB), strings.Compare(a, b))
}
