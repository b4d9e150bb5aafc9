package store

import (
	"encoding/json"

	"github.com/tsmark/tsmark/result"
)

// Figures are the figures of a run in the views queries and loads: the estimates that reports show,
// which SQL cannot compute. They are computed again whenever the run is saved.
type Figures struct {
	Answer  string        `json:"answer,omitempty"` // the first sentence of the report
	Queries []QueryFigure `json:"queries"`
	Loads   []LoadFigure  `json:"loads"`
}

// QueryFigure is a row of the view queries. Times are seconds; nil: no such figure.
type QueryFigure struct {
	Target   string   `json:"target"`
	Type     string   `json:"type"`
	Verdict  string   `json:"verdict"` // verified, verified (empty), not verified, stand-in, withheld, n/a
	Why      string   `json:"why,omitempty"`
	Median   *float64 `json:"median,omitempty"`
	Bound    string   `json:"bound,omitempty"` // at least or at most, if queries were cut off; otherwise empty
	Low      *float64 `json:"low,omitempty"`   // confidence interval of the median
	High     *float64 `json:"high,omitempty"`
	Level    *float64 `json:"level,omitempty"`
	Rounds   int      `json:"rounds,omitempty"`
	P99      *float64 `json:"p99,omitempty"` // of all queries that were run
	Max      *float64 `json:"max,omitempty"`
	Executed int64    `json:"executed,omitempty"`
	Rate     *float64 `json:"rate,omitempty"` // queries a second
	Workers  int      `json:"workers,omitempty"`
}

// LoadFigure is a row of the view loads. Rates are rows a second.
type LoadFigure struct {
	Target  string   `json:"target"`
	Verdict string   `json:"verdict"` // verified, not verified, stand-in, withheld
	Why     string   `json:"why,omitempty"`
	Rate    *float64 `json:"rate,omitempty"` // until settled, the median of the loads
	Low     *float64 `json:"low,omitempty"`
	High    *float64 `json:"high,omitempty"`
	Level   *float64 `json:"level,omitempty"`
	Loads   int      `json:"loads,omitempty"`
	Rows    int64    `json:"rows"`
	Disk    *int64   `json:"disk,omitempty"` // bytes
	Workers int      `json:"workers"`
	Batch   int      `json:"batch"` // rows
}

// figuresOf returns the column figures of a run: empty while it is running, because the pooled
// figures are known only at the end.
func (s *Store) figuresOf(r *result.Run) (string, error) {
	figures := Figures{Queries: []QueryFigure{}, Loads: []LoadFigure{}}
	if s.figures != nil && r.Status != result.Running {
		pooled, err := r.Pool()
		if err != nil {
			return "", err
		}
		figures = s.figures(pooled)
		figures.Answer = plain(figures.Answer)
		for i := range figures.Queries {
			figures.Queries[i].Why = plain(figures.Queries[i].Why)
		}
		for i := range figures.Loads {
			figures.Loads[i].Why = plain(figures.Loads[i].Why)
		}
	}
	text, err := json.Marshal(figures)
	return string(text), err
}
