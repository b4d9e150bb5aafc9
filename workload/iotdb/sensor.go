package iotdb

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/series"
)

// valueType is a type of values of IoTDB-Benchmark.
type valueType uint8

// The types, in the order of its INSERT_DATATYPE_PROPORTION.
const (
	boolean valueType = iota
	int32Type
	int64Type
	floatType
	doubleType
	textType
	stringType
	blobType
	timestampType
	dateType
	typeCount
)

var typeNames = [typeCount]string{"boolean", "int32", "int64", "float", "double", "text", "string", "blob", "timestamp", "date"}

// held are the types in which tsmark holds the values. The tool's text and string
// are the same to every database but IoTDB.
var held = [typeCount]series.Type{
	boolean: series.Bool, int32Type: series.Int32, int64Type: series.Int, floatType: series.Float32, doubleType: series.Float,
	textType: series.Text, stringType: series.Text, blobType: series.Blob, timestampType: series.Timestamp, dateType: series.Date,
}

// field is a sensor as a field of tables.
func (s *settings) field(n *sensor) series.Field {
	f := series.Field{Name: fieldName(n.number), Type: held[n.kind]}
	if f.Type.Textual() {
		f.Length = int(s.textLength)
	}
	return f
}

// distribution is the form of a sensor's values.
type distribution uint8

// The distributions, in the order of the paper's figure 1.
const (
	square distribution = iota
	sine
	sawtooth
	uniform
	constant
	distributionCount
)

var distributionNames = [distributionCount]string{"square", "sine", "sawtooth", "random", "constant"}

// sensor is common to all devices' copies of a sensor.
type sensor struct {
	number uint32
	kind   valueType
	shape  distribution
	buffer []float64 // values of the shared buffer; nil: by formula
	codes  []uint64  // random bits of the shared buffer, for texts
}

// newSensors makes the sensors. Types lie in runs, in the order of their shares,
// as the tool assigns them; distributions are drawn.
func newSensors(s *settings) ([]sensor, error) {
	sensors := make([]sensor, s.sensors)
	for i := range sensors {
		n := uint32(i)
		drawn, _ := random(s.seed, 0, streamOf(allDevices, n, forFunction))
		sensors[i] = sensor{
			number: n,
			kind:   valueType(share(s.types[:], (float64(i)+1e-6)/float64(s.sensors))), // so that no rounding of shares puts it below a bound that it is on
			shape:  distribution(share(s.distribution[:], unit(drawn))),
		}
	}
	if !s.buffered {
		return sensors, nil
	}
	known, err := functions()
	if err != nil {
		return nil, err
	}
	for i := range sensors {
		sensors[i].fill(s, known)
	}
	return sensors, nil
}

// bufferRows is the number of rows in the shared buffer.
const bufferRows = 100

// function is one of IoTDB-Benchmark's value functions.
type function struct {
	shape       distribution
	whole       bool
	least, most float64
	period      int64 // milliseconds
}

// functionList is IoTDB-Benchmark's list, function.xml. The period of its sine
// functions, which the tool takes for seconds, is in milliseconds here.
//
//go:embed functions.txt
var functionList string

// functions reads the list.
func functions() ([]function, error) {
	var list []function
	for line := range strings.Lines(functionList) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var f function
		var shape, kind string
		if _, err := fmt.Sscan(line, &shape, &kind, &f.least, &f.most, &f.period); err != nil {
			return nil, fmt.Errorf("the list of value functions: %q: %w", strings.TrimSpace(line), err)
		}
		f.whole = kind == "int"
		for d, name := range distributionNames {
			if name == shape {
				f.shape = distribution(d)
			}
		}
		list = append(list, f)
	}
	return list, nil
}

// fill computes the sensor's part of the shared buffer: one function of its
// family, at the first rows' times.
func (n *sensor) fill(s *settings, known []function) {
	var family []function
	for _, f := range known {
		if f.shape == n.shape {
			family = append(family, f)
		}
	}
	_, drawn := random(s.seed, 0, streamOf(allDevices, n.number, forFunction))
	f := family[scaleInt(drawn, int64(len(family)))]
	n.buffer, n.codes = make([]float64, bufferRows), make([]uint64, bufferRows)
	for i := range n.buffer {
		at := (s.start + int64(i)*s.step) / 1e6 // as the tool's times, milliseconds since 1970
		x, code := random(s.seed, uint64(i), streamOf(allDevices, n.number, forValues))
		n.buffer[i], n.codes[i] = f.value(at, unit(x)), code
	}
}

// value returns the function at a time in milliseconds.
func (f *function) value(at int64, u float64) float64 {
	phase := float64(at%f.period) / float64(f.period)
	height := f.most - f.least
	v := f.least
	switch f.shape {
	case square:
		if phase < 0.5 {
			v = f.most
		}
	case sine:
		v = float64(math.Sin(2*math.Pi*phase)*height/2) + height/2 + f.least
	case sawtooth:
		v = f.least + float64(height*phase)
	case uniform:
		v = f.least + float64(height*u)
	}
	if f.whole {
		return math.Trunc(v)
	}
	return v
}

// middle returns what the values of a sensor in the shared buffer must exceed to
// be true.
func (n *sensor) middle() float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for _, v := range n.buffer {
		least, most = min(least, v), max(most, v)
	}
	return least + (most-least)/2
}

// fieldName is the name of a sensor.
func fieldName(sensor uint32) string { return "s_" + strconv.FormatUint(uint64(sensor), 10) }
