package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Format is the version of the stored format: a JSON document per run, described in
// docs/results.md. It rises when programs that know only earlier formats would misread a document.
// A new field does not change it.
const Format = 1

// ErrNewer is wrapped by the errors about documents in a format that this program does not know.
var ErrNewer = errors.New("it was written by a newer tsmark")

// document is a run as it is stored: the record without the derived figures of Pool and without the
// time of its import.
type document struct {
	Format int `json:"format"`
	*Run
}

// Encode returns the document of a run. Equal runs have identical documents.
func Encode(r *Run) ([]byte, error) {
	text, err := json.Marshal(document{Format, r.stripDerived()})
	if err != nil {
		return nil, fmt.Errorf("writing the run as JSON: %w", err)
	}
	return text, nil
}

// Decode returns the run of a document. It ignores unknown fields.
func Decode(text []byte) (*Run, error) { return decode(text, false) }

// DecodeStrictly is Decode for an untrusted document: unknown fields are an error.
func DecodeStrictly(text []byte) (*Run, error) { return decode(text, true) }

func decode(text []byte, strict bool) (*Run, error) {
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	switch {
	case head.Format > Format:
		return nil, fmt.Errorf("%w (format %d, this one knows %d)", ErrNewer, head.Format, Format)
	case head.Format < Format:
		return nil, fmt.Errorf("\"format\" is %d in the run's document, not %d", head.Format, Format)
	}
	d := document{Run: new(Run)}
	in := json.NewDecoder(bytes.NewReader(text))
	if strict {
		in.DisallowUnknownFields()
	}
	if err := in.Decode(&d); err != nil {
		return nil, err
	}
	return d.Run.stripDerived(), nil
}

// stripDerived returns the run without the figures derived from its repeats, and without the time
// of its import.
func (r *Run) stripDerived() *Run {
	run := *r
	run.Imported, run.Unchecked = time.Time{}, ""
	run.Targets = slices.Clone(r.Targets)
	for i := range run.Targets {
		t := &run.Targets[i]
		t.Load, t.Queries = nil, nil
		t.Repeats = withholdBeside(t.Repeats, "")
	}
	return &run
}

// Piece is a part of a run that is stored as soon as it is finished, because a run may be killed: a
// target and one of its measurements.
type Piece struct {
	Target Target `json:"target"` // without its repeats
	// Repeat is the number of the repeat that Load or Queries belongs to; 0: the piece is the
	// target alone.
	Repeat  int      `json:"repeat,omitempty"`
	Load    *Load    `json:"load,omitempty"`
	Queries *Queries `json:"queries,omitempty"`
}

// NewPiece returns a piece with the target and, within a repeat, a load or the measurement of a
// query type.
func NewPiece(t *Target, repeat int, l *Load, q *Queries) *Piece {
	p := &Piece{*t, repeat, l, q}
	p.Target.Repeats, p.Target.Load, p.Target.Queries = nil, nil, nil
	return p
}

// Add adds a piece to the run and replaces an earlier version of it.
func (r *Run) Add(p *Piece) {
	at := slices.IndexFunc(r.Targets, func(t Target) bool { return t.Name == p.Target.Name })
	if at < 0 {
		at = len(r.Targets)
		r.Targets = append(r.Targets, Target{})
	}
	t := &r.Targets[at]
	repeats := t.Repeats
	*t = p.Target
	t.Repeats = repeats
	if p.Load != nil {
		t.RepeatOf(p.Repeat).Load = p.Load
	}
	if p.Queries != nil {
		t.RepeatOf(p.Repeat).Put(p.Queries)
	}
}

// Put adds the measurement of a query type to the repeat and replaces an earlier one.
func (r *Repeat) Put(q *Queries) {
	if known := r.Type(q.Type); known != nil {
		*known = *q
		return
	}
	r.Queries = append(r.Queries, *q)
}
