package workload_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Steps have all rows of the dataset in their order, each in tables with the columns that
// there are by then, in batches of any size.
func TestSteps(t *testing.T) {
	for _, size := range []int{1, 7, 1000} {
		s := small()
		s.Name, s.End, s.NewTags, s.NewFields = "cpu-only", s.Start.Add(5*time.Minute), 2, 3
		want := lines(t, tsbs.CPUOnly(), s, size)
		d, err := tsbs.CPUOnly().Dataset(s)
		if err != nil {
			t.Fatal(err)
		}
		steps, err := d.(workload.Growing).Steps()
		if err != nil || len(steps) != 3 {
			t.Fatalf("%d steps, error %v", len(steps), err)
		}
		var got []string
		for i, step := range steps {
			table := step.Schema().Tables[0]
			if tags, fields := []int{8, 10, 10}[i], []int{7, 7, 10}[i]; len(table.Tags) != tags || len(table.Fields) != fields {
				t.Errorf("step %d has %d tags and %d fields, want %d and %d", i+1, len(table.Tags), len(table.Fields), tags, fields)
			}
			encoder := encode.NewLineProtocol(step.Schema())
			var text []byte
			var b series.Batch
			rows := int64(0)
			for r := step.Open(); ; {
				err := r.Next(&b, size)
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil || b.Rows() > size || b.Rows() == 0 {
					t.Fatalf("%d rows of %d, error %v", b.Rows(), size, err)
				}
				rows += int64(b.Rows())
				text = encoder.Append(text, &b)
			}
			if rows != step.Rows || rows != int64(len(want)/3) {
				t.Errorf("step %d has %d rows, says %d, and a third is %d", i+1, rows, step.Rows, len(want)/3)
			}
			got = append(got, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("batches of %d (-dataset +steps):\n%s", size, diff)
		}
		if want := []string{"cpu.service_version", "cpu.service_environment"}; !cmp.Equal(want, steps[1].Tags) || steps[1].Fields != nil || len(steps[2].Fields) != 3 || steps[2].Tags != nil {
			t.Errorf("the steps bring %v and %v, then %v and %v", steps[1].Tags, steps[1].Fields, steps[2].Tags, steps[2].Fields)
		}
	}
}
