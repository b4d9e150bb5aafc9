package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/series"
)

// readAhead reads the dataset, batch by batch, until nobody wants more.
func (m *mixed) readAhead(ctx context.Context) error {
	defer close(m.read)
	rows := m.cfg.Loaded
	for {
		select {
		case p := <-m.free:
			if err := m.reader.Next(&p.Batch, m.cfg.BatchSize); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return fmt.Errorf("reading the dataset: %w", err)
			}
			first, last := timesOf(&p.Batch)
			p.number, p.first = m.ledger.read(int64(p.Rows()), first, last), rows+1
			rows += int64(p.Rows())
			select {
			case m.read <- p:
			case <-m.unwanted:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		case <-m.unwanted:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// timesOf returns the smallest and the largest time of a batch.
func timesOf(b *series.Batch) (first, last int64) {
	first, last = math.MaxInt64, math.MinInt64
	for i := range b.Runs {
		if times := b.Runs[i].Times; len(times) > 0 {
			first, last = min(first, slices.Min(times)), max(last, slices.Max(times))
		}
	}
	return first, last
}

// hand gives a parcel to its writer, or to the next one that is free, if it is
// free before the phase is over: taken reports whether. Parcels are handed out
// in their order, so that who waits for its writer holds the others up.
func (m *mixed) hand(ctx, open context.Context, p *parcel) (taken bool, err error) {
	owner := 0
	if m.cfg.Owner != nil {
		owner = m.cfg.Owner(&p.Batch)
	}
	if open.Err() == nil {
		select {
		case m.work[owner] <- p:
			return true, nil
		case <-open.Done():
		}
	}
	return false, ctx.Err()
}

// opening returns a context that ends with ctx, or when no further batch may
// begin.
func (m *mixed) opening(ctx context.Context) (open context.Context, cancel context.CancelFunc) {
	if m.cfg.Duration <= 0 {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, m.start.Add(m.cfg.Duration))
}

// dispatchBatches hands the batches out, as fast as they are taken or when
// they are due.
func (m *mixed) dispatchBatches(ctx context.Context) error {
	defer m.work.close()
	defer close(m.unwanted)
	open, cancel := m.opening(ctx)
	defer cancel()
	if m.cfg.RowRate != nil {
		return m.paceBatches(ctx, open)
	}
	for p := range m.read {
		if taken, err := m.hand(ctx, open, p); !taken {
			return err
		}
	}
	return nil
}

// paceBatches hands a batch out when its last row is due. Where the next one
// is due only after the end of the phase it waits for that end, so that
// questions are asked until then.
func (m *mixed) paceBatches(ctx, open context.Context) error {
	pacer, err := pace.NewPacer(m.start)
	if err != nil {
		return err
	}
	defer pacer.Close()
	p, more := <-m.read
	if !more {
		return nil
	}
	missing := p.Rows() // that are not due
	for due := range m.cfg.RowRate.Arrivals() {
		if missing--; missing > 0 {
			continue
		}
		if m.cfg.Duration > 0 && due >= m.cfg.Duration {
			<-open.Done()
			return ctx.Err()
		}
		if _, err := pacer.Wait(open, due); open.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			return err
		}
		p.due = due
		if taken, err := m.hand(ctx, open, p); !taken {
			return err
		}
		if p, more = <-m.read; !more {
			return nil
		}
		missing = p.Rows()
	}
	return nil
}

// alternate hands out batches and queries in their proportion: after the n-th
// batch the queries up to n × (1-share)/share.
func (m *mixed) alternate(ctx context.Context) error {
	defer close(m.queue)
	defer m.work.close()
	defer close(m.unwanted)
	open, cancel := m.opening(ctx)
	defer cancel()
	batches, queries := 0, 0
	for p := range m.read {
		if taken, err := m.hand(ctx, open, p); !taken {
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

// write writes what is handed out. The last writer to be done ends the phase.
func (m *mixed) write(ctx context.Context, way *lane[*parcel], work <-chan *parcel, end func()) error {
	latency, response := measure.NewLatency(), measure.NewLatency()
	log := m.log.Recorder(way.worker, m.start)
	defer log.Close()
	defer func() {
		m.merge(way.worker, latency)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.response.Merge(response)
		if m.writing.Add(-1) == 0 {
			end()
		}
	}()
	values := int64(0) // of the batch at work
	way.retried = m.retried(log, &values)
	due := func(p *parcel, begin time.Duration) time.Duration {
		if m.paced(m.cfg.RowRate) {
			return p.due
		}
		return begin
	}
	acks := tally{ledger: m.ledger}
	received := func(r driver.Receipt) time.Duration {
		m.count(r)
		at := time.Since(m.start)
		if known := latest(r.Acked, r.Sent); !known.IsZero() {
			at = known.Sub(m.start)
		}
		acks.receive(r.Rows, at)
		m.last.add(int64(at))
		return at
	}
	for p := range work {
		begin := time.Since(m.start)
		m.ledger.begin(p.number, begin)
		acks.sending(p.number)
		rows := p.Rows()
		values = metrics(&p.Batch)
		receipt, done, err := way.write(ctx, p)
		if err != nil {
			m.count(receipt)
			m.recordDue(log, failed(ctx), due(p, begin), m.start.Add(begin), time.Now(), receipt, 0)
			return batchFailure(way.worker, int64(p.number)+1, p.first, rows, describe(&p.Batch), err)
		}
		at := received(receipt)
		m.recordDue(log, oplog.OK, due(p, begin), m.start.Add(begin), m.start.Add(at), receipt, values)
		latency.Record(at - begin)
		response.Record(at - p.due)
		m.metrics.Add(values)
		m.progress(rows)
		for _, d := range done {
			recycle(m.free, d)
		}
		if len(done) == 0 {
			recycle(m.free, &parcel{}) // while the writer keeps this one back
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	values = 0
	return m.flush(ctx, way, log, received)
}

// flush ends a writer's work.
func (m *mixed) flush(ctx context.Context, way *lane[*parcel], log *oplog.Recorder, received func(driver.Receipt) time.Duration) error {
	begin := time.Now()
	receipt, err := way.flush(ctx)
	if receipt != (driver.Receipt{}) {
		m.record(log, oplog.Flushed, begin, receipt.Acked, receipt, 0)
	}
	if err != nil {
		m.count(receipt)
		return fmt.Errorf("writer %d, sending the rest: %w", way.worker, err)
	}
	received(receipt)
	if err := way.close(); err != nil {
		return fmt.Errorf("closing writer %d: %w", way.worker, err)
	}
	return nil
}

// latest returns when rows were acknowledged, or else when they were sent: of
// a protocol without acknowledgements nothing later is known.
func latest(acked, sent time.Time) time.Time {
	if acked.IsZero() {
		return sent
	}
	return acked
}
