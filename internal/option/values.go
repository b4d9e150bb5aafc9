package option

import (
	"strconv"
	"strings"
	"time"
)

// Values holds the value of every option, by name, as returned by Resolve. An empty value, or a
// word instead of a number, reads as 0, 0s or false.
type Values map[string]string

// Int is the value of an Integer, AtLeast or Port.
func (v Values) Int(name string) int {
	n, _ := strconv.Atoi(v[name])
	return n
}

// Duration is the value of a Duration or Seconds.
func (v Values) Duration(name string) time.Duration {
	d, _ := time.ParseDuration(v[name])
	return d
}

// Number is the value of a Number.
func (v Values) Number(name string) float64 {
	x, _ := strconv.ParseFloat(v[name], 64)
	return x
}

// Range is the value of Numbers, or of Durations in nanoseconds.
func (v Values) Range(name string) (least, most float64) {
	read := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			x, _ = duration(text)
		}
		return x
	}
	from, to, ok := strings.Cut(v[name], "..")
	if !ok {
		to = from
	}
	return read(from), read(to)
}

// Shares is the value of Shares, each as a part of their sum.
func (v Values) Shares(name string) []float64 {
	var list []float64
	sum := 0.0
	for part := range strings.SplitSeq(v[name], ":") {
		x, _ := strconv.ParseFloat(part, 64)
		list, sum = append(list, x), sum+x
	}
	for i := range list {
		list[i] /= sum
	}
	return list
}

// Bool is the value of a Boolean.
func (v Values) Bool(name string) bool {
	switch v[name] {
	case "on", "true", "yes":
		return true
	}
	return false
}
