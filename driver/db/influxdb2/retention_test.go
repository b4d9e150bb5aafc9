package influxdb2

import (
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/series"
)

// A bucket keeps what the option says, or all: rows that are older than that the server
// refuses, and the load ends; tasks, which would work on the rows, are off in the server
// of the tests, and reports say so.
func TestRetention(t *testing.T) {
	for name, test := range map[string]struct {
		pairs   []string
		seconds string
		old     bool // rows of 1970 are taken
	}{
		"none":            {nil, "0", true},
		"an hour":         {[]string{optionRetention, "1h", optionShard, "1h"}, "3600", false},
		"long":            {[]string{optionRetention, "876000h", optionShard, "168h"}, "3153600000", true}, // 100 years
		"packed, an hour": {[]string{lineproto.OptionGzip, "on", optionRetention, "1h", optionShard, "1h"}, "3600", false},
	} {
		t.Run(name, func(t *testing.T) {
			var pairs []string
			for option, value := range server(t, append(test.pairs, optionBucket, "tsmark_retention", connection.Timeout, "20s")...) {
				pairs = append(pairs, option, value)
			}
			db := conformance.Open(t, Driver(), t.TempDir(), pairs...)
			defer conformance.Close(t, db)
			table := conformance.Table("usage")
			conformance.Prepare(t, db, 3, table)
			description, err := db.Describe(t.Context())
			if err != nil || description.Settings["bucket retention seconds"] != test.seconds || description.Settings["no-tasks"] != "true" {
				t.Errorf("retention of %s s is wanted, and no tasks: %v, %v", test.seconds, description.Settings, err)
			}
			for when, taken := range map[time.Time]bool{time.Now().Add(-time.Minute): true, time.Unix(1, 0): test.old} {
				b := rowsFrom(table, when)
				w := conformance.Writer(t, db)
				_, err := w.Write(t.Context(), b)
				switch {
				case taken && err != nil:
					t.Errorf("rows from %v: %v", when, err)
				case !taken && (err == nil || !strings.Contains(err.Error(), "give a longer retention, or none")):
					t.Errorf("rows from %v are not refused: %v", when, err)
				}
				conformance.Close(t, w)
			}
			census, err := db.Census(t.Context(), table)
			want := int64(5)
			if test.old {
				want = 10
			}
			if count := census.Fields[table.FieldIndex("usage")].Count; err != nil || count != want {
				t.Errorf("%d values are there of %d, %v", count, want, err)
			}
			sweep(t, db)
		})
	}
}

// rowsFrom is a batch of five rows whose times begin at a time.
func rowsFrom(table *series.Table, begin time.Time) *series.Batch {
	var b series.Batch
	run := b.Add(table)
	conformance.Fill(run, 5, 0, 3)
	for i := range run.Times {
		run.Times[i] += begin.UnixNano()
	}
	return &b
}

// sweep drops what a test has made.
func sweep(t *testing.T, db driver.DB) {
	t.Helper()
	objects, err := db.Objects(t.Context())
	if err == nil {
		err = db.Drop(t.Context(), objects)
	}
	if err != nil {
		t.Error(err)
	}
}
