// Package session manages the data of tsmark in a database, in the same way for every driver: it
// marks loaded data, replaces it, and does not touch objects that tsmark did not create.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// ErrNoMark means that the database holds no data loaded by tsmark.
var ErrNoMark = errors.New("holds no dataset of tsmark's")

// Session is an open database as loads see it. It has no state of its own: its state is in the
// database's note.
type Session struct {
	db    driver.DB
	first *series.Schema // schema that Prepare creates instead of its argument; nil: the argument
}

// New returns a session for a database. The caller closes the database.
func New(db driver.DB) Session { return Session{db: db} }

// Beginning returns a session whose Prepare makes room for a whole schema and owns all of its
// objects, but creates only first: the tags and fields of the first rows.
func (s Session) Beginning(first *series.Schema) Session {
	s.first = first
	return s
}

// Mark returns the mark of the dataset in the database. Its error wraps ErrNoMark if tsmark loaded
// nothing, and driver.ErrExisting, with the existing objects, if the place holds data that tsmark
// did not create.
func (s Session) Mark(ctx context.Context) (Mark, error) {
	p, err := s.look(ctx)
	if err == nil {
		err = s.checkMark(ctx, p)
	}
	if err != nil {
		return Mark{}, fmt.Errorf("reading the mark: %w", err)
	}
	return p.stamp.Mark, nil
}

// SetMark replaces the mark of a prepared database.
func (s Session) SetMark(ctx context.Context, m Mark) error {
	p, err := s.look(ctx)
	if err == nil {
		err = s.checkMark(ctx, p)
	}
	if err == nil {
		p.stamp.Mark = m
		err = s.note(ctx, p.stamp)
	}
	if err != nil {
		return fmt.Errorf("writing the mark: %w", err)
	}
	return nil
}

// OwnObjects returns the existing objects that tsmark created.
func (s Session) OwnObjects(ctx context.Context) ([]driver.Object, error) {
	p, err := s.look(ctx)
	if err == nil {
		err = s.checkMark(ctx, p)
	}
	if err != nil {
		return nil, fmt.Errorf("listing what tsmark made: %w", err)
	}
	return p.ownObjects(), nil
}

// Inspect returns why a dataset of the schema could not be loaded, as far as this can be checked
// without changing anything; like Prepare it returns driver.ErrExisting. The schema is nil until
// the mark that names the dataset has been read.
func (s Session) Inspect(ctx context.Context, schema *series.Schema) error {
	if s.db.Inspect != nil {
		if err := s.db.Inspect(ctx); err != nil {
			return err
		}
	}
	if schema == nil {
		return nil
	}
	if _, _, err := s.replaceable(ctx, schema); err != nil {
		return fmt.Errorf("reading the database's note and objects: %w", err)
	}
	return nil
}

// Existing lists the objects that prevent Prepare: without a mark all data, with a mark the objects
// that tsmark did not create and that conflict with the schema.
func (s Session) Existing(ctx context.Context, schema *series.Schema) ([]driver.Object, error) {
	p, err := s.look(ctx)
	var planned []driver.Object
	if err == nil {
		planned, err = s.plan(schema)
	}
	if err != nil {
		return nil, fmt.Errorf("listing objects: %w", err)
	}
	return p.inTheWay(planned), nil
}

// CheckAlone returns an error that wraps driver.ErrExisting if the place holds any data that tsmark did not create, in the
// way of a load or not.
func (s Session) CheckAlone(ctx context.Context) error {
	p, err := s.look(ctx)
	if err != nil {
		return fmt.Errorf("listing objects: %w", err)
	}
	others := slices.DeleteFunc(p.otherObjects(), func(o driver.Object) bool { return !o.Data })
	if len(others) == 0 {
		return nil
	}
	name, elsewhere := s.describePlace(ctx)
	return fmt.Errorf("%s %w: %s; %s", name, driver.ErrExisting, nameFirst(others), elsewhere)
}

// Drop drops the named objects that Existing still lists. It leaves objects that have appeared
// since, and Prepare refuses again.
func (s Session) Drop(ctx context.Context, schema *series.Schema, named []string) error {
	found, err := s.Existing(ctx, schema)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(o driver.Object) bool { return !slices.Contains(named, o.String()) })
	if err := s.db.Drop(ctx, found); err != nil {
		return fmt.Errorf("dropping %s: %w", strings.Join(Names(found), ", "), err)
	}
	return nil
}

