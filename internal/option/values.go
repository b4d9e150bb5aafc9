package option

import (
	"strconv"
	"time"
)

// Values is the value of every option, by name, as Resolve made it. What is
// empty, or a word in the place of a number, reads as 0, 0s or false.
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

// On is the value of a Boolean.
func (v Values) On(name string) bool {
	switch v[name] {
	case "on", "true", "yes":
		return true
	}
	return false
}
