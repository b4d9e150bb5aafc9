package format

import (
	"fmt"
	"slices"
	"strings"
)

// Few names the first ones of a list that may be long.
func Few(list []string) string {
	const few = 3
	if len(list) > few {
		return strings.Join(list[:few], ", ") + fmt.Sprintf(" and %d more", len(list)-few)
	}
	return strings.Join(list, ", ")
}

func Prefix(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Join joins the parts that are not empty.
func Join(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}

func ShellWords(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		if a == "" || strings.ContainsFunc(a, func(c rune) bool {
			return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:=,+@%", c))
		}) {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		quoted[i] = a
	}
	return strings.Join(quoted, " ")
}

// List joins parts as people do: a, b and c.
func List(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// CountOf renders a number and its noun.
func CountOf(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// Capital returns a text with a capital letter at its start.
func Capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
