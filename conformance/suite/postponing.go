package suite

import (
	"time"

	"github.com/tsmark/tsmark/conformance/lie"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/session"
)

// postpones: rows that a server acknowledges and writes later are part of the time until the
// load has settled, or reported as missing, both by reading rows and by counting them.
func (s *Suite) postpones(t T) {
	if s.recorded() || s.caps.OneConnection {
		t.Skip("n/a: what writes later needs a connection of its own")
	}
	render := s.driver.Renderer(s.options)
	s.postpone(t, true, engine.Visibility{Render: render})
	s.postpone(t, false, engine.Visibility{Count: true})
}

// postpone loads a few rows late, and has them looked for.
func (s *Suite) postpone(t T, hold bool, visible engine.Visibility) {
	t.Helper()
	const delay = 150 * time.Millisecond
	e := limitRows(s.cpuOnly(t, 0), 120)
	db, err := lie.Postpone(s.driver, delay, hold).Open(t.Context(), driver.Env{Dir: t.TempDir(), Create: true}, s.options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := session.New(db).Prepare(t.Context(), e.dataset.Schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	config := engine.LoadConfig{Workers: 1, BatchSize: 50, Period: time.Minute, Visible: visible}
	load, err := engine.Load(t.Context(), config, e.dataset, db, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	hidden, v := load.Settled-load.Acked, load.Visible
	switch {
	case visible.Count && (v == nil && db.CountRows == nil || v != nil && v.Unchecked == engine.NotCounted):
		t.Log("counting rows: n/a: the driver does not count them")
	case v == nil:
		t.Errorf("nobody looked whether rows were visible, and they were written %v after the last acknowledgement", delay)
	case v.Missing != "":
		t.Logf("the load says that rows are missing: %s", v.Missing)
	case v.Unchecked != "" || hidden < delay.Seconds():
		t.Errorf("settled %.3f s after the last acknowledgement, and rows were written %v after it: %+v", hidden, delay, *v)
	}
}
