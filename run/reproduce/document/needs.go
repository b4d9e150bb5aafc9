package document

import (
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
)

// Needs are the least quantities with which measurements can decide a claim. Where a size has less,
// the claim is not tested: thinner series, fewer devices and shorter loads may turn a ratio.
type Needs struct {
	Devices       Least `yaml:"devices"`
	RowsPerDevice Least `yaml:"rows-per-device"`
	// Density is the number of rows in an hour of a device's data.
	Density Least `yaml:"density"`
	// Pressure is the ratio between the volume of the data, 8 bytes for each value, and the memory of
	// the server.
	Pressure Least `yaml:"pressure"`
	// Batches is the number of batches that each worker of a load writes, on average.
	Batches float64 `yaml:"batches"`
	// LoadTime is the time that each load takes until it has settled.
	LoadTime time.Duration `yaml:"load-time"`
}

// Least is a lower bound of a quantity: up to 1 a share of the document's own quantity at the same
// point, above 1 a number. 0 needs nothing.
type Least float64

// Bound returns the bound, with the document's own quantity.
func (l Least) Bound(own float64) float64 {
	if l <= 1 {
		return float64(l) * own
	}
	return float64(l)
}

// Scale is the extent of the data at a point. Density is in rows of a device per hour.
type Scale struct{ Devices, RowsPerDevice, Density float64 }

// Extents has the extent of an experiment's data at each point of a size, and at the document's own
// points.
type Extents struct {
	name      string
	size      Size
	cut       Cut
	here, own []experiment.Point
}

// Extents returns the extents of an experiment in a size.
func (d *Document) Extents(e *Experiment, size Size) (*Extents, error) {
	here, err := d.points(e, size)
	if err != nil {
		return nil, err
	}
	own, err := d.points(e, Full)
	if err != nil {
		return nil, err
	}
	return &Extents{e.Name, size, e.Cut(size), here, own}, nil
}

// ScalesAt returns the scale of the data at a point of the size, and at the document's own point that it
// represents.
func (x *Extents) ScalesAt(at result.Parameters) (here, own Scale, err error) {
	i := slices.IndexFunc(x.here, func(p experiment.Point) bool { return samePoint(p.Parameters, at) })
	if i < 0 {
		return Scale{}, Scale{}, fmt.Errorf("size %s of %s has no point %s", x.size, x.name, at)
	}
	return scaleOf(x.here[i]), scaleOf(findRepresented(x.own, x.cut, at)), nil
}

// findRepresented returns the document's own point that a point of a size represents: the one with the
// same values, or with the values that replace them. Parameters that no own point shares, such as
// the end of the data that goes with a number of devices, do not count.
func findRepresented(own []experiment.Point, cut Cut, at result.Parameters) experiment.Point {
	for _, p := range at {
		var same []experiment.Point
		for _, candidate := range own {
			value := candidate.Parameters.Value(p.Path)
			if value == p.Value || cut.For[p.Path][value] == p.Value {
				same = append(same, candidate)
			}
		}
		if len(same) > 0 {
			own = same
		}
	}
	return own[0]
}

func scaleOf(p experiment.Point) Scale {
	w := &p.Experiment.Workload
	return Scale{
		Devices:       float64(w.Scale),
		RowsPerDevice: float64(w.End.Sub(w.Start)) / float64(w.Interval),
		Density:       float64(time.Hour) / float64(w.Interval),
	}
}
