package prometheus

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// begin makes the tenant of the rows begin with a sample of tsmark's own, and waits until queries find it. A
// tenant that has other samples may begin later: rows then go to the next one, as after a drop.
func (d *tenants) begin(ctx context.Context, at int64) error {
	ctx, cancel := d.settings.wire.WithTimeout(ctx)
	defer cancel()
	p := &metric.Plan{At: at, Fields: []metric.Field{{Name: metric.Note}},
		Expression: fmt.Sprintf("last_over_time({__name__=%q,%s=%q}[1s])", metric.Note, headMark[0].Labels[0][0], headMark[0].Labels[0][1])}
	begins := func() (bool, error) {
		rows, err := d.own.Rows(ctx, p)
		return len(rows) > 0, err
	}
	note, err := d.Note(ctx)
	if err != nil {
		return err
	}
	for before := d.generation.Load(); ; d.generation.Add(1) {
		names, err := d.own.Names(ctx, nil)
		if err == nil && len(names) == 0 && d.generation.Load() > before {
			err = d.SetNote(ctx, note)
		}
		if err != nil {
			return err
		}
		if len(names) == 0 {
			break
		}
		if done, err := begins(); done || err != nil {
			return err
		}
	}
	if err := sendTo(ctx, d.first, at, headMark); err != nil {
		return err
	}
	return poll.Wait(ctx, look, time.Second, begins)
}

// longRange is a range of more than 30 days in milliseconds as language.Duration writes it.
var longRange = regexp.MustCompile(`\[(\d+)\.(\d{3})4[]:]`)

// render renders a query. Some servers print the expression and parse it again, in seconds as doubles, by which a
// long range can lose its first millisecond.
func (v *Variant) render(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
	r, err := language{back: v.Lookback.Milliseconds()}.render(v.System, q, s, o)
	if err != nil || v.TenantLabel == "" && !v.Reparses {
		return r, err
	}
	p, _ := r.Plan.(*metric.Plan)
	for _, found := range longRange.FindAllStringSubmatch(p.Expression, -1) {
		exact, err := time.ParseDuration(found[1] + "s" + found[2] + "ms")
		if again := time.Duration(math.Round(exact.Seconds() * float64(time.Second))); err != nil || again.Milliseconds() != exact.Milliseconds() {
			return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, metric.UnsupportedError("%s prints a query and parses it again, by which its window of %d days becomes a millisecond shorter", v.System, exact/(24*time.Hour)))
		}
	}
	return r, nil
}
