package ingest

import (
	"errors"
	"fmt"
	"math"
	"time"
	"unsafe"

	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/series"
)

// isOutOfRange reports whether an integer is outside the range of its type.
func isOutOfRange(t series.Type, v int64) bool {
	return t == series.Int32 && (v < math.MinInt32 || v > math.MaxInt32)
}

// influxValue reads a value of influx format that is not an integer.
func influxValue(f *series.Field, c *series.Column, row int, text []byte) error {
	switch f.Type {
	case series.Bool:
		v, ok := number.Bool(text)
		if !ok {
			return errors.New("is no boolean such as t")
		}
		c.Ints[row] = v
		return nil
	case series.Text, series.Blob:
		if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
			return errors.New(`is no string such as "a"`)
		}
		return textValue(f, c, row, text[1:len(text)-1])
	}
	return floatValue(f, c, row, text)
}

// plainValue reads a value of timescaledb format, as package encode writes it.
func plainValue(f *series.Field, c *series.Column, row int, text []byte) error {
	switch f.Type {
	case series.Bool:
		v, ok := number.Bool(text)
		if !ok {
			return errors.New("is no boolean such as true")
		}
		c.Ints[row] = v
	case series.Text, series.Blob:
		return textValue(f, c, row, text)
	case series.Date:
		// Parse keeps nothing of the text but in its error.
		at, err := time.Parse(time.DateOnly, unsafe.String(unsafe.SliceData(text), len(text)))
		if err != nil {
			return errors.New("is no date such as 2006-01-02")
		}
		c.Ints[row] = at.Unix() / (24 * 60 * 60)
	case series.Int, series.Int32, series.Timestamp:
		v, ok := number.Int(text)
		if !ok || isOutOfRange(f.Type, v) {
			return fmt.Errorf("is no value of type %v", f.Type)
		}
		c.Ints[row] = v
	default:
		return floatValue(f, c, row, text)
	}
	return nil
}

func floatValue(f *series.Field, c *series.Column, row int, text []byte) error {
	v, ok := number.Float(text)
	if !ok {
		return errors.New("is no decimal number")
	}
	if f.Type == series.Float32 {
		v = float64(float32(v))
	}
	c.Floats[row] = v
	return nil
}

func textValue(f *series.Field, c *series.Column, row int, text []byte) error {
	v, ok := series.ParseText(text)
	if !ok || len(text) != f.Length {
		return fmt.Errorf("is no text of %d digits and letters", f.Length)
	}
	c.Ints[row] = v
	return nil
}
