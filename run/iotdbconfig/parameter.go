// Package iotdbconfig reads the files of IoTDB-Benchmark, its config.properties and its routine, as
// experiments, so that existing scenarios can run here. "The tool" is thulab/iot-benchmark at
// 4e8f44d1. Parameters describes the effect of each parameter; the site appends that list to
// docs/iotdb-config.md.
package iotdbconfig

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/workload/iotdb"
)

// Fate is the treatment of a parameter.
type Fate string

// The fates.
const (
	Honoured Fate = "honoured" // has the same meaning as in the tool
	Mapped   Fate = "mapped"   // is mapped to the closest setting; Parameter.Why describes the difference
	Ignored  Fate = "ignored"  // affects no measurement here
	Refused  Fate = "refused"  // any value but the default is an error: it would change the measurement
)

// Parameter is a parameter of the tool.
type Parameter struct {
	Section string // its topic
	Name    string
	Default string // the tool's default for a missing parameter
	Fate    Fate
	Becomes string // the keys of an experiment that it sets; empty: none
	Why     string // its meaning here, or why it has none
	form    form
}

// form is the syntax of a parameter's value.
type form struct {
	what  string // description of the syntax
	right func(text string) bool
}

// wholeNumber accepts whole numbers not below least.
func wholeNumber(least int64) form {
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

// number accepts numbers from least to most.
func number(least, most float64) form {
	return form{fmt.Sprintf("a number from %g to %g", least, most), func(text string) bool {
		x, err := strconv.ParseFloat(text, 64)
		return err == nil && x >= least && x <= most
	}}
}

// filter accepts a value filter of the workload iotdb, or a number, which values are greater than.
func filter() form {
	return form{number(-1e15, 1e15).what + ", also with >, < or = before it", func(text string) bool { return iotdb.CheckFilter(withOperator(text)) == nil }}
}

// withOperator returns the value filter of a text, which may lack the operator.
func withOperator(text string) string {
	if iotdb.CheckFilter(text) == nil {
		return text
	}
	return "> " + text
}

// truth accepts true or false.
func truth() form { return words("true", "false") }

// words accepts one of some words, ignoring case.
func words(known ...string) form {
	last := len(known) - 1
	return form{strings.Join(known[:last], ", ") + " or " + known[last], func(text string) bool {
		return slices.ContainsFunc(known, func(word string) bool { return strings.EqualFold(word, text) })
	}}
}

// text accepts any text.
func text() form { return form{"a text", func(string) bool { return true }} }

// equalValues reports whether two values of a parameter are equivalent.
func equalValues(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return strings.EqualFold(a, b) || errX == nil && errY == nil && x == y
}

// Parameters lists all parameters of the tool in the order of its file; parameters missing in the
// file follow at the end of each section.
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
