package report

import (
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// Subject is a target of a run, by its place among the run's targets. The run is
// pooled: see result.Run.Pooled.
type Subject struct {
	Run    *result.Run
	Target int
}

// Board sets targets of one or several runs beside each other, figure by figure, as
// the comparison of a report does: with the same figures, ratios, ties and marks. All
// of them are to have the same dataset. It is not for several goroutines at a time.
type Board struct{ Group rank.Group }

// NewBoard returns the board of at least one subject.
func NewBoard(subjects ...Subject) *Board {
	g := rank.Group{Dataset: &subjects[0].Run.Dataset}
	for _, s := range subjects {
		t := &s.Run.Targets[s.Target]
		g.Subjects = append(g.Subjects, rank.Subject{Label: t.Label() + " @" + s.Run.ID, Name: t.Name + " @" + s.Run.ID, Run: s.Run, Target: t})
	}
	return &Board{g}
}

// BoardEntry is a board's entry for a subject in one figure.
type BoardEntry struct {
	// Figure is formatted as in tables, as in 1.70 ms, or is the word for a missing figure:
	// withheld, failed, > 1 min, n/a, –.
	Figure string
	// Value is the figure in seconds, or in rows a second; 0: it is not compared, or only a bound.
	Value float64
	// Beside is the multiple of the best figure: 1.00×, ~1.04×; or the reason for having none:
	// empty, not verified, too slow. It is empty if there is nothing to compare with.
	Beside string
	// Marks show disturbances of the measurement: ‡ a noisy host, † client-bound; § if the run has
	// other doubts. BoardMarks explains each mark.
	Marks string
	Best  bool // shown to be better than every other
	Wrong bool // withheld or failed
	Valid bool // verified, and with a figure that is compared; no other is
	// Checked says whether it was verified: verified, not verified, withheld, failed,
	// > 1 min, n/a.
	Checked string
	// Why is the reason for a missing or unverified figure, or empty.
	Why string
}

// Loads are the settled rates of the subjects' loads, in rows a second.
func (b *Board) Loads() []BoardEntry {
	g := &b.Group
	r, _ := rank.LoadRow(g)
	return b.entries(r, g.RankLoads().Estimates, compare.LoadSubject, func(s *rank.Subject, out *BoardEntry) {
		switch l := s.Target.Load; {
		case l == nil:
		case l.UnsupportedReason() != "":
			out.Checked, out.Why = "n/a", l.Reason()
		case !l.HasFigures():
			out.Checked, out.Why = "withheld", l.Reason()
		case l.Unverified != "":
			out.Figure, out.Checked, out.Why = format.PerSecondOf(estimate.SettledRate(l)), "not verified", l.Unverified
			out.Beside, out.Valid = out.Checked, false
		default:
			out.Checked = "verified"
		}
	})
}

// Type is the median service times of a query type.
func (b *Board) Type(queryType string) []BoardEntry {
	return b.entries(rank.TypeRow(&b.Group, queryType), b.Group.RankType(queryType).Estimates, queryType, func(s *rank.Subject, out *BoardEntry) {
		switch q := s.Queries(queryType); q.Outcome() {
		case result.NotRun:
		case result.Unsupported, result.Failed:
			out.Checked, out.Why = q.MissingFigure()
		case result.Withheld:
			out.Checked, out.Why = "withheld", q.Reason()
			if d := q.Verdict.Difference; d != "" && !strings.Contains(out.Why, d) {
				out.Why += ": " + d
			}
		case result.Unverified:
			out.Checked, out.Why = q.Verdict.String(), s.Run.UnverifiedParts()
		default:
			out.Checked = q.VerdictText()
		}
	})
}

// entries returns the entries of a row of a comparison, which has two cells a subject. more
// adds the facts that a comparison leaves to other tables.
func (b *Board) entries(r doc.Row, estimates []stats.Estimate, what string, more func(*rank.Subject, *BoardEntry)) []BoardEntry {
	list := make([]BoardEntry, len(b.Group.Subjects))
	for i := range list {
		s := &b.Group.Subjects[i]
		figure, times := r.Cells[1+2*i], r.Cells[2+2*i]
		marks := rank.Marks(s.Target, what)
		list[i] = BoardEntry{
			Figure: strings.TrimSuffix(figure.Text, marks), Beside: times.Text,
			Best: times.Tone == format.ToneBest, Wrong: figure.Tone == format.ToneBad, Valid: figure.Tone != format.ToneBad && figure.Tone != format.ToneDim,
		}
		more(s, &list[i])
		if e := &estimates[i]; list[i].Valid && b.Group.ReasonUnranked(i) == "" && e.N > 0 && e.Median.Bound == stats.Exact {
			list[i].Value = e.Median.Figure
		}
		list[i].Marks = marks + runMarks(s.Run)
	}
	return list
}

// runMarks returns marks about the rest of a run that readers of a single figure need.
func runMarks(r *result.Run) string {
	text := ""
	if Doubt(r) != "" {
		text += rank.DoubtMark
	}
	if r.NotMeasuredHere() != "" {
		text += rank.ImportedMark
	}
	return text
}

// Doubt says why a figure of a run is not to be read without the others: the run is
// not complete, or some of it is withheld or was not verified. Empty: there is no
// reason.
func Doubt(r *result.Run) string {
	if o := facts.Outcome(r); o.Tone != format.ToneBest {
		return o.Text
	}
	for i := range r.Targets {
		for j := range r.Targets[i].Queries {
			if q := &r.Targets[i].Queries[j]; q.Outcome() == result.Unverified {
				return "complete, answers of " + q.Type + " not verified"
			}
		}
	}
	return ""
}

// BoardMarks explains each mark of the entries.
func BoardMarks() []doc.Mark {
	return append([]doc.Mark{
		{Sign: rank.DoubtMark, Note: "of the same run something is withheld, not verified, failed or missing; its page says what."},
		{Sign: rank.ImportedMark, Note: "imported, not measured here: the figure is what the file of its run says."},
	}, rank.PageMarks()...)
}
