package option

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Type is a type of values. The zero Type takes every text.
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

// Check returns an error that describes valid values.
func (t Type) Check(value string) error {
	if t.check == nil {
		return nil
	}
	return t.check(value)
}

// CheckedBy returns a type with its own check, whose error describes valid values.
func CheckedBy(name string, check func(value string) error) Type {
	return Type{name: name, check: check}
}

// Choice takes one of the words.
func Choice(words ...string) Type {
	return Type{"choice", words, func(v string) error {
		if !slices.Contains(words, v) {
			return fmt.Errorf("must be one of %s", strings.Join(words, ", "))
		}
		return nil
	}}
}

// Boolean accepts two words; the first one means on, true or yes: see Values.Bool.
func Boolean(yes, no string) Type {
	t := Choice(yes, no)
	t.name = "boolean"
	return t
}

// Port takes the number of a TCP port.
func Port() Type {
	return CheckedBy("port", func(v string) error {
		if n, err := strconv.ParseUint(v, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("must be a port, from 1 to 65535")
		}
		return nil
	})
}

// Integer takes whole numbers from least to most.
func Integer(least, most int) Type {
	return CheckedBy("integer", func(v string) error {
		if n, err := strconv.Atoi(v); err != nil || n < least || n > most {
			return fmt.Errorf("must be a whole number from %d to %d", least, most)
		}
		return nil
	})
}

// AtLeast takes whole numbers from least on.
func AtLeast(least int) Type {
	return CheckedBy("integer", func(v string) error {
		if n, err := strconv.Atoi(v); err != nil || n < least {
			return fmt.Errorf("must be a whole number, %d or more", least)
		}
		return nil
	})
}

// Duration takes durations above 0.
func Duration() Type {
	return CheckedBy("duration", func(v string) error {
		if d, err := time.ParseDuration(v); err != nil || d <= 0 {
			return fmt.Errorf("must be a duration above 0, such as 60s")
		}
		return nil
	})
}

// Seconds takes durations of whole seconds, at least so long.
func Seconds(least time.Duration) Type {
	return multiples(time.Second, least, "whole seconds, at least "+strings.TrimSuffix(least.String(), "0s")+", such as 12h")
}

// Microseconds takes durations of whole microseconds, above 0.
func Microseconds() Type {
	return multiples(time.Microsecond, time.Microsecond, "whole microseconds above 0, such as 20s")
}

func multiples(unit, least time.Duration, must string) Type {
	return CheckedBy("duration", func(v string) error {
		if d, err := time.ParseDuration(v); err != nil || d < least || d%unit != 0 {
			return fmt.Errorf("must be a duration of %s", must)
		}
		return nil
	})
}

// Number takes numbers from least to most.
func Number(least, most float64) Type {
	must := fmt.Sprintf("must be a number from %s to %s", decimal(least), decimal(most))
	return CheckedBy("number", func(v string) error {
		if x, err := strconv.ParseFloat(v, 64); err != nil || !(x >= least && x <= most) {
			return errors.New(must)
		}
		return nil
	})
}

// Numbers takes a number from least to most, or a range of them: a..b.
func Numbers(least, most float64) Type {
	must := fmt.Sprintf("must be a number from %[1]s to %[2]s, or a range of them, such as %[1]s..%[2]s", decimal(least), decimal(most))
	return ranges("numbers", least, most, must, func(v string) (float64, error) { return strconv.ParseFloat(v, 64) })
}

// Durations takes a duration from least to most, or a range of them: a..b.
func Durations(least, most time.Duration) Type {
	must := fmt.Sprintf("must be a duration from %v to %dh, or a range of them, such as 10m..6h", least, int(most.Hours()))
	return ranges("durations", float64(least), float64(most), must, duration)
}

func duration(text string) (float64, error) {
	d, err := time.ParseDuration(text)
	return float64(d), err
}

func ranges(name string, least, most float64, must string, read func(string) (float64, error)) Type {
	return CheckedBy(name, func(v string) error {
		from, to, ok := strings.Cut(v, "..")
		if !ok {
			to = from
		}
		a, errFrom := read(from)
		b, errTo := read(to)
		if errFrom != nil || errTo != nil || !(least <= a && a <= b && b <= most) {
			return errors.New(must)
		}
		return nil
	})
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Shares accepts the weights of the parts in order, a:b:c. Weights omitted at the end are 0.
func Shares(of ...string) Type {
	must := fmt.Errorf("must be shares such as 1:0:2, from 0 on and not all 0, of %s", strings.Join(of, ":"))
	return CheckedBy("shares", func(v string) error {
		parts, sum := strings.Split(v, ":"), 0.0
		for _, part := range parts {
			x, err := strconv.ParseFloat(part, 64)
			if err != nil || !(x >= 0 && x <= 1e9) {
				return must
			}
			sum += x
		}
		if sum == 0 || len(parts) > len(of) {
			return must
		}
		return nil
	})
}

// Size takes sizes of memory, such as 512MB, 4GiB or 80%.
func Size() Type {
	return CheckedBy("size", func(v string) error {
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

// OrWord returns the type extended by a word: off instead of a number.
func (t Type) OrWord(word string) Type {
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
