package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// fake is a database in memory. A failing call simulates a killed tsmark, without a trace for the
// next one, or a server that refuses.
type fake struct {
	driver.Required
	objects []driver.Object
	note    string
	made    int   // numbers objects
	calls   int   // number of calls that change something
	fail    int   // number of the call that fails; 0: none
	half    bool  // the failing call does half of its work
	noted   bool  // a note exists, even if it is empty
	damaged error // error of Note
	dropped []string
}

var errKilled = errors.New("killed")

// step counts a call that changes something, and fails if it is the selected one.
func (f *fake) step() error {
	if f.calls++; f.calls == f.fail {
		return errKilled
	}
	return nil
}

func (f *fake) Describe(context.Context) (driver.Description, error) {
	return driver.Description{Location: "here", Elsewhere: "path"}, nil
}

func (f *fake) Objects(ctx context.Context) ([]driver.Object, error) {
	objects := slices.Clone(f.objects)
	if f.note != "" || f.noted || f.damaged != nil {
		objects = append(objects, driver.Object{Kind: "table", Name: "tsmark_mark", Data: true, Note: true})
	}
	return objects, ctx.Err()
}

func (f *fake) Plan(s *series.Schema) ([]driver.Object, error) {
	var objects []driver.Object
	for _, t := range s.Tables {
		objects = append(objects, driver.Object{Kind: "table", Name: t.Name, Key: strings.ToLower(t.Name)},
			driver.Object{Kind: "index", Name: t.Name + "_by_time", Key: strings.ToLower(t.Name) + "_by_time", Of: t.Name})
	}
	return objects, nil
}

func (f *fake) Create(_ context.Context, s *series.Schema) error {
	planned, err := f.Plan(s)
	if err == nil {
		err = f.step()
	}
	if err != nil && !f.half {
		return err
	}
	for i, o := range planned {
		if slices.ContainsFunc(f.objects, o.Clashes) {
			return fmt.Errorf("%v is there", o)
		}
		if err != nil && i > 0 {
			break
		}
		f.add(o)
	}
	return err
}

// add creates an object, in the name of tsmark or anyone else.
func (f *fake) add(o driver.Object) {
	f.made++
	if o.Of == "" {
		o.Data, o.Identity = true, fmt.Sprint(f.made)
	}
	f.objects = append(f.objects, o)
}

func (f *fake) Drop(_ context.Context, objects []driver.Object) error {
	err := f.step()
	if err != nil && !f.half {
		return err
	}
	for i, o := range objects {
		if err != nil && i > 0 {
			break
		}
		f.dropped = append(f.dropped, o.Name)
		f.objects = slices.DeleteFunc(f.objects, func(p driver.Object) bool { return p.Name == o.Name || p.Of == o.Name })
		if o.Note {
			f.note, f.noted, f.damaged = "", false, nil
		}
	}
	return err
}

func (f *fake) Note(context.Context) (string, error) { return f.note, f.damaged }

func (f *fake) SetNote(_ context.Context, text string) error {
	if err := f.step(); err != nil {
		return err
	}
	f.note, f.damaged = text, nil
	return nil
}

