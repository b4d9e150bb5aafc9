package null_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/null"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// Whatever is written, nothing is there: no mark, no rows, no answers.
func TestKeepsNothing(t *testing.T) {
	ctx := context.Background()
	d := null.Driver()
	options, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	n, err := d.Open(ctx, driver.Env{Create: true}, options)
	if err != nil {
		t.Fatal(err)
	}
	table := &series.Table{Name: "t", Fields: []series.Field{{Name: "f", Type: series.Int}}}
	if err := session.New(n).Prepare(ctx, &series.Schema{Tables: []*series.Table{table}}, session.Mark{}); err != nil {
		t.Fatal(err)
	}
	w, err := n.NewWriter(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b series.Batch
	b.Add(table).Grow(5)
	if r, err := w.Write(ctx, &b); err != nil || r.Rows != 5 || !r.Acked.IsZero() {
		t.Errorf("%+v, %v", r, err)
	}
	r, err := w.(driver.LineWriter).WriteLines(ctx, [][]byte{[]byte("t f=1i 5\nt f"), []byte("=2i 6\n")}, 2)
	if err != nil || r.Rows != 2 || r.WireBytes != 18 {
		t.Errorf("%+v, %v", r, err)
	}
	if err := session.New(n).SetMark(ctx, session.Mark{Complete: true}); !errors.Is(err, session.ErrNoMark) {
		t.Fatal(err)
	}
	if _, err := session.New(n).Mark(ctx); !errors.Is(err, session.ErrNoMark) {
		t.Errorf("a mark: %v", err)
	}
	if c, err := n.Census(ctx, table); err != nil || c.Rows != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := d.Render(&query.Query{}, nil, nil); !errors.Is(err, query.ErrUnsupported) {
		t.Errorf("rendered: %v", err)
	}
	if _, err := d.Open(ctx, driver.Env{}, options); err == nil || !strings.Contains(err.Error(), "holds no dataset of tsmark's, whatever was loaded") {
		t.Errorf("opened as if loaded: %v", err)
	}
}
