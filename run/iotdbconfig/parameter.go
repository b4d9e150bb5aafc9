// Package iotdbconfig reads the files of IoTDB-Benchmark, its config.properties
// and its routine, as experiments: whoever has a scenario there can run it here.
// "The tool" is thulab/iot-benchmark at 4e8f44d1. Parameters says what becomes of each
// parameter; the site appends that list to docs/iotdb-config.md.
package iotdbconfig

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Fate is what becomes of a parameter.
type Fate string

// The fates.
const (
	Honoured Fate = "honoured" // means here what it means in the tool
	Mapped   Fate = "mapped"   // becomes what is closest; Parameter.Why says how they differ
	Ignored  Fate = "ignored"  // changes nothing that is measured here
	Refused  Fate = "refused"  // any value but the default is an error: it would change what is measured
)

// Parameter is one that the tool reads.
type Parameter struct {
	Section string // what it is about
	Name    string
	Default string // the tool's, which holds where a file leaves it out
	Fate    Fate
	Becomes string // the keys of an experiment that it sets; empty: none
	Why     string // how it is meant here, or why it is not
	form    form
}

// form is how the value of a parameter is written.
type form struct {
	what  string // it must be
	right func(text string) bool
}

// whole is whole numbers from least on.
func whole(least int64) form {
	what := "a whole number"
	if least > -1<<62 {
		what = fmt.Sprintf("a whole number, %d or more", least)
	}
	return form{what, func(text string) bool {
		n, err := strconv.ParseInt(text, 10, 64)
		return err == nil && n >= least
	}}
}

const anyWhole = -1 << 63

// number is numbers from least to most.
func number(least, most float64) form {
	return form{fmt.Sprintf("a number from %g to %g", least, most), func(text string) bool {
		x, err := strconv.ParseFloat(text, 64)
		return err == nil && x >= least && x <= most
	}}
}

// truth is true or false.
func truth() form { return words("true", "false") }

// words is one of some words, in whatever case.
func words(known ...string) form {
	last := len(known) - 1
	return form{strings.Join(known[:last], ", ") + " or " + known[last], func(text string) bool {
		return slices.ContainsFunc(known, func(word string) bool { return strings.EqualFold(word, text) })
	}}
}

// text is any text.
func text() form { return form{"a text", func(string) bool { return true }} }

// same reports whether two values of a parameter mean the same.
func same(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return strings.EqualFold(a, b) || errX == nil && errY == nil && x == y
}

// Parameters lists all that the tool reads, in the order of its file, and behind
// those of each section the ones that its file does not tell of.
func Parameters() []Parameter {
	var all []Parameter
	for _, s := range []struct {
		name       string
		parameters []Parameter
	}{
		{"Tested database", database()},
		{"Clean-up before the test", cleanUp()},
		{"Kafka", kafka()},
		{"Test", test()},
		{"Encryption", encryption()},
		{"Several processes", cluster()},
		{"Second database", second()},
		{"Devices, sensors, clients", scale()},
		{"IoTDB", ofIoTDB()},
		{"Other databases", ofOthers()},
		{"Time", timing()},
		{"Types of values", types()},
		{"Storage in IoTDB", storage()},
		{"Files of rows", files()},
		{"Values", values()},
		{"Operations", operations()},
		{"Writes", writes()},
		{"Copies and anomalies", copies()},
		{"Late rows", late()},
		{"Queries", queryParameters()},
		{"Buffer of values", buffer()},
		{"Where results go", results()},
		{"Output", output()},
	} {
		for _, p := range s.parameters {
			p.Section = s.name
			all = append(all, p)
		}
	}
	return all
}
