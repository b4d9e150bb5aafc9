package suite

import (
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// joiners is the number of processes that load concurrently, with two workers each.
const joiners = 3

// Joins: several processes load concurrently, each with its own open target and with whole
// series. Together they load the dataset: the census and all answers are correct. Joining
// changes nothing, and the error for options that do not allow it names them.
func (s *Suite) Joins(t T) {
	if s.caps.OneConnection {
		t.Skip("n/a: its server takes one connection")
	}
	first := s.open(t, driver.Env{Dir: t.TempDir(), Create: true})
	Close(t, first)
	if first.Join == nil {
		t.Skip("n/a: several processes cannot load it")
	}
	list := []workload.Workload{tsbs.IoT()} // two tables, whose series share their tags, and rows that lack values
	if !s.brief() {
		list = append(list, tsbs.CPUOnly())
	}
	for _, use := range list {
		s.sub(t, use.Name(), func(t T) {
			e := s.useCase(t, use, 0)
			few := make(map[string]int)
			e.queries = slices.DeleteFunc(e.queries, func(q query.Query) bool { few[q.Type]++; return few[q.Type] > 2 })
			s.join(t, e)
		})
	}
}

func (s *Suite) join(t T, e example) {
	ctx, schema := t.Context(), e.dataset.Schema()
	env := driver.Env{Dir: t.TempDir(), Create: true}
	db := s.open(t, env)
	if err := session.New(db).Prepare(ctx, schema, session.Mark{}); err != nil {
		t.Fatal(err)
	}
	before, err := db.Objects(ctx)
	if err != nil {
		t.Fatal(err)
	}
	env.Create = false
	all := make([]driver.DB, joiners)
	for i := range all {
		all[i] = s.open(t, env)
		defer Close(t, all[i])
		if all[i].Join == nil {
			t.Fatal("the database has Join only if it may create")
		}
		if err := all[i].Join(ctx, schema); err != nil {
			Close(t, db)
			if !s.namesOption(err) {
				t.Fatalf("joining: %v; which option does not allow it?", err)
			}
			t.Skipf("n/a: %v", err)
		}
	}
	if after, err := db.Objects(ctx); err != nil || !slices.EqualFunc(before, after, sameObject) {
		t.Errorf("joining has changed the existing objects, %v:\n%v\n%v", err, before, after)
	}
	held := s.storedDataset(e.dataset)
	expected, err := oracle.Pass(ctx, held, e.queries, nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	rows, ended := make([]int64, joiners), make(chan error, joiners)
	for i, own := range all {
		go func() {
			share := workload.Share{Index: i, Count: joiners}.Dataset(e.dataset)
			load, err := engine.Send(ctx, engine.LoadConfig{Workers: 2, BatchSize: 700, Period: time.Minute, InOrder: s.caps.InOrder}, share, own, func(int) {})
			rows[i] = load.Rows
			ended <- err
		}()
	}
	for range all {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if t.Failed() {
		Close(t, db)
		return
	}
	if _, err := driver.AwaitSettled(ctx, db); err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for i, n := range rows {
		if sum += n; n == 0 {
			t.Errorf("share %d has no rows", i)
		}
	}
	if held == e.dataset && sum != expected.Survey.Rows {
		t.Errorf("%d rows accepted, %d written", sum, expected.Survey.Rows)
	}
	s.holds(t, db, env, e, held, expected)
}

// sameObject reports whether an object of the target is unchanged.
func sameObject(a, b driver.Object) bool {
	return a.Kind == b.Kind && a.Name == b.Name && a.Identity == b.Identity && slices.Equal(a.Columns, b.Columns)
}

// namesOption reports whether an error names an option that has a value of its own.
func (s *Suite) namesOption(err error) bool {
	return slices.ContainsFunc(s.driver.Options, func(o driver.Option) bool {
		return s.options[o.Name] != o.Default && strings.Contains(err.Error(), "option "+o.Name)
	})
}
