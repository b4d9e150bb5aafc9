package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/retry"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
)

const (
	// A crash happens once a share of the rows of its round, drawn from this range, was accepted.
	leastShare, mostShare = 0.2, 0.8
	// writerPatience is the time in which writers notice a crash, or end after a pause.
	writerPatience = 30 * time.Second
	// settlePatience is the time in which a target with missing rows settles after its restart.
	settlePatience = 2 * time.Minute
	// againPatience is the time in which rows are sent again after the restart.
	againPatience = time.Minute
	// The time between two looks at the rows, which doubles.
	firstLook, longestLook = 50 * time.Millisecond, time.Second
)

var errNoRows = errors.New("no more rows")

// round runs a round. Its error says why no other round can follow.
func (c *crashes) round(ctx context.Context, n int, r *result.CrashRound) error {
	failed := func(err error) error {
		r.Failed = err.Error()
		return err
	}
	rows := newRows(c.cfg.Rows.Schema())
	if err := rows.read(c.reader, c.cfg.RoundRows, c.cfg.Load.BatchSize); err != nil {
		return failed(fmt.Errorf("reading the dataset: %w", err))
	}
	if len(rows.list) == 0 {
		return errNoRows
	}
	before, err := c.settle(ctx)
	if err == nil {
		err = c.checkSafety(ctx)
	}
	if err != nil {
		return failed(fmt.Errorf("before the crash: %w", err))
	}
	if size, err := c.db.Footprint(ctx); err == nil {
		r.Bytes = size.Bytes
	}

	random := rand.New(rand.NewPCG(c.cfg.Seed, uint64(n)))
	share := leastShare + (mostShare-leastShare)*random.Float64()
	j := newJournal(rows, int64(share*float64(len(rows.list))))
	since, err := c.crash(ctx, r, j, random.Float64())
	account(r, j)
	if err != nil {
		return failed(err)
	}
	if r.Acked == 0 {
		return failed(errors.New("it acknowledged no row before the crash, so that none can be lost"))
	}
	if r.Kind != result.CrashPause {
		since, err = c.comeBack(ctx, r)
	}
	if r.Answers < 0 {
		return fmt.Errorf("the target did not come back: %w", err)
	}
	acked := make([]bool, len(rows.list))
	for _, b := range j.acked {
		for _, i := range b.rows {
			acked[i] = true
		}
	}
	copies, complete, err := c.await(ctx, rows, func(i int) bool { return acked[i] })
	if err != nil {
		return failed(fmt.Errorf("its rows cannot be read: %w", err))
	}
	if !complete.IsZero() {
		r.Complete = complete.Sub(since).Seconds()
	}
	judge(r, j, copies, acked)
	if before >= 0 {
		if err := c.countEarlier(ctx, r, rows, before); err != nil {
			return failed(fmt.Errorf("its rows cannot be counted: %w", err))
		}
	}
	if err := c.sendAgain(ctx, r, rows, acked, copies); err != nil {
		return err
	}
	if c.cfg.ByCommand && r.Intact() && r.InFlight+r.Unsent == 0 {
		r.Failed = "all rows of the round were acknowledged before the restart command killed the target; larger batches (--batch-size) make the round longer"
	}
	return nil
}

// settle waits until all rows so far are visible and on disk, and returns their number; -1: unknown.
func (c *crashes) settle(ctx context.Context) (rows int64, err error) {
	if _, err = driver.AwaitSettled(ctx, c.db); err == nil {
		err = c.cfg.Victim.Settle(ctx)
	}
	if err != nil {
		return -1, err
	}
	return c.countRows(ctx)
}

// checkSafety checks that the target has the durability with which it was loaded: a server may lose settings when it
// restarts.
func (c *crashes) checkSafety(ctx context.Context) error {
	about, err := c.db.Describe(ctx)
	if err == nil && about.Safety != c.cfg.Safety {
		const unknown = "of unknown durability"
		err = fmt.Errorf("acknowledged rows were %s when the target was loaded, and are %s now: %s", cmp.Or(c.cfg.Safety, unknown), cmp.Or(about.Safety, unknown), about.Durability)
	}
	return err
}

// countRows returns the number of rows in the tables; -1: the target does not count them.
func (c *crashes) countRows(ctx context.Context) (rows int64, err error) {
	for _, t := range c.cfg.Rows.Schema().Tables {
		n := int64(-1)
		if c.db.CountRows != nil {
			n, err = c.db.CountRows(ctx, t)
		}
		if n < 0 && err == nil {
			var census driver.Census
			census, err = c.db.Census(ctx, t)
			n = census.Rows
		}
		if n < 0 || err != nil {
			return -1, err
		}
		rows += n
	}
	return rows, nil
}

