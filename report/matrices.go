package report

import (
	"fmt"
	"io"

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
		err = write.WriteText(w, matrixDocument(runs), opts)
	case write.Markdown:
		err = write.WriteMarkdown(w, matrixDocument(runs))
	case write.CSV:
		err = matrix.WriteCSV(w, runs)
	case write.JSON:
		err = writeMatricesJSON(w, runs)
	case write.HTML:
		err = write.WriteHTML(w, New(runs...).document(write.IoTDB), opts)
	default:
		return write.UnknownFormat(format, "matrices")
	}
	if err != nil {
		return fmt.Errorf("writing the matrices as %s: %w", format, err)
	}
	return nil
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
		list = append(list, runMatrices{r.ID, r.Name, r.Status, r.NotMeasuredHere(), matrix.List(r)})
	}
	return write.WriteJSON(w, list)
}
