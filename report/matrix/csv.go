package matrix

import (
	"cmp"
	"io"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// WriteCSV lays out each pair of matrices like IoTDB-Benchmark's CSV:
// the configuration, the result matrix, the latency matrix, and the times of creating
// tables and of the test. Columns that IoTDB-Benchmark does not have follow its
// own. A figure that was not recorded is empty.
func WriteCSV(w io.Writer, runs []*result.Run) error {
	out := write.NewCSV(w)
	for _, r := range runs {
		list := List(r)
		for i := range list {
			for _, line := range matrixLines(r, &list[i]) {
				if err := out.Write(line); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

func matrixLines(r *result.Run, m *Matrices) [][]string {
	lines := [][]string{{"Main Configurations"}}
	for _, f := range matrixFacts(r, m) {
		lines = append(lines, []string{f.Key, f.Value})
	}
	head := []string{"Operation"}
	for _, f := range resultFigures() {
		head = append(head, f.head)
	}
	lines = append(lines, []string{"Result Matrix"}, append(head, "remark"))
	for i := range m.Operations {
		o := &m.Operations[i]
		var figures []result.Value
		for _, f := range resultFigures() {
			figures = append(figures, f.of(o))
		}
		lines = append(lines, matrixLine(o, figures, 1))
	}
	head = []string{"Operation"}
	for _, metric := range Metrics() {
		head = append(head, metric.Name)
	}
	lines = append(lines, []string{"Latency (ms) Matrix"}, append(head, "remark"))
	for i := range m.Operations {
		o := &m.Operations[i]
		var figures []result.Value
		for _, metric := range Metrics() {
			figures = append(figures, metric.Of(&o.Latency))
		}
		lines = append(lines, matrixLine(o, figures, 1e3))
	}
	return append(lines,
		[]string{"Schema cost(s)", csvValue(m.SchemaCost, 1)},
		[]string{"Test elapsed time (not include schema creation)(s)", csvValue(m.Elapsed, 1)})
}

// matrixLine returns a line of a matrix, with its figures in a unit.
func matrixLine(o *Operation, figures []result.Value, unit float64) []string {
	line := []string{o.Name}
	for _, v := range figures {
		text := csvValue(v, unit)
		if o.Unsupported != "" {
			text = "n/a"
		}
		line = append(line, text)
	}
	return append(line, cmp.Or(o.Reason(), o.Unverified))
}

// csvValue writes nine digits, as write.WriteCSV does, but never an exponent.
func csvValue(v result.Value, unit float64) string {
	if !v.IsKnown() {
		return ""
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v)*unit, 'g', 9, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// matrixFacts returns the configuration in short; --experiment prints all of it.
func matrixFacts(r *result.Run, m *Matrices) []doc.Fact {
	phase := "one operation after the other"
	if m.Mixed {
		phase = "all operations at once"
	}
	list := []doc.Fact{
		{Key: "run", Value: r.ID}, {Key: "name", Value: r.Name}, {Key: "status", Value: string(r.Status)}, {Key: "started", Value: r.Started.UTC().Format(time.RFC3339)},
		{Key: "workload", Value: r.Dataset.Spec.Name}, {Key: "fingerprint", Value: r.Dataset.Fingerprint}, {Key: "target", Value: m.Target}, {Key: "phase", Value: phase},
	}
	if why := r.NotMeasuredHere(); why != "" {
		list = append(list, doc.Fact{Key: "origin", Value: why})
	}
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Name != m.Target {
			continue
		}
		list = append(list, doc.Fact{Key: "driver", Value: t.Driver}, doc.Fact{Key: "version", Value: facts.Version(&t.Description)})
		if m.StandIn != "" {
			list = append(list, doc.Fact{Key: "stand-in", Value: m.StandIn})
		}
		if l := t.Load; l != nil {
			list = append(list, doc.Fact{Key: "batch size", Value: strconv.Itoa(l.BatchSize)}, doc.Fact{Key: "writing clients", Value: strconv.Itoa(l.Workers)})
		}
	}
	return list
}
