package witness

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/series"
)

// empty reports whether a text stands for no value.
func (c *comparison) empty(v *value) bool {
	return v.kind == isText && (len(bytes.TrimSpace(v.text)) == 0 || c.file.Null != "" && string(bytes.TrimSpace(v.text)) == c.file.Null)
}

// time compares the time of a row.
func (c *comparison) time(v *value, want int64) verdict {
	switch v.kind {
	case isNull:
		return differs
	case isTime:
		return c.matchesTyped(v.unit, v.int, want)
	case isDay:
		if c.clock.unit == 0 {
			return c.matchesTyped(nsOfDay, v.int, want)
		}
		return unknown
	}
	at, ok := c.clock.read(v)
	if !ok {
		return unknown
	}
	return c.matches(1, at, c.clock.local, want)
}

// commaToPoint has a point for decimals in place of a comma, and nothing between thousands.
var commaToPoint = strings.NewReplacer(".", "", ",", ".")

// compareTime compares a time of a coarser unit with nanoseconds.
func compareTime(n, unit, want int64) verdict {
	of := new(big.Int).Mul(big.NewInt(n), big.NewInt(unit))
	of.Sub(big.NewInt(want), of)
	return equal(of.CmpAbs(big.NewInt(unit)) < 0)
}

func equal(ok bool) verdict {
	if ok {
		return same
	}
	return differs
}

// tag compares a tag; ok says that the load's reader has one.
func (c *comparison) tag(v *value, text []byte, ok bool) verdict {
	switch {
	case v.kind == isAbsent:
		if ok {
			return unknown
		}
		return same
	case v.kind == isNull || c.empty(v) && !ok:
		return equal(!ok)
	case !ok:
		return differs
	}
	return c.asText(v, text)
}

// breaks has escapes of texts that InfluxData's decoder of line protocol reads as line breaks
// and tabs, and InfluxDB as they stand.
var breaks = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t")

// asText compares a value with a text.
func (c *comparison) asText(v *value, text []byte) verdict {
	switch v.kind {
	case isText:
		if bytes.Equal(v.text, text) || bytes.Equal(bytes.TrimSpace(v.text), text) {
			return same
		}
		if c.file.Format == Points {
			return equal(breaks.Replace(string(v.text)) == breaks.Replace(string(text)))
		}
		if c.file.Format == Objects { // whose numbers are written again
			a, err := strconv.ParseFloat(string(v.text), 64)
			b, err2 := strconv.ParseFloat(string(text), 64)
			if err == nil && err2 == nil {
				return equal(a == b)
			}
		}
		return differs
	case isBool:
		b, err := strconv.ParseBool(string(text))
		return equal(err == nil && b == (v.int != 0))
	case isInt, isDigits, isFloat, isSingle:
		return number(v, text)
	case isDay:
		t, err := time.Parse(time.DateOnly, string(text))
		if err != nil {
			return unknown
		}
		return equal(t.Unix() == v.int*24*60*60)
	}
	t := newClock("")
	at, ok := t.read(&value{kind: isText, text: text})
	if !ok {
		return unknown
	}
	return compareTime(v.int, v.unit, at)
}

