package rank

import (
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/result"
)

// ImportedMark follows figures of runs that came from a file.
const ImportedMark = "¶"

// DoubtMark follows figures of runs with other doubts.
const DoubtMark = "§"

// NoisyMark follows figures that other processes disturbed during the measurement.
const NoisyMark = "‡"

const NoisyNote = NoisyMark + " noisy host: other processes or the hypervisor used part of the machine during the measurement; on a quiet host the figure may be better."

// StandInMark follows figures of a stand-in.
const StandInMark = "¤"

const StandInNote = StandInMark + " stand-in: what answered is not a server of the system as its users run it; its figures say nothing about the system and are not compared."

// phaseNoise is the use of the machine by other processes during a measurement, in all its
// repeats.
type phaseNoise struct {
	Name   string
	Phases []*result.Noise
}

// PhaseNoises lists the watched measurements of a target, including the steps after its load and its
// mixed phase.
func PhaseNoises(t *result.Target) []phaseNoise {
	var list []phaseNoise
	add := func(name string, phases ...*result.Noise) {
		phases = slices.DeleteFunc(phases, func(n *result.Noise) bool { return n == nil })
		if len(phases) > 0 {
			list = append(list, phaseNoise{name, phases})
		}
	}
	for _, m := range Measurements(t) {
		var phases []*result.Noise
		for _, c := range m.Cells {
			phases = append(phases, c.Noise)
		}
		add(m.Name, phases...)
		if m.Name == compare.LoadSubject && t.Load != nil {
			for i := range t.Load.Steps {
				add("step "+t.Load.Steps[i].Name, t.Load.Steps[i].Noise)
			}
			if t.Load.Mixed != nil {
				add(compare.MixedSubject, t.Load.Mixed.Writes.Noise)
			}
		}
	}
	return list
}

// Reason returns why a measurement was disturbed, or "" if it was not.
func (h *phaseNoise) Reason() string { return result.Disturbance(h.Phases...) }

// NoiseReasons says of each measurement of a target that was disturbed why it was.
func NoiseReasons(t *result.Target) map[string]string {
	found := map[string]string{}
	for _, h := range PhaseNoises(t) {
		if why := h.Reason(); why != "" {
			found[h.Name] = why
		}
	}
	return found
}

// Marks returns the marks behind a figure of a target: that it is a stand-in's, that the
// client may have set its pace, and that other processes disturbed it. For a figure over
// all query types the second argument is compare.AllTypes.
func Marks(t *result.Target, what string) string {
	marks := ""
	if t.Description.StandIn != "" {
		marks = StandInMark
	}
	for _, m := range []struct {
		mark string
		of   map[string]string
	}{{BoundMark, ClientBounds(t)}, {NoisyMark, NoiseReasons(t)}} {
		_, marked := m.of[what]
		if marked || what == compare.AllTypes && len(MarkedTypes(t, m.of)) > 0 {
			marks += m.mark
		}
	}
	return marks
}

// MarkedTypes returns the query types of a target that are in marked, in the order
// run.
func MarkedTypes(t *result.Target, marked map[string]string) []string {
	var list []string
	for _, q := range t.Queries {
		if _, ok := marked[q.Type]; ok {
			list = append(list, q.Type)
		}
	}
	return list
}

// FigureMarks are the marks behind figures of runs.
func FigureMarks() []doc.Mark {
	return []doc.Mark{{Sign: StandInMark, Note: StandInNote}, {Sign: BoundMark, Note: BoundNote}, {Sign: NoisyMark, Note: NoisyNote}}
}

// PageMarks are the marks that pages have as icons.
func PageMarks() []doc.Mark {
	return append(FigureMarks(), doc.Mark{Sign: ChanceMark, Note: TieNote, Leading: true})
}

// MarkNotes explains the marks in rows.
func MarkNotes(rows []doc.Row) []doc.Span {
	var notes []doc.Span
	for _, m := range FigureMarks() {
		if slices.ContainsFunc(rows, func(r doc.Row) bool {
			return slices.ContainsFunc(r.Cells, func(c doc.Span) bool { return strings.Contains(c.Text, m.Sign) })
		}) {
			notes = append(notes, doc.Dim(m.Note))
		}
	}
	return notes
}

// CoversNote describes the variation that intervals and verdicts cover.
const CoversNote = "Intervals and verdicts cover what differed between the rounds and loads of this run: not another day, another machine or other data."

const (
	OneRound = "1 round"
	OneLoad  = "1 load"
	TieNote  = ChanceMark + " not shown to differ from the best (Mann-Whitney over rounds or loads, corrected by Holm for the number of figures of two targets, 5 %), which does not prove that they are equal."
)
