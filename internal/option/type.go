package option

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Type is a type of values. The zero Type is Text.
type Type struct {
	name  string
	words []string // of a choice
	check func(string) error
}

// String is the type's name: port.
func (t Type) String() string {
	if t.name == "" {
		return "text"
	}
	return t.name
}

// Words are the values of a choice.
func (t Type) Words() []string { return t.words }

// Check returns an error that says what a right value looks like.
func (t Type) Check(value string) error {
	if t.check == nil {
		return nil
	}
	return t.check(value)
}

// Checked is a type of its own kind: the error of check says what a right value
// looks like.
func Checked(name string, check func(value string) error) Type { return Type{name: name, check: check} }

// Text takes every text.
func Text() Type { return Type{} }

// Choice takes one of the words.
func Choice(words ...string) Type {
	return Type{"choice", words, func(v string) error {
		if !slices.Contains(words, v) {
			return fmt.Errorf("must be one of %s", strings.Join(words, ", "))
		}
		return nil
	}}
}

// Boolean takes two words, the first of which is on, true or yes: see Values.On.
func Boolean(yes, no string) Type {
	t := Choice(yes, no)
	t.name = "boolean"
	return t
}

// Port takes the number of a TCP port.
func Port() Type {
	return Checked("port", func(v string) error {
		if n, err := strconv.ParseUint(v, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("must be a port, from 1 to 65535")
		}
		return nil
	})
}

// Integer takes whole numbers from least to most.
func Integer(least, most int) Type {
	return Checked("integer", func(v string) error {
		if n, err := strconv.Atoi(v); err != nil || n < least || n > most {
			return fmt.Errorf("must be a whole number from %d to %d", least, most)
		}
		return nil
	})
}

// AtLeast takes whole numbers from least on.
func AtLeast(least int) Type {
	return Checked("integer", func(v string) error {
		if n, err := strconv.Atoi(v); err != nil || n < least {
			return fmt.Errorf("must be a whole number, %d or more", least)
		}
		return nil
	})
}

// Duration takes durations above 0.
func Duration() Type {
	return Checked("duration", func(v string) error {
		if d, err := time.ParseDuration(v); err != nil || d <= 0 {
			return fmt.Errorf("must be a duration above 0, such as 60s")
		}
		return nil
	})
}

// Seconds takes durations of whole seconds, at least so long.
func Seconds(least time.Duration) Type {
	return Checked("duration", func(v string) error {
		if d, err := time.ParseDuration(v); err != nil || d < least || d%time.Second != 0 {
			return fmt.Errorf("must be a duration of whole seconds, at least %s, such as 12h", strings.TrimSuffix(least.String(), "0s"))
		}
		return nil
	})
}

// Size takes sizes of memory, such as 512MB, 4GiB or 80%.
func Size() Type {
	return Checked("size", func(v string) error {
		if i := strings.IndexFunc(v, func(r rune) bool { return (r < '0' || r > '9') && r != '.' }); i > 0 {
			if _, err := strconv.ParseFloat(v[:i], 64); err == nil {
				switch strings.ToUpper(strings.TrimSpace(v[i:])) {
				case "B", "KB", "MB", "GB", "TB", "KIB", "MIB", "GIB", "TIB", "%":
					return nil
				}
			}
		}
		return fmt.Errorf("must be a size with its unit, such as 512MB or 4GiB")
	})
}

// Or takes a word beside a type's values: off in the place of a number.
func (t Type) Or(word string) Type {
	return Type{t.name, t.words, func(v string) error {
		if v == word {
			return nil
		}
		if err := t.Check(v); err != nil {
			return fmt.Errorf("%w, or %s", err, word)
		}
		return nil
	}}
}