// number compares a number with a text.
func number(v *value, text []byte) verdict {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil && v.kind == isInt {
		return equal(n == v.int)
	}
	a, ok := exact(string(text))
	b, ok2 := rational(v)
	if ok && ok2 {
		if a.Cmp(b) == 0 {
			return same
		}
		bits := 64
		if v.kind == isSingle {
			bits = 32
		}
		f, err := strconv.ParseFloat(string(text), bits)
		return equal(err == nil && (v.kind == isFloat || v.kind == isSingle) && f == v.float)
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || v.kind != isFloat && v.kind != isSingle {
		return unknown
	}
	return equal(f == v.float || f != f && v.float != v.float)
}

// exact parses a number exactly. It returns false if the text is not a number, or if computing with
// millions of such numbers would take hours because of their digits or exponents.
func exact(text string) (*big.Rat, bool) {
	const mostBytes, mostExponent = 2000, 2000
	if len(text) > mostBytes {
		return nil, false
	}
	if at := strings.LastIndexAny(text, "eEpP"); at >= 0 {
		if n, err := strconv.Atoi(text[at+1:]); err != nil || n < -mostExponent || n > mostExponent {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}

// rational returns the exact value of a number; false: the value is not a number.
func rational(v *value) (*big.Rat, bool) {
	switch v.kind {
	case isInt:
		return new(big.Rat).SetInt64(v.int), true
	case isDigits:
		return exact(string(v.text))
	case isFloat, isSingle:
		r := new(big.Rat).SetFloat64(v.float)
		return r, r != nil
	}
	return nil, false
}

// field compares a field.
func (c *comparison) field(v *value, run *series.Run, f, at int) verdict {
	of, column := &run.Table.Fields[f], &run.Columns[f]
	if run.Lacks(f, at) {
		switch {
		case v.kind == isNull || v.kind == isAbsent || c.empty(v):
			return same
		}
		return differs
	}
	switch v.kind {
	case isNull:
		return differs
	case isAbsent:
		return unknown
	}
	if c.file.Comma && v.kind == isText && of.Type.Numeric() {
		v = &value{kind: isText, text: []byte(commaToPoint.Replace(string(v.text)))}
	}
	switch of.Type {
	case series.Float, series.Float32:
		return float(v, column.Floats[at], of.Type == series.Float32)
	case series.Int, series.Int32:
		return compareWhole(v, column.Ints[at])
	case series.Bool:
		return truth(v, column.Ints[at])
	case series.Text:
		c.text = column.AppendText(c.text[:0], at, of.Length)
		return c.asText(v, c.text)
	case series.Date:
		switch v.kind {
		case isDay:
			return equal(v.int == column.Ints[at])
		case isText:
			t, err := time.Parse(time.DateOnly, strings.TrimSpace(string(v.text)))
			if err != nil {
				return unknown
			}
			return equal(t.Unix() == column.Ints[at]*24*60*60)
		case isTime:
			day := new(big.Int).Mul(big.NewInt(v.int), big.NewInt(v.unit))
			return equal(day.Div(day, big.NewInt(nsOfDay)).Int64() == column.Ints[at])
		}
	case series.Timestamp:
		switch v.kind {
		case isDay:
			return c.matchesTyped(nsOfDay, v.int, column.Ints[at])
		case isTime:
			return c.matchesTyped(v.unit, v.int, column.Ints[at])
		case isText:
			t := newClock("")
			if ns, ok := t.read(v); ok {
				return c.matches(1, ns, t.local, column.Ints[at])
			}
		}
	}
	return unknown
}

// float compares a number with a float.
func float(v *value, want float64, single bool) verdict {
	var got float64
	switch v.kind {
	case isInt:
		got = float64(v.int)
	case isFloat, isSingle:
		got = v.float
	case isText, isDigits:
		var err error
		text := strings.TrimSpace(string(v.text))
		switch strings.ToLower(strings.TrimLeft(text, "+-")) { // as programs write NaN and infinities
		case "nan", "nan(ind)", "nan(snan)", "1.#nan", "1.#qnan", "1.#snan", "1.#ind":
			text = "nan"
		case "1.#inf":
			text = strings.Replace(strings.ToLower(text), "1.#", "", 1)
		}
		if got, err = strconv.ParseFloat(text, 64); err != nil && !math.IsInf(got, 0) {
			return differs
		}
	default:
		return unknown
	}
	if single {
		got = float64(float32(got))
	}
	return equal(got == want || got != got && want != want)
}

// compareWhole compares a number with a whole number.
func compareWhole(v *value, want int64) verdict {
	switch v.kind {
	case isInt, isBool:
		return equal(v.int == want)
	case isText, isDigits:
		if n, err := strconv.ParseInt(string(v.text), 10, 64); err == nil {
			return equal(n == want)
		}
		n, ok := exact(strings.TrimSpace(string(v.text)))
		return equal(ok && n.Cmp(new(big.Rat).SetInt64(want)) == 0)
	case isFloat, isSingle:
		return equal(v.float == float64(want))
	}
	return unknown
}

// truth compares a value with a boolean.
func truth(v *value, want int64) verdict {
	switch v.kind {
	case isBool, isInt:
		return equal((v.int != 0) == (want != 0))
	case isText:
		b, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(string(v.text))))
		if err != nil {
			return unknown
		}
		return equal(b == (want != 0))
	}
	return unknown
}

// showField is a field's value as errors show it.
func showField(run *series.Run, f, at int) string {
	of, column := &run.Table.Fields[f], &run.Columns[f]
	v := value{kind: isInt}
	switch {
	case run.Lacks(f, at):
		v.kind = isNull
	case of.Type == series.Float || of.Type == series.Float32:
		v.kind, v.float = isFloat, column.Floats[at]
	case of.Type == series.Text:
		v.kind, v.text = isText, column.AppendText(nil, at, of.Length)
	case of.Type == series.Timestamp:
		v.kind, v.int, v.unit = isTime, column.Ints[at], 1
	case of.Type == series.Date:
		v.kind, v.int = isDay, column.Ints[at]
	default:
		v.int = column.Ints[at]
	}
	return v.String()
}

// Seed makes a seed of a text, so that the same files give the same sample.
func Seed(text string) uint64 {
	var seed [8]byte
	for i := range len(text) {
		seed[i%8] = seed[i%8]*31 + text[i]
	}
	return binary.LittleEndian.Uint64(seed[:])
}