// crash writes the rows, and crashes the target once enough of them are accepted, after a fraction of the
// time of a batch. It returns once all writers have ended, with the end of a pause.
func (c *crashes) crash(ctx context.Context, r *result.CrashRound, j *journal, fraction float64) (resumed time.Time, err error) {
	sending, stop := context.WithCancel(ctx)
	defer stop()
	sent := make(chan error, 1)
	go func() {
		_, err := engine.Send(sending, c.cfg.Load, j.rows, j.watch(c.db), func(int) {})
		sent <- err
	}()
	ended := false
	select {
	case <-j.reached:
		select {
		case <-time.After(time.Duration(fraction * float64(j.batchTime()))):
		case <-ctx.Done():
		}
	case err := <-sent:
		if ended = true; err != nil {
			return resumed, fmt.Errorf("the writers failed before the crash: %w", err)
		}
	}
	if !ended {
		select {
		case err := <-sent:
			if ended = true; err != nil {
				return resumed, fmt.Errorf("the writers failed before the crash: %w", err)
			}
		default:
		}
	}
	if err = ctx.Err(); err == nil {
		if r.Kind == result.CrashPower {
			j.close()
		}
		err = c.strike(ctx, r.Kind)
	}
	if err == nil && r.Kind == result.CrashPause {
		resumed = time.Now()
		r.Answers, err = c.answer(ctx, resumed)
	}
	if err == nil && !ended {
		var why error
		select {
		case why = <-sent:
		case <-time.After(writerPatience):
			stop()
			<-sent
			why = fmt.Errorf("they had not ended %v after it", writerPatience)
		case <-ctx.Done():
			<-sent
		}
		if r.Kind == result.CrashPause && why != nil { // other crashes end them
			r.Writers = why.Error()
		}
	} else if !ended {
		stop()
		<-sent
	}
	return resumed, err
}

// strike crashes the target. A pause is over when it returns.
func (c *crashes) strike(ctx context.Context, kind string) error {
	v := c.cfg.Victim
	switch kind {
	case result.CrashKill:
		return v.Kill(ctx)
	case result.CrashPower:
		return v.FailPower(ctx)
	}
	if err := v.Pause(ctx); err != nil {
		return err
	}
	select {
	case <-time.After(c.cfg.Pause):
	case <-ctx.Done():
	}
	return v.Resume(context.WithoutCancel(ctx))
}

// account counts the rows by what happened to them until the crash.
func account(r *result.CrashRound, j *journal) {
	sent := int64(0)
	for _, b := range j.sent {
		sent += int64(len(b.rows))
	}
	for _, b := range j.acked {
		r.Acked += int64(len(b.rows))
	}
	r.AckedBatches, r.InFlight, r.Unsent = len(j.acked), sent-r.Acked, int64(len(j.rows.list))-sent
}

// comeBack starts the target, opens its database again, and records the seconds until it answered. It
// returns the time at which the start began.
func (c *crashes) comeBack(ctx context.Context, r *result.CrashRound) (begun time.Time, err error) {
	c.close()
	if begun, err = c.cfg.Victim.Start(ctx); err == nil {
		err = c.open(ctx)
	}
	if err == nil {
		r.Answers, err = c.answer(ctx, begun)
	}
	return begun, err
}

// answer returns the seconds until the target answers a request.
func (c *crashes) answer(ctx context.Context, since time.Time) (seconds float64, err error) {
	if _, err = c.db.Describe(ctx); err != nil {
		return -1, err
	}
	return time.Since(since).Seconds(), nil
}

