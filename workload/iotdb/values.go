package iotdb

import (
	"math"
	"time"

	"github.com/tsmark/tsmark/series"
)

// waveform is the formula of one series: a sensor of a device.
type waveform struct {
	amplitude float64
	middle    float64
	frequency float64 // periods a nanosecond
	phase     float64 // periods at the start
	noise     float64 // standard deviation
}

// waveform draws the parameters of a series, each uniformly from its range.
func (s *settings) waveform(device uint32, n *sensor) waveform {
	stream := streamOf(device, n.number, forParameters)
	a, b := random(s.seed, 0, stream)
	c, d := random(s.seed, 1, stream)
	e, _ := random(s.seed, 2, stream)
	w := waveform{
		amplitude: s.amplitude.valueAt(unit(a)), middle: s.offset.valueAt(unit(b)),
		frequency: 1 / s.period.valueAt(unit(c)), phase: unit(d),
	}
	if n.shape <= sawtooth {
		w.noise = w.amplitude * s.noise.valueAt(unit(e))
	}
	return w
}

// row is a row of a source: its place, from 0 on and below it where old times are
// written again, and whether it is the second one of its time.
type row struct {
	at    int64
	again bool
}

// floats computes the values of a sensor before they get its type, at times in
// nanoseconds. The scratch is as long as the rows.
func (s *settings) floats(out []float64, device uint32, n *sensor, rows []row, times []int64) waveform {
	if n.buffer != nil {
		for i, r := range rows {
			out[i] = n.buffer[bufferAt(r.at, device)]
		}
		return waveform{middle: n.middle()}
	}
	w := s.waveform(device, n)
	switch n.shape {
	case square:
		for i, t := range times {
			out[i] = w.middle - w.amplitude
			if w.cycle(t-s.start) < 0.5 {
				out[i] = w.middle + w.amplitude
			}
		}
	case sine:
		for i, t := range times {
			out[i] = w.middle + float64(w.amplitude*math.Sin(2*math.Pi*w.cycle(t-s.start)))
		}
	case sawtooth:
		for i, t := range times {
			out[i] = w.middle + float64(w.amplitude*(2*w.cycle(t-s.start)-1))
		}
	case uniform:
		stream := streamOf(device, n.number, forValues)
		for i, r := range rows {
			x, _ := random(s.seed, uint64(r.at), stream)
			out[i] = w.middle + float64(w.amplitude*(2*unit(x)-1))
		}
	default:
		for i := range out {
			out[i] = w.middle
		}
	}
	if w.noise > 0 {
		stream := streamOf(device, n.number, forValues)
		for i, r := range rows {
			_, x := random(s.seed, uint64(r.at), stream)
			out[i] += float64(w.noise * normal(unitFloat(x)))
		}
	}
	return w
}

// cycle returns how much of a period has passed at a time since the start, from
// 0 to below 1.
func (w *waveform) cycle(since int64) float64 {
	c := float64(float64(since)*w.frequency) + w.phase
	return c - math.Floor(c)
}

// bufferAt returns the row of the shared buffer that a device's row is: the
// tool's rule, by which device 99 has one value and device 49 has two.
func bufferAt(at int64, device uint32) int64 {
	return floorMod(at*(int64(device)+1), bufferRows)
}

// floorMod is t modulo n, from 0 to below n.
func floorMod(t, n int64) int64 {
	if t %= n; t < 0 {
		t += n
	}
	return t
}

// fill writes the values of a sensor into the last rows of a column, which
// belong to one device. The scratch is as long as the rows.
func (s *settings) fill(c *series.Column, scratch []float64, device uint32, n *sensor, rows []row, times []int64) {
	kind := held[n.kind]
	if !kind.UsesInts() {
		out := c.Floats[len(c.Floats)-len(rows):]
		s.floats(out, device, n, rows, times)
		s.bump(out, rows)
		for i, v := range out {
			out[i] = math.Floor(float64(v*s.scale)+0.5) / s.scale
		}
		if kind == series.Float32 {
			for i, v := range out {
				out[i] = float64(float32(v))
			}
		}
		return
	}
	out := c.Ints[len(c.Ints)-len(rows):]
	if kind.Textual() {
		s.texts(out, device, n, rows)
		return
	}
	w := s.floats(scratch, device, n, rows, times)
	if kind == series.Bool {
		for i, v := range scratch {
			out[i] = 0
			if (v > w.middle) != rows[i].again {
				out[i] = 1
			}
		}
		return
	}
	s.bump(scratch, rows)
	unit := int64(1)
	if kind == series.Timestamp {
		unit = int64(time.Millisecond) // as the tool counts
	}
	for i, v := range scratch {
		out[i] = int64(v) * unit
	}
	if kind == series.Date {
		for i, v := range out {
			out[i] = min(max(v, math.MinInt16), math.MaxInt16)
		}
	}
}

// bump adds 1 to the values of rows whose time was written before, so that it
// shows which of both a system keeps.
func (s *settings) bump(values []float64, rows []row) {
	if s.duplicates == 0 {
		return
	}
	for i, r := range rows {
		if r.again {
			values[i]++
		}
	}
}

// texts writes the numbers of random texts.
func (s *settings) texts(out []int64, device uint32, n *sensor, rows []row) {
	texts := series.Texts(int(s.textLength))
	stream := streamOf(device, n.number, forValues)
	for i, r := range rows {
		var x uint64
		if n.codes != nil {
			x = n.codes[bufferAt(r.at, device)]
		} else {
			_, x = random(s.seed, uint64(r.at), stream)
		}
		if out[i] = scaleInt(x, texts); r.again {
			out[i] = (out[i] + 1) % texts
		}
	}
}