// Clear drops all objects that tsmark created, and the mark with the object that holds it. It
// touches nothing else.
func (s Session) Clear(ctx context.Context) error {
	p, err := s.look(ctx)
	if err == nil {
		err = s.checkMark(ctx, p)
	}
	if err != nil {
		return fmt.Errorf("clearing: %w", err)
	}
	if own := p.ownObjects(); len(own) > 0 {
		err = s.db.Drop(ctx, own)
	}
	if err == nil {
		notes := slices.DeleteFunc(p.present, func(o driver.Object) bool { return !o.Note })
		err = s.db.Drop(ctx, notes)
	}
	if err != nil {
		return fmt.Errorf("clearing: %w", err)
	}
	return nil
}

// Prepare drops the objects that tsmark created, creates those of the schema and writes the mark.
// It never touches objects that tsmark did not create: its error then wraps driver.ErrExisting.
// However it ends, even if killed, the note then names tsmark's objects and has no mark of dropped
// data. m must not be the mark of a complete load.
func (s Session) Prepare(ctx context.Context, schema *series.Schema, m Mark) error {
	p, planned, err := s.replaceable(ctx, schema)
	if err == nil {
		err = s.replace(ctx, p, m)
	}
	if err == nil {
		err = s.create(ctx, p, schema, planned, m)
	}
	if err != nil {
		return fmt.Errorf("preparing: %w", err)
	}
	return nil
}

// replace drops the objects that tsmark created. It first notes that the dataset is incomplete, and
// restores the mark if nothing could be dropped.
func (s Session) replace(ctx context.Context, p *place, m Mark) error {
	own := p.ownObjects()
	if len(own) == 0 {
		return nil
	}
	going := *p.stamp
	going.Mark = m
	if err := s.note(ctx, &going); err != nil {
		return err
	}
	err := s.db.Drop(ctx, own)
	if err == nil {
		return nil
	}
	later, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace) // an interrupt may have caused the failure
	defer cancel()
	if now, lookErr := s.look(later); lookErr == nil && now.stamp != nil && len(now.ownObjects()) == len(own) {
		_ = s.note(later, p.stamp) // err already reports the failure
	}
	return err
}

// grace is the time limit for restoring the mark of a dataset that could not be dropped.
const grace = 5 * time.Second

// create creates the objects of the schema. It notes their names before and their identities after
// creating them.
func (s Session) create(ctx context.Context, p *place, schema *series.Schema, planned []driver.Object, m Mark) error {
	next := &stamp{Mark: m, Tables: []string{}}
	for _, o := range planned {
		// Objects that other users created before remain theirs.
		theirs := slices.ContainsFunc(p.otherObjects(), func(t driver.Object) bool { return t.Clashes(o) })
		if o.Of == "" && !theirs {
			next.add(o)
		}
	}
	if err := s.note(ctx, next); err != nil {
		return err
	}
	if s.first != nil {
		schema = s.first
	}
	if err := s.db.Create(ctx, schema); err != nil {
		return err
	}
	present, err := s.db.Objects(ctx)
	if err != nil {
		return err
	}
	next.identify(present)
	return s.note(ctx, next)
}

// Extend calls do to create objects that belong to the dataset and are dropped with it. It notes
// their names before and their identities after creating them. If an object of the name exists it
// creates nothing, and its error wraps driver.ErrExisting.
func (s Session) Extend(ctx context.Context, planned []driver.Object, do func(context.Context) error) error {
	p, err := s.look(ctx)
	if err == nil {
		err = s.checkMark(ctx, p)
	}
	if err != nil {
		return err
	}
	for _, o := range planned {
		if at := slices.IndexFunc(p.present, o.Clashes); at >= 0 {
			name, elsewhere := s.describePlace(ctx)
			return fmt.Errorf("%s %w: %s; drop it or %s", name, driver.ErrExisting, p.present[at], elsewhere)
		}
	}
	for _, o := range planned {
		if o.Of == "" {
			p.stamp.add(o)
		}
	}
	if err := s.note(ctx, p.stamp); err != nil {
		return err
	}
	if err := do(ctx); err != nil {
		return err
	}
	present, err := s.db.Objects(ctx)
	if err != nil {
		return err
	}
	p.stamp.identify(present)
	return s.note(ctx, p.stamp)
}

// replaceable returns the place and the objects to create in it, or an error that wraps
// driver.ErrExisting.
func (s Session) replaceable(ctx context.Context, schema *series.Schema) (*place, []driver.Object, error) {
	planned, err := s.plan(schema)
	if err != nil {
		return nil, nil, err
	}
	p, err := s.look(ctx)
	if err != nil {
		return nil, nil, err
	}
	others := p.inTheWay(planned)
	switch {
	case len(others) == 0:
		return p, planned, nil
	case p.stamp == nil:
		return nil, nil, s.refusal(ctx, p)
	}
	text := nameFirst(others)
	if at := slices.IndexFunc(others, p.stamp.isTaken); at >= 0 {
		text = fmt.Sprintf("%v, which is not the one that tsmark made under that name", others[at])
	}
	name, elsewhere := s.describePlace(ctx)
	return nil, nil, fmt.Errorf("%s %w: %s; drop it or %s", name, driver.ErrExisting, text, elsewhere)
}