// await reads the rows until all wanted ones are there as they were sent, or until no more of them have appeared for
// the patience. complete is the start of the look that found all of them; zero: none did.
func (c *crashes) await(ctx context.Context, of *rows, wanted func(i int) bool) (found []verify.Copies, complete time.Time, err error) {
	least, changed := -1, time.Now()
	for wait := firstLook; ; wait = min(2*wait, longestLook) {
		begin := time.Now()
		copies, err := verify.CountCopies(ctx, c.cfg.Verify, c.db, c.cfg.Render, of.schema, c.cfg.Digits, of.list)
		if err == nil {
			found = copies
			missing := 0
			for i := range copies {
				if wanted(i) && copies[i].Whole == 0 && !of.list[i].Empty() {
					missing++
				}
			}
			switch {
			case missing == 0:
				return found, begin, nil
			case least < 0: // it may still apply its log
				c.letSettle(ctx)
				least, changed = missing, time.Now()
			case missing < least:
				least, changed = missing, time.Now()
			}
		}
		if ctx.Err() != nil {
			return nil, complete, ctx.Err()
		}
		if errors.Is(err, query.ErrUnsupported) || err != nil && found == nil && time.Since(changed) >= c.cfg.Patience {
			return nil, complete, err
		}
		if time.Since(changed) >= c.cfg.Patience {
			return found, complete, nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// letSettle gives the target time to apply its log. Errors do not matter: the rows decide.
func (c *crashes) letSettle(ctx context.Context) {
	settling, cancel := context.WithTimeout(ctx, settlePatience)
	defer cancel()
	_, _ = driver.AwaitSettled(settling, c.db)
}

// judge records what became of the rows. acked tells which rows were acknowledged.
func judge(r *result.CrashRound, j *journal, copies []verify.Copies, acked []bool) {
	var batches []int    // that lost rows, from 1
	var firstLost *batch // of these
	for n, b := range j.acked {
		lost, kept := false, false
		for _, i := range b.rows {
			row := j.rows.list[i]
			switch {
			case copies[i].All() > 0:
				kept = true
			case row.Empty():
			default:
				lost, r.LastLost = true, row.String()
				if r.Lost++; r.FirstLost == "" {
					r.FirstLost = r.LastLost
				}
			}
		}
		// Batches that were under way together may be stored in either order.
		if kept && firstLost != nil && b.begun > firstLost.acked {
			r.Holes = true
		}
		if lost {
			if batches = append(batches, n+1); firstLost == nil {
				firstLost = b
			}
		}
	}
	r.LostBatches, r.LostIn = len(batches), listBatches(batches)
	for i := range acked {
		if !acked[i] && copies[i].All() > 0 {
			r.Extra++
		}
		if acked[i] && copies[i].Torn > 0 {
			r.Torn++
		}
		if copies[i].Wrong > 0 {
			r.Wrong++
		}
		r.Repeated += int64(max(copies[i].All()-1, 0))
	}
}

// mostListed is the number of batches that are listed one by one.
const mostListed = 10

// listBatches names batches by their numbers, which are in order.
func listBatches(numbers []int) string {
	if len(numbers) == 0 {
		return ""
	}
	first, last := numbers[0], numbers[len(numbers)-1]
	switch {
	case first == last:
		return fmt.Sprintf("batch %d", first)
	case last-first == len(numbers)-1:
		return fmt.Sprintf("batches %d to %d", first, last)
	}
	text := "batches "
	for i, n := range numbers[:min(len(numbers), mostListed)] {
		if i > 0 {
			text += ", "
		}
		text += strconv.Itoa(n)
	}
	if more := len(numbers) - mostListed; more > 0 {
		text += fmt.Sprintf(" and %d more up to %d", more, last)
	}
	return text
}

// countEarlier records how many of the rows that were there before the round are gone: all are there, or no more of
// them have appeared for the patience.
func (c *crashes) countEarlier(ctx context.Context, r *result.CrashRound, of *rows, before int64) error {
	changed := time.Now()
	for wait := firstLook; ; wait = min(2*wait, longestLook) {
		// Rows of the round that appear in between are missed among the earlier ones, and found by the next look.
		after, err := c.countRows(ctx)
		if err != nil || after < 0 {
			return err
		}
		copies, err := verify.CountCopies(ctx, c.cfg.Verify, c.db, c.cfg.Render, of.schema, c.cfg.Digits, of.list)
		if err != nil {
			return err
		}
		for i := range copies {
			after -= int64(copies[i].All())
		}
		lost := max(before-after, 0)
		switch {
		case r.LostEarlier < 0 && lost > 0: // the first look
			c.letSettle(ctx)
			fallthrough
		case r.LostEarlier < 0, lost < r.LostEarlier:
			r.LostEarlier, changed = lost, time.Now()
		}
		if lost == 0 || time.Since(changed) >= c.cfg.Patience {
			return nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// sendAgain sends the rows that were not acknowledged, as a client does that cannot know better, and
// counts the rows that the target then has twice.
func (c *crashes) sendAgain(ctx context.Context, r *result.CrashRound, of *rows, acked []bool, copies []verify.Copies) error {
	if rest := of.omit(func(i int) bool { return acked[i] }); len(rest.list) > 0 {
		load := c.cfg.Load
		load.Retry = retry.Policy{Within: againPatience}
		_, err := engine.Send(ctx, load, rest, c.db, func(int) {})
		if err == nil {
			_, err = driver.AwaitSettled(ctx, c.db)
		}
		if err != nil {
			return fmt.Errorf("the rows that it had not acknowledged could not be sent again: %w", err)
		}
		again, complete, err := c.await(ctx, of, func(i int) bool { return !acked[i] || copies[i].Whole > 0 })
		switch {
		case err != nil:
			return fmt.Errorf("the rows that were sent again cannot be read: %w", err)
		case complete.IsZero():
			return errors.New("rows that were sent again after the restart are missing, although it acknowledged them")
		}
		copies = again
	}
	for i := range copies {
		r.Doubled += int64(max(copies[i].All()-1, 0))
	}
	c.stored += int64(len(of.list))
	return nil
}
