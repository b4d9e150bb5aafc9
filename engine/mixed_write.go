package engine

import (
	"context"
	"io"

	"github.com/tsmark/tsmark/engine/pace"
)

// readAhead reads the dataset, batch by batch, until no more batches are wanted.
func (m *mixed) readAhead(ctx, wanted context.Context) error {
	defer close(m.read)
	for {
		b, err := m.supply().next(wanted)
		switch {
		case err == io.EOF:
			m.ledger.end()
			return nil
		case wanted.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		}
		first, last := b.Times()
		m.ledger.read(int64(b.rows()), first, last)
		select {
		case m.read <- b:
		case <-wanted.Done():
			return ctx.Err()
		}
	}
}

// hand passes a batch to its worker, or to any free one, and reports whether it was taken before
// the phase was over. Batches are passed in order, so a batch that waits for its worker delays the
// following ones.
func (m *mixed) hand(ctx, open context.Context, b *batch) (taken bool, err error) {
	if open.Err() == nil {
		select {
		case m.ready[m.owner(b)] <- b:
			return true, nil
		case <-open.Done():
		}
	}
	return false, ctx.Err()
}

// opening returns a context that ends with ctx, or at the end of Duration, when no further batch
// may begin.
func (m *mixed) opening(ctx context.Context) (open context.Context, cancel context.CancelFunc) {
	if m.cfg.Duration <= 0 {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, m.start.Add(m.cfg.Duration))
}

// dispatchBatches passes batches to the workers when they are due, or as fast as they are taken.
func (m *mixed) dispatchBatches(ctx context.Context, enough func()) error {
	defer m.ready.close()
	defer enough()
	open, cancel := m.opening(ctx)
	defer cancel()
	if m.cfg.RowRate != nil {
		return m.paceBatches(ctx, open)
	}
	for b := range m.read {
		if taken, err := m.hand(ctx, open, b); !taken {
			return err
		}
	}
	return nil
}

// paceBatches passes a batch on when its last row is due. With several clients, whose rows
// alternate, it counts the rows that were read to fill the batch, including the other clients'
// rows. If the next batch is due only after the end of the phase, paceBatches waits for that end,
// so that queries run until then.
func (m *mixed) paceBatches(ctx, open context.Context) error {
	pacer, err := pace.NewPacer(m.start)
	if err != nil {
		return err
	}
	defer pacer.Close()
	b, more := <-m.read
	if !more {
		return nil
	}
	rows := int64(0) // due rows of all clients
	for due := range m.cfg.RowRate.Arrivals() {
		for rows++; b.place <= rows; {
			if m.cfg.Duration > 0 && due >= m.cfg.Duration {
				<-open.Done()
				return ctx.Err()
			}
			if _, err := pacer.Wait(open, due); open.Err() != nil {
				return ctx.Err()
			} else if err != nil {
				return err
			}
			b.due = due
			if taken, err := m.hand(ctx, open, b); !taken {
				return err
			}
			m.lastDue = due
			if b, more = <-m.read; !more {
				return nil
			}
		}
	}
	return nil
}

// alternate passes batches and queries on in their proportion: after the n-th batch, queries up to
// n × (1-share)/share.
func (m *mixed) alternate(ctx context.Context, enough func()) error {
	defer close(m.queue)
	defer m.ready.close()
	defer enough()
	open, cancel := m.opening(ctx)
	defer cancel()
	batches, queries := 0, 0
	for b := range m.read {
		if taken, err := m.hand(ctx, open, b); !taken {
			return err
		}
		batches++
		const rounding = 1e-9
		for due := int(float64(batches)*(1-m.cfg.Share)/m.cfg.Share + rounding); queries < due; queries++ {
			select {
			case m.queue <- arrival{n: queries}:
				m.out.Arrivals++
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}
