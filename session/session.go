// Package session is what tsmark does with a database beside measuring it, the
// same for every driver: it marks what it loads, replaces it, and leaves alone
// what it did not create.
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

// ErrNoMark means that the database holds nothing that tsmark loaded.
var ErrNoMark = errors.New("holds no dataset of tsmark's")

// Session is an open database as loads see it. It has no state of its own: what
// it knows stands in the database's note.
type Session struct {
	db    driver.DB
	first *series.Schema // what Prepare creates in place of the schema it is for; nil: that
}

// New returns the session over a database, which stays its owner's to close.
func New(db driver.DB) Session { return Session{db: db} }

// Beginning returns the session whose Prepare makes room for a schema, and owns all that
// belongs to it, but creates only first: the tags and fields that the first rows have.
func (s Session) Beginning(first *series.Schema) Session {
	s.first = first
	return s
}

// Mark returns the mark of the dataset that the database holds. Its error wraps
// ErrNoMark where tsmark loaded nothing, and driver.ErrExisting, with what is
// there, where the place holds data that tsmark did not create.
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

// OwnObjects returns the objects that tsmark made and that are there.
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

// Inspect returns why a dataset of the schema could not be loaded, as far as can
// be told without changing anything; driver.ErrExisting as Prepare. The schema is
// nil until the mark that names the dataset has been read.
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

// Existing lists what keeps Prepare from going on: in a place without a mark all
// data, in a marked one what tsmark did not make and what is in the way of the
// schema.
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

// Drop drops what is named, of what Existing would list now, and nothing else:
// what came up since stays, and Prepare refuses again.
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

// Clear drops what tsmark made, and the mark with what holds it: nothing of tsmark's is
// left, and nothing else is touched.
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

// Prepare drops what tsmark made, creates what the schema needs and leaves the
// mark. It never touches what tsmark did not make: its error then wraps
// driver.ErrExisting. However it ends, by a kill too, the note that is there
// afterwards names what is tsmark's, and holds no mark of what is gone. m is not
// of a complete load.
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

// replace drops what tsmark made. The note says before that it is no dataset any
// more; where nothing could be dropped it says again that it is.
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
	later, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace) // an interrupt is one reason to be here
	defer cancel()
	if now, lookErr := s.look(later); lookErr == nil && now.stamp != nil && len(now.ownObjects()) == len(own) {
		_ = s.note(later, p.stamp) // the error says what is wrong
	}
	return err
}

// grace is how long the mark of a dataset that could not be dropped may take to be
// put back.
const grace = 5 * time.Second

// create makes the objects of the schema. The note names them before, and what
// tells them from others' after.
func (s Session) create(ctx context.Context, p *place, schema *series.Schema, planned []driver.Object, m Mark) error {
	next := &stamp{Mark: m, Tables: []string{}}
	for _, o := range planned {
		// What somebody put there before stays that somebody's.
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

// Extend has do make objects beside the dataset, which then go with it: the note names
// them before, and what tells them from others' after. It makes nothing where there is
// one of the name already: its error then wraps driver.ErrExisting.
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

// replaceable returns the place, and what is to be made in it, or an error that
// wraps driver.ErrExisting.
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

// plan names what the schema needs.
func (s Session) plan(schema *series.Schema) ([]driver.Object, error) {
	if schema == nil {
		return nil, nil
	}
	return s.db.Plan(schema)
}

// place is what is in a database, and what its note says.
type place struct {
	present []driver.Object
	stamp   *stamp // nil: there is none of tsmark's
	damage  error  // why the note that is there is none of tsmark's
}

// look looks at the database.
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
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrUnreachable):
		return nil, err
	case err == nil && text == "":
		return p, nil // tsmark was killed before it wrote one
	case err == nil:
		p.stamp, err = parseStamp(text)
	}
	if err != nil {
		p.stamp, p.damage = nil, err
	}
	return p, nil
}

// ownObjects returns what tsmark made.
func (p *place) ownObjects() []driver.Object {
	return slices.DeleteFunc(slices.Clone(p.present), func(o driver.Object) bool { return o.Note || p.stamp == nil || !p.stamp.owns(o) })
}

// otherObjects returns what tsmark did not make, nor goes with what it made.
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

// inTheWay returns those of the others that nothing may be made beside.
func (p *place) inTheWay(planned []driver.Object) []driver.Object {
	found := slices.DeleteFunc(p.otherObjects(), func(o driver.Object) bool {
		if p.stamp == nil {
			return !o.Data
		}
		return !o.InTheWay && !slices.ContainsFunc(planned, o.Clashes)
	})
	return slices.DeleteFunc(slices.Clone(found), func(o driver.Object) bool {
		return slices.ContainsFunc(found, func(of driver.Object) bool { return o.Of != "" && o.Of == of.Name }) // goes with that
	})
}

// checkMark returns the error of a place without a mark; nil: it has one.
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

// refusal is the error of a place that is not tsmark's.
func (s Session) refusal(ctx context.Context, p *place) error {
	name, elsewhere := s.describePlace(ctx)
	text := nameFirst(p.inTheWay(nil))
	if p.damage != nil {
		at := slices.IndexFunc(p.present, func(o driver.Object) bool { return o.Note })
		text = fmt.Sprintf("its %v is not as tsmark writes it (%v)", p.present[at], p.damage)
	}
	return fmt.Errorf("%s %w: %s; %s", name, driver.ErrExisting, text, elsewhere)
}

// describePlace names the place, and says what to do to have another one.
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

// Names returns objects as users are told of them.
func Names(objects []driver.Object) []string {
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = o.String()
	}
	return names
}

// nameFirst names the first objects.
func nameFirst(objects []driver.Object) string {
	const shown = 3
	text := strings.Join(Names(objects[:min(len(objects), shown)]), ", ")
	if more := len(objects) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
