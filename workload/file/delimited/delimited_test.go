package delimited

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/workload/file/input"
)

// Records are those of encoding/csv, wherever that takes the text.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "\"a\"\"b\",\n\n,c", "\"x\ny\",1\n\"\"\n", "a\"b,c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\r") || strings.HasPrefix(text, "\ufeff") {
			return // line ends within quotes are kept here
		}
		if input.CheckText([]byte(text)) != nil {
			return // another encoding or format, which is refused as such
		}
		ours := Records{Lines: input.NewLineReader(strings.NewReader(text)), delimiter: ','}
		theirs := csv.NewReader(strings.NewReader(text))
		theirs.FieldsPerRecord = -1
		for {
			want, err := theirs.Read()
			if err != nil && !errors.Is(err, io.EOF) {
				break // a quote within a cell is not refused here
			}
			line := 0
			if err == nil {
				line, _ = theirs.FieldPos(0)
			}
			cells, failure := ours.Next()
			if errors.Is(err, io.EOF) != errors.Is(failure, io.EOF) {
				t.Fatalf("%q: %v, and encoding/csv %v", text, failure, err)
			}
			if err != nil {
				return
			}
			var got []string
			for _, c := range cells {
				got = append(got, string(c))
			}
			if !slices.Equal(got, want) || ours.Lines.Line != int64(line) {
				t.Fatalf("%q: line %d has %q, and by encoding/csv line %d %q", text, ours.Lines.Line, got, line, want)
			}
		}
		for i := 0; i < 100; i++ {
			if _, err := ours.Next(); err != nil {
				return
			}
		}
	})
}
