package workload

import (
	"cmp"
	"fmt"
)

// IoTDB is what only the iotdb workload reads of a specification. 0, false and
// "" mean the default, which is named. Ranges are LEAST..MOST, or one number.
// Package workload/iotdb says what the settings mean in full.
type IoTDB struct {
	Sensors      uint32 `json:"sensors,omitempty" yaml:"sensors,omitempty"`           // fields of a device; 10
	Groups       uint32 `json:"groups,omitempty" yaml:"device-groups,omitempty"`      // of devices, each a table; 1
	Types        string `json:"types,omitempty" yaml:"types,omitempty"`               // shares of the ten types of values; 1:1:1:1:1:1:0:0:0:0
	Values       string `json:"values,omitempty" yaml:"values,omitempty"`             // formula, or shared-buffer; formula
	Distribution string `json:"distribution,omitempty" yaml:"distribution,omitempty"` // shares of square, sine, sawtooth, random and constant sensors; 1:1:1:1:1
	Period       string `json:"period,omitempty" yaml:"period,omitempty"`             // range of the periods of waves, as durations; 10m..6h
	Amplitude    string `json:"amplitude,omitempty" yaml:"amplitude,omitempty"`       // range of half the distance between a series' smallest and largest value; 1..50
	Offset       string `json:"offset,omitempty" yaml:"offset,omitempty"`             // range of the middle of a series' values; -50..50
	Noise        string `json:"noise,omitempty" yaml:"noise,omitempty"`               // range of the standard deviation of Gaussian noise on waves, in amplitudes; 0.05
	Decimals     string `json:"decimals,omitempty" yaml:"decimals,omitempty"`         // of floats and doubles, 0 to 9; 2
	TextLength   uint32 `json:"text_length,omitempty" yaml:"text-length,omitempty"`   // characters of a text, at most 10; 2
	Irregular    bool   `json:"irregular,omitempty" yaml:"irregular,omitempty"`       // intervals vary
	Unaligned    bool   `json:"unaligned,omitempty" yaml:"unaligned,omitempty"`       // each sensor has times of its own
	Tags         string `json:"tags,omitempty" yaml:"tags,omitempty"`                 // cardinalities of further tags, as 10:100; none
	Late         string `json:"late,omitempty" yaml:"late,omitempty"`                 // probability that a row is late, from 0 to below 1; 0
	LateMode     string `json:"late_mode,omitempty" yaml:"late-mode,omitempty"`       // delayed, batch, global or paper-poisson; delayed
	LateMean     string `json:"late_mean,omitempty" yaml:"late-mean,omitempty"`       // lambda of Poisson delays, in steps; 10
	LateMost     uint32 `json:"late_most,omitempty" yaml:"late-most,omitempty"`       // steps of a delay at most; so many that chance hardly reaches them
	Duplicates   string `json:"duplicates,omitempty" yaml:"duplicates,omitempty"`     // probability that a row comes again, with other values, from 0 to 1; 0
}

// iotdbName is the workload that reads these settings.
const iotdbName = "iotdb"

// Defaulted returns the settings with the defaults in the place of those that
// are not given. That of LateMost depends on LateMean, and stays 0.
func (i IoTDB) Defaulted() IoTDB {
	for _, n := range []struct {
		of        *uint32
		otherwise uint32
	}{{&i.Sensors, 10}, {&i.Groups, 1}, {&i.TextLength, 2}} {
		*n.of = cmp.Or(*n.of, n.otherwise)
	}
	for _, t := range []struct {
		of        *string
		otherwise string
	}{
		{&i.Types, "1:1:1:1:1:1"}, {&i.Values, "formula"}, {&i.Distribution, "1:1:1:1:1"}, {&i.Period, "10m..6h"}, {&i.Amplitude, "1..50"},
		{&i.Offset, "-50..50"}, {&i.Noise, "0.05"}, {&i.Decimals, "2"}, {&i.Late, "0"}, {&i.LateMode, "delayed"}, {&i.LateMean, "10"}, {&i.Duplicates, "0"},
	} {
		*t.of = cmp.Or(*t.of, t.otherwise)
	}
	return i
}

// iotdbVersion is raised whenever the same settings begin to give other rows. In
// 1 values had no types of their own.
const iotdbVersion = 2

// rowsOfEpoch bounds the rows of all devices in one interval.
func (i IoTDB) rowsOfEpoch(devices uint32) uint64 {
	rows := uint64(devices)
	if i.Unaligned {
		rows *= uint64(i.Defaulted().Sensors)
	}
	if i.Duplicates != "" {
		rows *= 2
	}
	return rows
}

// canonical is what the fingerprint says of the settings: the same of a default
// and of the same value that was given.
func (i IoTDB) canonical() string { return fmt.Sprintf("iotdb %+v\n", i.Defaulted()) }

// IoTDBQueries are the parameters of the iotdb workload's queries. They are
// no part of the dataset. 0 and "" mean the default, which is named.
type IoTDBQueries struct {
	Sensors   uint32 `yaml:"sensors,omitempty"`   // of each device that is asked about; 1
	Devices   uint32 `yaml:"devices,omitempty"`   // asked about at once; 1
	Aggregate string `yaml:"aggregate,omitempty"` // count, min, max, sum or avg; count
	Span      string `yaml:"span,omitempty"`      // length of windows; 250s
	Bucket    string `yaml:"bucket,omitempty"`    // width of buckets; 20s
	Above     string `yaml:"above,omitempty"`     // values of value filters are greater than it; -5
	Limit     uint32 `yaml:"limit,omitempty"`     // rows where a query has a limit; 100
	Set       string `yaml:"set,omitempty"`       // union, intersect or except, also with -all; union
	SetOf     uint32 `yaml:"set-of,omitempty"`    // operands of the set operation; 2
}
