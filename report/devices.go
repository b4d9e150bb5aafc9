package report

import (
	"fmt"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload"
)

// devices says what is special about a dataset of the iotdb workload: its shape,
// where its values come from, and how late its rows are.
func devices(d *result.Dataset) string {
	if d.Spec.Name != "iotdb" {
		return ""
	}
	s := d.Spec.IoTDB.Defaulted()
	text := fmt.Sprintf(", %s a device in %s", plural(int(s.Sensors), "sensor"), plural(int(s.Groups), "group"))
	if s.Values == "shared-buffer" {
		text += ", values from a buffer of 100 rows that all devices share"
	} else {
		text += ", values by formula"
	}
	if s.Unaligned {
		text += ", sensors not aligned"
	}
	if s.Irregular {
		text += ", intervals irregular"
	}
	if s.Duplicates != "0" {
		text += ", a share of " + s.Duplicates + " comes again with other values"
	}
	if l := d.Late; l != nil {
		text += fmt.Sprintf(", %.3g %% of rows late in their series (%.3g %% to %.3g %%; %s), by %d steps in the median, p90 %d, p99 %d, %d at most",
			100*l.Share, 100*l.Least, 100*l.Most, lateMode(&s), l.P50, l.P90, l.P99, l.Max)
	}
	return text
}

// lateMode says how rows were late.
func lateMode(s *workload.IoTDB) string {
	if s.Late == "0" {
		return "those that come again"
	}
	return s.LateMode
}
