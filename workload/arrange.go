package workload

import (
	"math"
	"time"
)

// Arrange returns the dataset arranged as the specification says: the first Records rows of each
// series, in sequences of InARow intervals, with NewTags and NewFields that appear over time.
// Workloads call it for their generated datasets, so that every reader of the dataset, including
// the oracle, sees the same rows. Its error is a *SpecError.
//
// Memory in addition to the dataset's: 4 bytes per series and table for Records; for InARow the
// rows of that many intervals of all series (20 bytes per row and 8 per field).
func Arrange(d Dataset, s Spec) (Dataset, error) {
	if s.Records > 0 {
		d = firstRecords{d, s.Records}
	}
	if s.InARow > 1 {
		epochs := s.End.Sub(s.Start) / s.Interval
		d = inARow{d, s.Start.UnixNano(), int64(s.Interval * min(time.Duration(s.InARow), epochs+1))}
	}
	if s.NewTags == 0 && s.NewFields == 0 {
		return d, nil
	}
	if n := d.Schema().Series; s.NewTags > 0 && n > math.MaxUint32/2 {
		return nil, Bad("new-tags", "%d series and as many without their last tags are too many; lower --scale", n)
	}
	for _, t := range d.Schema().Tables {
		if int(s.NewTags) >= len(t.Tags) {
			return nil, Bad("new-tags", "%d leaves table %s, which has %d tags, none at first; give %d at most", s.NewTags, t.Name, len(t.Tags), len(t.Tags)-1)
		}
		if int(s.NewFields) >= len(t.Fields) {
			return nil, Bad("new-fields", "%d leaves table %s, which has %d fields, none at first; give %d at most", s.NewFields, t.Name, len(t.Fields), len(t.Fields)-1)
		}
	}
	return newGrown(d, s), nil
}
