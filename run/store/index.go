package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/result"
)

// Summary is a run's entry in a list of runs. Columns next to its document store it.
type Summary struct {
	ID          string
	Name        string
	Command     string
	Started     time.Time
	Finished    time.Time // zero: the run is running, or was killed
	Status      result.Status
	Reason      string // why it is incomplete
	Workload    string // name
	Fingerprint string // of the dataset
	Tool        string // version of tsmark
	Targets     []Target
	Types       int // query types with figures or a reason for missing ones, on any target
	Withheld    int // loads and query types without figures, withheld or failed, including those of mixed phases
	Place       result.Place
	Imported    bool   // from a file
	Answer      string // the first sentence of its report; empty: none yet
}

// Target is a target's entry in a list of runs.
type Target struct {
	Name    string `json:"name"`
	Driver  string `json:"driver"`
	Version string `json:"version,omitempty"` // of the system
	Loaded  bool   `json:"loaded,omitempty"`  // a load of it was started
	Failed  bool   `json:"failed,omitempty"`
}

// TargetNames returns the names of the targets.
func (s *Summary) TargetNames() []string {
	names := make([]string, len(s.Targets))
	for i, t := range s.Targets {
		names[i] = t.Name
	}
	return names
}

// summarize returns the columns for the document of a run.
func summarize(r *result.Run) Summary {
	s := Summary{
		ID: r.ID, Name: plain(r.Name), Command: r.Command, Started: r.Started, Finished: r.Finished, Status: r.Status, Reason: plain(r.Reason),
		Workload: r.Dataset.Spec.Name, Fingerprint: r.Dataset.Fingerprint, Tool: r.Tool.Version, Targets: []Target{}, Place: r.Place,
		Imported: !r.Imported.IsZero(),
	}
	types := make(map[string]bool)
	for i := range r.Targets {
		t := &r.Targets[i]
		loaded, withheld := false, make(map[string]bool)
		for _, repeat := range t.Repeats {
			if l := repeat.Load; l != nil {
				loaded = true
				withheld["load"] = withheld["load"] || l.Withheld != ""
				if l.Mixed != nil {
					for _, q := range l.Mixed.Types {
						withheld["mixed "+q.Type] = withheld["mixed "+q.Type] || q.Withheld != "" || q.Failed != nil
					}
				}
			}
			for _, q := range repeat.Queries {
				types[q.Type] = true
				withheld["type "+q.Type] = withheld["type "+q.Type] || q.Withheld != "" || q.Failed != nil
			}
		}
		s.Targets = append(s.Targets, Target{plain(t.Name), t.Driver, plain(t.Description.Version), loaded, t.Failure != ""})
		for _, is := range withheld {
			if is {
				s.Withheld++
			}
		}
	}
	s.Types = len(types)
	return s
}

// indexed are the columns next to a document, in the order of Summary.values.
const indexed = "name, command, started, finished, status, reason, workload, fingerprint, tool, targets, types, withheld, sweep, point, points, parameters"

func (s *Summary) values() ([]any, error) {
	targets, err := json.Marshal(s.Targets)
	if err != nil {
		return nil, err
	}
	parameters, err := json.Marshal(s.Place.Parameters)
	return []any{
		s.Name, s.Command, timeText(s.Started), timeText(s.Finished), string(s.Status), s.Reason, s.Workload, s.Fingerprint, s.Tool, string(targets),
		s.Types, s.Withheld, s.Place.Sweep, s.Place.Point, s.Place.Points, string(parameters),
	}, err
}

// scan reads the ID, the columns indexed, the import time and the figures.
func (s *Summary) scan(rows *sql.Rows) error {
	var started, targets, parameters, figures string
	var finished, imported sql.NullString
	err := rows.Scan(&s.ID, &s.Name, &s.Command, &started, &finished, &s.Status, &s.Reason, &s.Workload, &s.Fingerprint, &s.Tool, &targets,
		&s.Types, &s.Withheld, &s.Place.Sweep, &s.Place.Point, &s.Place.Points, &parameters, &imported, &figures)
	if err == nil {
		s.Started, err = time.Parse(timeLayout, started)
	}
	if err == nil && finished.Valid {
		s.Finished, err = time.Parse(timeLayout, finished.String)
	}
	if err == nil {
		err = json.Unmarshal([]byte(targets), &s.Targets)
	}
	if err == nil {
		err = json.Unmarshal([]byte(parameters), &s.Place.Parameters)
	}
	var answer struct {
		Answer string `json:"answer"`
	}
	if err == nil {
		err = json.Unmarshal([]byte(figures), &answer)
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", s.ID, err)
	}
	s.Imported, s.Answer = imported.Valid, answer.Answer
	return nil
}

// plain removes NUL from a text, which PostgreSQL does not accept: servers may send any text. The
// document keeps the original.
func plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}

// marks returns n query marks, with commas.
func marks(n int) string { return "?" + strings.Repeat(", ?", n-1) }

// timeLayout has a fixed width, so that texts sort like times. Date functions of SQLite and
// PostgreSQL accept it.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// timeText formats a time for columns: in UTC, the zero time as NULL.
func timeText(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(timeLayout)
}
