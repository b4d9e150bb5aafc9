package ingest_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
)

// typedDataset is a dataset with fields of every type; unaligned rows have one each.
func typedDataset(t *testing.T, unaligned bool) workload.Dataset {
	t.Helper()
	start := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := iotdb.Workload().Dataset(workload.Spec{
		Name: "iotdb", Seed: 5, Scale: 5, Start: start, End: start.Add(time.Hour), Interval: time.Minute,
		Settings: workload.Settings{"iotdb.types": "1:1:1:1:1:1:1:1:1:1", "iotdb.text-length": "4", "iotdb.unaligned": fmt.Sprint(unaligned)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Values of every type are read back from the formats, NULLs too.
func TestTypesAreReadBack(t *testing.T) {
	for _, format := range formats() {
		for _, unaligned := range []bool{false, true} {
			d := typedDataset(t, unaligned)
			want := text(t, d, format)
			got := dataset(t, open(t, "-", want), d.Schema())
			e := encoder(t, format, d.Schema())
			if back := append(e.AppendHeader(nil), rowsText(t, got.Open(), e, 100)...); !bytes.Equal(back, want) {
				t.Errorf("%s: differs from %s", format, difference(back, want))
			}
		}
	}
}

// A value that does not belong to its type is rejected with its line.
func TestValuesOfOtherTypes(t *testing.T) {
	d := typedDataset(t, false)
	good := string(text(t, d, "influx"))
	line := strings.SplitAfter(good, "\n")[0]
	_, fields, _ := strings.Cut(line, " ")
	values := strings.Split(strings.Split(fields, " ")[0], ",")
	for bad, want := range map[string]string{
		"s_0=1i": `"1i" is not a boolean`, "s_1=2147483648i": `"2147483648" is not of type int32`, "s_3=t": "is not a decimal number",
		"s_5=t": "is not a string", `s_5="abcde"`: "is not of type text4", `s_7="a-bc"`: `"a-bc" is not of type blob`, `s_9="2022"`: "is not an integer",
	} {
		name, _, _ := strings.Cut(bad, "=")
		for _, v := range values {
			if strings.HasPrefix(v, name+"=") {
				_, _, err := read(t, strings.Replace(line, v, bad, 1), d.Schema(), 0)
				if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "line 1: column "+name) {
					t.Errorf("%s: error %v, want %s", bad, err, want)
				}
			}
		}
	}
}
