package report

import (
	"bufio"
	"fmt"
	"io"

	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/matrix"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// WriteMatrices renders the matrices of runs, of any workload. CSV is laid out
// as IoTDB-Benchmark's own, a block for each target and phase; JSON is an array
// of runs with their matrices; HTML is Write's page with the matrices of all
// runs, where otherwise only those of the workload iotdb have them. Its errors
// are as Write's.
func WriteMatrices(w io.Writer, format write.Format, runs []*result.Run, opts write.Options) error {
	var err error
	switch format {
	case write.Text:
		err = writeMatricesText(w, runs, opts)
	case write.Markdown:
		err = writeMatricesMarkdown(w, runs)
	case write.CSV:
		err = matrix.WriteCSV(w, runs)
	case write.JSON:
		err = writeMatricesJSON(w, runs)
	case write.HTML:
		err = Of(runs...).writeHTML(w, write.IoTDB, opts)
	default:
		return write.UnknownFormat(format, "matrices")
	}
	if err != nil {
		return fmt.Errorf("writing the matrices as %s: %w", format, err)
	}
	return nil
}

func writeMatricesText(w io.Writer, runs []*result.Run, opts write.Options) error {
	t := write.NewText(w, opts, "CSV, JSON and HTML have all")
	for i, r := range runs {
		if i > 0 {
			t.Line("")
		}
		t.Head(r)
		for _, view := range matrix.Tables(r) {
			t.Table(view)
		}
	}
	return t.Flush()
}

func writeMatricesMarkdown(w io.Writer, runs []*result.Run) error {
	m := write.MarkdownWriter{Writer: bufio.NewWriter(w)}
	for _, r := range runs {
		m.Head(r)
		m.Preamble(facts.Alerts(r), facts.List(r), "")
		m.Tables(matrix.Tables(r))
	}
	return m.Flush()
}

// runMatrices is a run in the JSON of matrices.
type runMatrices struct {
	Run      string            `json:"run"`
	Name     string            `json:"name,omitempty"`
	Status   result.Status     `json:"status"`
	Imported string            `json:"imported,omitempty"` // that it was not measured here
	Matrices []matrix.Matrices `json:"matrices"`
}

func writeMatricesJSON(w io.Writer, runs []*result.Run) error {
	list := make([]runMatrices, 0, len(runs))
	for _, r := range runs {
		list = append(list, runMatrices{r.ID, r.Name, r.Status, r.NotMeasuredHere(), matrix.Of(r)})
	}
	return write.Indented(w, list)
}