func (f *fake) names() string {
	var names []string
	for _, o := range f.objects {
		if o.Of == "" {
			names = append(names, o.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func schemaOf(names ...string) *series.Schema {
	s := &series.Schema{Series: 1}
	for _, n := range names {
		s.Tables = append(s.Tables, &series.Table{Name: n})
	}
	return s
}

// loadedFake returns a database that holds a complete dataset and an object of another user.
func loadedFake(t *testing.T) *fake {
	t.Helper()
	f := new(fake)
	if err := New(driver.DB{Required: f}).Prepare(t.Context(), schemaOf("cpu", "tags"), Mark{Fingerprint: "old"}); err != nil {
		t.Fatal(err)
	}
	if err := New(driver.DB{Required: f}).SetMark(t.Context(), Mark{Fingerprint: "old", Complete: true}); err != nil {
		t.Fatal(err)
	}
	f.add(driver.Object{Kind: "table", Name: "payroll"})
	f.calls, f.dropped = 0, nil
	return f
}

// Wherever tsmark is killed, the next one identifies tsmark's objects, loads again, touches nothing
// else, and never takes an incomplete dataset for a complete one.
func TestKilledAnywhere(t *testing.T) {
	const steps = 5 // going, dropped, planned, created, identified
	for _, half := range []bool{false, true} {
		for at := 1; at <= steps+1; at++ {
			f := loadedFake(t)
			f.fail, f.half = at, half
			err := New(driver.DB{Required: f}).Prepare(t.Context(), schemaOf("cpu", "disk"), Mark{Fingerprint: "new"})
			if killed := errors.Is(err, errKilled); killed != (at <= steps) {
				t.Fatalf("step %d: %v", at, err)
			}
			mark, err := New(driver.DB{Required: f}).Mark(t.Context())
			if err != nil {
				t.Errorf("step %d: %v", at, err)
			}
			if whole := strings.Contains(f.names(), "cpu") && strings.Contains(f.names(), "tags"); mark.Complete && !whole {
				t.Errorf("step %d: marked as complete, and there is %s", at, f.names())
			}
			f.fail = 0
			if err := New(driver.DB{Required: f}).Prepare(t.Context(), schemaOf("disk"), Mark{Fingerprint: "newer"}); err != nil {
				t.Errorf("step %d: again: %v", at, err)
			}
			if f.names() != "disk payroll" || slices.Contains(f.dropped, "payroll") {
				t.Errorf("step %d: there is %s; dropped %v", at, f.names(), f.dropped)
			}
		}
	}
}

// A complete dataset that could not be dropped remains a dataset.
func TestRefusedDrop(t *testing.T) {
	f := loadedFake(t)
	f.fail = 2
	if err := New(driver.DB{Required: f}).Prepare(t.Context(), schemaOf("cpu"), Mark{}); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	if m, err := New(driver.DB{Required: f}).Mark(t.Context()); err != nil || !m.Complete || m.Fingerprint != "old" {
		t.Errorf("%+v, %v", m, err)
	}
}

// An object that another user created again under a name of tsmark's belongs to that user, even if
// tsmark was killed with the old object still in the note.
func TestMadeAgain(t *testing.T) {
	for _, fail := range []int{0, 2} {
		f := loadedFake(t)
		f.fail, f.half = fail, true
		_ = New(driver.DB{Required: f}).Prepare(t.Context(), schemaOf("cpu", "tags"), Mark{}) // cpu is dropped first
		f.fail = 0
		f.objects = slices.DeleteFunc(f.objects, func(o driver.Object) bool { return o.Name == "cpu" || o.Of == "cpu" })
		f.add(driver.Object{Kind: "table", Name: "cpu", Key: "cpu"})
		for what, err := range map[string]error{
			"looking":   New(driver.DB{Required: f}).Inspect(t.Context(), schemaOf("cpu")),
			"preparing": New(driver.DB{Required: f}).Prepare(t.Context(), schemaOf("cpu"), Mark{}),
		} {
			if !errors.Is(err, driver.ErrExisting) || !strings.Contains(err.Error(), "here holds data that tsmark did not create: table cpu, which is not the one that tsmark made under that name; drop it or give another path") {
				t.Errorf("%s: %v", what, err)
			}
		}
		if own, err := New(driver.DB{Required: f}).OwnObjects(t.Context()); err != nil || slices.Contains(Names(own), "table cpu") {
			t.Errorf("own: %v, %v", own, err)
		}
		// There is room for other tables.
		if err := New(driver.DB{Required: f}).Prepare(t.Context(), schemaOf("disk"), Mark{}); err != nil || f.names() != "cpu disk payroll" {
			t.Errorf("%v; there is %s", err, f.names())
		}
	}
}

var errDenied = errors.New("permission denied")

// A place without a mark, or with a damaged one, does not belong to tsmark.
func TestExisting(t *testing.T) {
	for name, c := range map[string]struct {
		db   fake
		says string
	}{
		"nothing":      {fake{}, ""},
		"an index":     {fake{objects: []driver.Object{{Name: "x"}}}, ""},
		"tables":       {fake{objects: []driver.Object{{Name: "a", Data: true}, {Name: "b", Data: true}, {Name: "c", Data: true}, {Name: "d", Data: true}}}, "a, b, c and 1 more; give another path"},
		"empty note":   {fake{noted: true}, ""},
		"no note yet":  {fake{noted: true, objects: []driver.Object{{Name: "cpu", Data: true}}}, "cpu; give another path"},
		"not JSON":     {fake{note: "x"}, "its table tsmark_mark is not as tsmark writes it"},
		"no note":      {fake{damaged: errors.New("no column content")}, "not as tsmark writes it (no column content); give another path"},
		"beyond reach": {fake{damaged: fmt.Errorf("it %w", driver.ErrUnreachable)}, "cannot be reached"},
		"denied":       {fake{damaged: fmt.Errorf("reading: %w", driver.NewDeniedError(errDenied, "GRANT x"))}, "denied; have an administrator run GRANT x, or give another user"},
	} {
		want := driver.ErrExisting
		switch name {
		case "beyond reach":
			want = driver.ErrUnreachable
		case "denied":
			want = errDenied // the data may be tsmark's
		}
		_, err := New(driver.DB{Required: &c.db}).Mark(t.Context())
		if c.says == "" && !errors.Is(err, ErrNoMark) || c.says != "" && (!errors.Is(err, want) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", name, err)
		}
		if err = New(driver.DB{Required: &c.db}).Prepare(t.Context(), schemaOf("cpu"), Mark{}); (err == nil) != (c.says == "") || c.says != "" && !errors.Is(err, want) {
			t.Errorf("%s: preparing: %v", name, err)
		}
	}
}

// In a marked place only objects that conflict are in the way.
func TestBesideTheMark(t *testing.T) {
	for _, c := range []struct {
		planted driver.Object
		refused bool
	}{
		{driver.Object{Kind: "table", Name: "DISK", Key: "disk"}, true},
		{driver.Object{Kind: "table", Name: "disk", Key: "disk", Schema: "side"}, false},
		{driver.Object{Kind: "index", Name: "disk", Key: "disk", Of: "payroll"}, true},
		{driver.Object{Kind: "index", Name: "disk_by_time", Key: "disk_by_time", Of: "cpu"}, false}, // belongs to tsmark's own table
		{driver.Object{Kind: "table", Name: "mine"}, false},
		{driver.Object{Name: "continuous query", InTheWay: true}, true},
	} {
		f := loadedFake(t)
		f.add(c.planted)
		err := New(driver.DB{Required: f}).Prepare(t.Context(), schemaOf("disk"), Mark{})
		if errors.Is(err, driver.ErrExisting) != c.refused || err == nil == c.refused {
			t.Errorf("%v: %v", c.planted, err)
		}
		found, err := New(driver.DB{Required: f}).Existing(t.Context(), schemaOf("disk"))
		if (len(found) > 0) != c.refused || err != nil {
			t.Errorf("%v: named %v, %v", c.planted, found, err)
		}
		if err := New(driver.DB{Required: f}).Drop(t.Context(), schemaOf("disk"), Names(found)); err != nil {
			t.Error(err)
		}
		if err := New(driver.DB{Required: f}).Prepare(t.Context(), schemaOf("disk"), Mark{}); err != nil || !strings.Contains(f.names(), "payroll") {
			t.Errorf("%v: once it is gone: %v; there is %s", c.planted, err, f.names())
		}
	}
}

// The columns of an object show who created it if it is created only when rows arrive.
func TestColumns(t *testing.T) {
	s := new(stamp)
	s.add(driver.Object{Name: "cpu", Columns: []string{"tag host", "float a"}})
	s.add(driver.Object{Name: "old"}) // its columns are unknown
	for _, c := range []struct {
		o   driver.Object
		own bool
	}{
		{driver.Object{Name: "cpu", Columns: []string{"float a"}}, true},
		{driver.Object{Name: "cpu", Columns: []string{"float a", "float salary"}}, false},
		{driver.Object{Name: "cpu", Columns: []string{}}, true},
		{driver.Object{Name: "old", Columns: []string{"float salary"}}, true},
		{driver.Object{Name: "mine"}, false},
		{driver.Object{Name: "cpu", Schema: "side"}, false},
	} {
		if got := s.owns(c.o); got != c.own {
			t.Errorf("%+v: %v", c.o, got)
		}
	}
}

// If tsmark was killed while creating objects, the stamp has names only, and these identify the
// objects.
func TestStampWithoutIdentities(t *testing.T) {
	f := &fake{note: `{"mark":{"fingerprint":"f","complete":true},"tables":["cpu"]}`}
	f.add(driver.Object{Kind: "table", Name: "cpu", Key: "cpu"})
	if m, err := New(driver.DB{Required: f}).Mark(t.Context()); err != nil || m.Fingerprint != "f" {
		t.Errorf("%+v, %v", m, err)
	}
	if err := New(driver.DB{Required: f}).Prepare(t.Context(), schemaOf("disk"), Mark{}); err != nil || f.names() != "disk" {
		t.Errorf("%v; there is %s", err, f.names())
	}
}

// Confirm is called once for the objects that the user agrees to drop; objects that appear later
// remain.
func TestForce(t *testing.T) {
	f := &fake{}
	f.add(driver.Object{Kind: "table", Name: "cpu", Key: "cpu"})
	f.add(driver.Object{Kind: "table", Name: "payroll"})
	refused := (&Force{}).Prepare(t.Context(), New(driver.DB{Required: f}), schemaOf("cpu"), Mark{})
	if !errors.Is(refused, driver.ErrExisting) || !strings.HasSuffix(refused.Error(), ", or add --force to have it dropped") {
		t.Errorf("without force: %v", refused)
	}
	confirmations, droppedFrom, answer := 0, "", errors.New("it stays")
	force := &Force{
		Confirm: func(_ context.Context, place string, named []string) error {
			confirmations++
			if place != "here" || strings.Join(named, ", ") != "table cpu, table payroll" {
				t.Errorf("confirmation of %q at %s", named, place)
			}
			return answer
		},
		Dropped: func(_ string, named []string) { droppedFrom = strings.Join(named, ", ") },
	}
	if err := force.Prepare(t.Context(), New(driver.DB{Required: f}), schemaOf("cpu"), Mark{}); !errors.Is(err, answer) || f.names() != "cpu payroll" {
		t.Errorf("%v; there is %s", err, f.names())
	}
	answer = nil
	if _, _, err := force.Allow(t.Context(), New(driver.DB{Required: f}), schemaOf("cpu"), refused); err != nil || f.names() != "cpu payroll" {
		t.Errorf("%v; there is %s", err, f.names())
	}
	if err := force.Prepare(t.Context(), New(driver.DB{Required: f}), schemaOf("cpu"), Mark{}); err != nil || f.names() != "cpu" || confirmations != 2 || droppedFrom != "table cpu, table payroll" {
		t.Errorf("%v; there is %s; %d confirmations, dropped %q", err, f.names(), confirmations, droppedFrom)
	}
	// A damaged note is dropped too once it has been named.
	f = &fake{note: "x"}
	force = &Force{Confirm: func(_ context.Context, _ string, named []string) error {
		if strings.Join(named, ", ") != "table tsmark_mark" {
			t.Errorf("confirmation of %q", named)
		}
		return nil
	}}
	if err := force.Prepare(t.Context(), New(driver.DB{Required: f}), schemaOf("cpu"), Mark{}); err != nil || !slices.Contains(f.dropped, "tsmark_mark") {
		t.Errorf("%v; dropped %v", err, f.dropped)
	}
}

// The objects of Extend are dropped with the dataset, wherever tsmark is killed; existing objects
// with their names remain.
func TestExtend(t *testing.T) {
	view := driver.Object{Kind: "view", Name: "cpu_1h", Key: "cpu_1h"}
	for fail := range 4 {
		f := loadedFake(t)
		f.calls, f.fail = 0, fail
		err := New(driver.DB{Required: f}).Extend(t.Context(), []driver.Object{view}, func(context.Context) error {
			f.add(view)
			return f.step()
		})
		if (err != nil) != (fail > 0) {
			t.Errorf("call %d fails: %v", fail, err)
		}
		f.fail = 0
		if err := New(driver.DB{Required: f}).Prepare(t.Context(), schemaOf("mem"), Mark{}); err != nil {
			t.Errorf("call %d fails: the next load: %v", fail, err)
		}
		if strings.Contains(f.names(), "cpu_1h") {
			t.Errorf("call %d fails: the view is left: %s", fail, f.names())
		}
	}
	f := loadedFake(t)
	f.add(view) // another user's
	err := New(driver.DB{Required: f}).Extend(t.Context(), []driver.Object{view}, func(context.Context) error {
		t.Error("it is made beside another one")
		return nil
	})
	if !errors.Is(err, driver.ErrExisting) {
		t.Error(err)
	}
	if err := New(driver.DB{Required: f}).Prepare(t.Context(), schemaOf("mem"), Mark{}); err != nil || !strings.Contains(f.names(), "cpu_1h") {
		t.Errorf("somebody's view is gone: %s, %v", f.names(), err)
	}
}