// plan returns the objects of the schema.
func (s Session) plan(schema *series.Schema) ([]driver.Object, error) {
	if schema == nil {
		return nil, nil
	}
	return s.db.Plan(schema)
}

// place is the contents of a database and its note.
type place struct {
	present []driver.Object
	stamp   *stamp // nil: not a note of tsmark
	damage  error  // why the existing note is not a note of tsmark
}

// look reads the objects and the note of the database.
func (s Session) look(ctx context.Context) (*place, error) {
	present, err := s.db.Objects(ctx)
	if err != nil {
		return nil, err
	}
	p := &place{present: present}
	if !slices.ContainsFunc(present, func(o driver.Object) bool { return o.Note }) {
		return p, nil
	}
	text, err := s.db.Note(ctx)
	denied := (*driver.DeniedError)(nil)
	switch {
	case errors.As(err, &denied), errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrUnreachable):
		return nil, err
	case err == nil && text == "":
		return p, nil // tsmark was killed before it wrote a note
	case err == nil:
		p.stamp, err = parseStamp(text)
	}
	if err != nil {
		p.stamp, p.damage = nil, err
	}
	return p, nil
}

// ownObjects returns the objects that tsmark created.
func (p *place) ownObjects() []driver.Object {
	return slices.DeleteFunc(slices.Clone(p.present), func(o driver.Object) bool { return o.Note || p.stamp == nil || !p.stamp.owns(o) })
}

// otherObjects returns the objects that tsmark did not create and that do not belong to its own.
func (p *place) otherObjects() []driver.Object {
	own := p.ownObjects()
	return slices.DeleteFunc(slices.Clone(p.present), func(o driver.Object) bool {
		if o.Note && p.damage == nil {
			return true
		}
		return slices.ContainsFunc(own, func(mine driver.Object) bool {
			return o.Schema == "" && (o.Name == mine.Name && o.Of == "" || o.Of == mine.Name)
		})
	})
}

// inTheWay returns the other objects that conflict with the planned ones.
func (p *place) inTheWay(planned []driver.Object) []driver.Object {
	found := slices.DeleteFunc(p.otherObjects(), func(o driver.Object) bool {
		if p.stamp == nil {
			return !o.Data
		}
		return !o.InTheWay && !slices.ContainsFunc(planned, o.Clashes)
	})
	return slices.DeleteFunc(slices.Clone(found), func(o driver.Object) bool {
		return slices.ContainsFunc(found, func(of driver.Object) bool { return o.Of != "" && o.Of == of.Name }) // belongs to that object
	})
}

// checkMark returns the error for a place without a mark; nil: it has a mark.
func (s Session) checkMark(ctx context.Context, p *place) error {
	switch {
	case p.stamp != nil:
		return nil
	case len(p.inTheWay(nil)) > 0:
		return s.refusal(ctx, p)
	}
	name, _ := s.describePlace(ctx)
	return fmt.Errorf("%s %w", name, ErrNoMark)
}

// refusal returns the error for a place that does not belong to tsmark.
func (s Session) refusal(ctx context.Context, p *place) error {
	name, elsewhere := s.describePlace(ctx)
	text := nameFirst(p.inTheWay(nil))
	if p.damage != nil {
		at := slices.IndexFunc(p.present, func(o driver.Object) bool { return o.Note })
		text = fmt.Sprintf("its %v is not as tsmark writes it (%v)", p.present[at], p.damage)
	}
	return fmt.Errorf("%s %w: %s; %s", name, driver.ErrExisting, text, elsewhere)
}

// describePlace names the place and says how to use another one.
func (s Session) describePlace(ctx context.Context) (name, elsewhere string) {
	name, elsewhere = "the database", "place"
	if d, err := s.db.Describe(ctx); err == nil {
		name, elsewhere = cmp.Or(d.Location, name), cmp.Or(d.Elsewhere, elsewhere)
	}
	return name, "give another " + elsewhere
}

// note writes a stamp.
func (s Session) note(ctx context.Context, t *stamp) error {
	text, err := t.text()
	if err != nil {
		return err
	}
	return s.db.SetNote(ctx, text)
}

// Names returns the objects as shown to users.
func Names(objects []driver.Object) []string {
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = o.String()
	}
	return names
}

// nameFirst names the first few objects.
func nameFirst(objects []driver.Object) string {
	const shown = 3
	text := strings.Join(Names(objects[:min(len(objects), shown)]), ", ")
	if more := len(objects) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
