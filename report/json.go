package report

import (
	"io"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// RunJSON is a run as recorded, with values derived from it.
type RunJSON struct {
	*result.Run
	// Figures are the estimates that tables and charts show, of the loads and
	// query types of each target.
	Figures []figureJSON `json:"figures"`
	// Crashes is what crashes did to each target, by kind.
	Crashes []crashJSON `json:"crashes,omitempty"`
	// Headline is the headline of reports; nil: nothing was measured.
	Headline *headlineJSON `json:"headline,omitempty"`
}

// headlineJSON is the headline as text, and the ranking that it names,
// the best first.
type headlineJSON struct {
	Answers []string    `json:"answers"`
	Basis   []string    `json:"basis"`
	Noise   string      `json:"noise,omitempty"`
	Queries []placeJSON `json:"queries,omitempty"` // by the geometric mean of all query types
	Loads   []placeJSON `json:"loads,omitempty"`   // if targets crashed, by acknowledged rows and at proven durability
}

// placeJSON is a target's time as a multiple of the first one's.
type placeJSON struct {
	Target   string          `json:"target"`
	Times    float64         `json:"times"`
	Bound    stats.Bound     `json:"bound,omitempty"` // of times, where queries were cut off
	Interval *stats.Interval `json:"interval,omitempty"`
	Chance   bool            `json:"chance"`          // not shown to differ from the first; of the first, that it is the best was not shown
	Verdict  string          `json:"verdict"`         // as in figures
	Marks    string          `json:"marks,omitempty"` // disturbances: ‡ a noisy host, † client-bound
}

func newHeadlineJSON(g *rank.Group) *headlineJSON {
	h := rank.NewHeadline(g)
	if h == nil {
		return nil
	}
	out := &headlineJSON{Answers: doc.Texts(h.Answers), Basis: h.Basis, Noise: h.Noise.Text}
	for _, to := range []struct {
		from *doc.Ranking
		list *[]placeJSON
	}{{h.Queries, &out.Queries}, {h.Loads, &out.Loads}} {
		if to.from != nil {
			for _, p := range to.from.Places {
				*to.list = append(*to.list, placeJSON{g.Subjects[p.Subject].Name, p.Times, p.Bound, p.Interval, p.Tone == format.ToneDim, p.Verdict, p.Marks})
			}
		}
	}
	return out
}

// figureJSON is an estimate, and how it compares with those of the run's other
// targets.
type figureJSON struct {
	Target   string          `json:"target"`
	StandIn  string          `json:"stand_in,omitempty"` // description of the stand-in for the system; such a figure is not compared
	Subject  string          `json:"subject"`            // a query type, or "load"
	Unit     compare.Unit    `json:"unit"`               // of median and interval
	Median   stats.Value     `json:"median"`
	Interval *stats.Interval `json:"interval,omitempty"`
	Rounds   int             `json:"rounds"`           // or loads, that these are over
	Common   int             `json:"common,omitempty"` // different queries
	// Ratio is the multiple of target Against's figure, so that more is
	// worse; nil: nothing to compare.
	Against       string          `json:"against,omitempty"`
	Ratio         *stats.Value    `json:"ratio,omitempty"`
	RatioInterval *stats.Interval `json:"ratio_interval,omitempty"`
	Verdict       string          `json:"verdict,omitempty"` // best, worse, tie, no verdict and why, or not ranked and why
	// Unverified is the reason why the answers could not be verified, as in "not verified:
	// TSBS's text". Such a figure is not compared.
	Unverified string `json:"unverified,omitempty"`
	// FromRows is the time of the same query type from rows as a multiple of this one, if the
	// subject is answered from an aggregate.
	FromRows         *stats.Value    `json:"from_rows,omitempty"`
	FromRowsInterval *stats.Interval `json:"from_rows_interval,omitempty"`
}

// crashJSON is what crashes of one kind did to a target.
type crashJSON struct {
	Target      string          `json:"target"`
	Kind        string          `json:"crash"`                 // kill, pause or power
	Unsupported string          `json:"unsupported,omitempty"` // why there were no crashes
	Crashes     int             `json:"crashes"`               // that could be judged
	Failed      int             `json:"failed,omitempty"`      // further ones, which could not
	Losing      int             `json:"losing"`                // after which acknowledged rows were missing, torn, wrong or there twice, or the target did not answer
	Bound       float64         `json:"bound,omitempty"`       // largest share of such crashes that may lose rows, with 95 %, if none did
	Acked       int64           `json:"acked"`                 // rows acknowledged before the crashes after which it answered
	Lost        int64           `json:"lost,omitempty"`        // of these, and of rows from before the rounds
	Extra       int64           `json:"extra,omitempty"`       // rows stored, never acknowledged
	Doubled     int64           `json:"doubled,omitempty"`     // rows that the target has twice at the end
	Repeated    int64           `json:"repeated,omitempty"`    // of these, rows that were sent once
	Torn        int64           `json:"torn,omitempty"`        // acknowledged rows with some of their fields only
	Wrong       int64           `json:"wrong,omitempty"`       // rows with other values
	Answers     *stats.Estimate `json:"answers,omitempty"`     // seconds from the start of a restart
	Complete    *stats.Estimate `json:"complete,omitempty"`    // seconds until every acknowledged row was there
}

func newCrashesJSON(g *rank.Group) (list []crashJSON) {
	for _, s := range g.Subjects {
		for _, c := range estimate.CrashesByKind(s.Target) {
			out := crashJSON{Target: s.Name, Kind: c.Kind, Unsupported: c.Unsupported, Crashes: c.Count, Failed: c.Failed, Losing: c.Losing,
				Acked: c.Acked, Lost: c.Lost, Extra: c.Extra, Doubled: c.Doubled, Repeated: c.Repeated, Torn: c.Torn, Wrong: c.Wrong}
			if c.Count > 0 {
				answers, complete := stats.Summarize(c.Answers), stats.Summarize(c.Complete)
				out.Answers, out.Complete = &answers, &complete
				if c.Losing == 0 {
					out.Bound = c.Bound()
				}
			}
			list = append(list, out)
		}
	}
	return list
}

// newFiguresJSON derives the figures of a run by its group.
func newFiguresJSON(g *rank.Group) []figureJSON {
	list := []figureJSON{}
	add := func(i int, ranked rank.Ranking, f figureJSON) {
		e := &ranked.Estimates[i]
		if e.N == 0 {
			return
		}
		f.Target, f.StandIn, f.Median, f.Interval = g.Subjects[i].Name, g.Subjects[i].Target.Description.StandIn, e.Median, e.Interval
		if why := g.ReasonUnranked(i); why != "" {
			f.Verdict = rank.NotRanked + ": " + why
		} else if i == ranked.Reference {
			f.Verdict = ranked.Verdict(i)
		}
		if c := ranked.Figures[i]; c != nil {
			f.Against, f.Ratio, f.RatioInterval, f.Verdict = g.Subjects[ranked.Reference].Name, &c.Ratio, c.Interval, ranked.Verdict(i)
		}
		list = append(list, f)
	}
	for i, s := range g.Subjects {
		ranked := g.RankLoads()
		add(i, ranked, figureJSON{Subject: compare.LoadSubject, Unit: compare.RowsPerSecond, Rounds: ranked.Estimates[i].N})
		for _, t := range g.Types() {
			if q := s.Queries(t.Key); q != nil && rank.HasFigures(q) {
				sample := g.Samples(t.Key)[i]
				f := figureJSON{Subject: t.Key, Unit: compare.Seconds, Rounds: len(sample), Common: sample.Queries()}
				if q.Outcome() == result.Unverified {
					f.Unverified = q.VerdictText()
				}
				if rows, aggregate := result.RawType(t.Key); aggregate {
					if c := estimate.FromRows(s.Target, rows, t.Key); c.Ratio.Bound != stats.Unknown {
						f.FromRows, f.FromRowsInterval = &c.Ratio, c.Interval
					}
				}
				add(i, g.RankType(t.Key), f)
			}
		}
	}
	return list
}

func (p *Report) writeJSON(w io.Writer) error { return write.WriteJSON(w, p.WithFigures()) }

// WithFigures never returns nil, which would be null instead of an empty list.
func (p *Report) WithFigures() []RunJSON {
	list := make([]RunJSON, 0, len(p.runs))
	for i, r := range p.runs {
		list = append(list, RunJSON{withoutLoads(r), newFiguresJSON(p.own[i]), newCrashesJSON(p.own[i]), newHeadlineJSON(p.own[i])})
	}
	return list
}

// withoutLoads returns the run without withheld figures of loads.
func withoutLoads(r *result.Run) *result.Run {
	out := *r
	out.Targets = slices.Clone(r.Targets)
	for i := range out.Targets {
		t := &out.Targets[i]
		t.Repeats = slices.Clone(t.Repeats)
		for j := range t.Repeats {
			t.Repeats[j].Load = withoutFigures(t.Repeats[j].Load)
		}
		t.Load = withoutFigures(t.Load)
	}
	return &out
}

func withoutFigures(l *result.Load) *result.Load {
	if l == nil || l.HasFigures() {
		return l
	}
	return l.WithoutFigures()
}
