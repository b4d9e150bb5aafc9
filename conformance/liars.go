package conformance

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/tsmark/tsmark/conformance/lie"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
)

// Liars returns targets that answer rightly when they think that somebody
// compares, and otherwise with as many rows as are right, of which one is wrong.
// They know tsmark and the experiment, but not what chooses the answers that are
// compared.
func Liars() []driver.Driver {
	return []driver.Driver{
		// A cache that goes stale once it has been looked at for long enough.
		liar("honest-ten-times", func(asked, _ int) bool { return asked > 10 }),
		// It counts the answers that are compared before anything is measured.
		liar("honest-while-checked", func(asked, _ int) bool { return asked > 2 }),
		// What comes for the first time is measured, what comes again is compared.
		liar("lies-at-first", func(asked, before int) bool { return asked > 5 && before == 0 }),
		// The other way round: it answers from a cache that it filled wrongly.
		liar("lies-when-asked-again", func(_, before int) bool { return before > 0 }),
		// Of each three answers it expects the first to be compared.
		liar("lies-between-samples", func(asked, _ int) bool { return asked > 2 && (asked-1)%3 != 0 }),
		guesser(),
	}
}

// guesser returns a kind that lies where the time since the query before lets it take an
// answer for one that is not compared.
func guesser() driver.Driver {
	var all lie.Guesser // of the types one after the other
	return liar("guesses-by-gaps", func(int, int) bool { return all.Safe(time.Now()) })
}

// lying is Memory that lies in some answers.
type lying struct {
	driver.Required
	lies func(asked, before int) bool

	mu    sync.Mutex     // guards what follows
	asked map[string]int // by query type
	seen  map[string]int // by what is asked
}

// liar returns a kind that lies where it is told to, by how many queries of the
// type were asked, with this one, and how often this very one was before.
func liar(name string, lies func(asked, before int) bool) driver.Driver {
	kind := Memory(name)
	open := kind.Open
	l := &lying{lies: lies, asked: make(map[string]int), seen: make(map[string]int)}
	kind.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		l.Required = db.Required // the same one each time
		db.Required = l
		return db, err
	}
	return kind
}

func (l *lying) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	q, err := l.Required.NewQuerier(ctx, worker)
	return &lyingQuerier{q, l}, err
}

// now reports whether the answer to a request is to be a lie.
func (l *lying) now(r driver.Request) (bool, error) {
	var q query.Query
	if err := json.Unmarshal([]byte(r.Text), &q); err != nil {
		return false, err
	}
	of := q.Type
	q.ID = 0 // which no text has
	text, err := json.Marshal(q)
	if err != nil {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[of]++
	l.seen[string(text)]++
	return l.lies(l.asked[of], l.seen[string(text)]-1), nil
}

type lyingQuerier struct {
	driver.Querier
	lying *lying
}

func (q *lyingQuerier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	lie, err := q.lying.now(r)
	if err != nil {
		return driver.Cost{}, err
	}
	if lie && sink != nil {
		sink = &falsified{Sink: sink}
	}
	return q.Querier.Do(ctx, r, sink)
}

// falsified changes the last number of the first row.
type falsified struct {
	query.Sink
	done bool
}

// Row implements query.Sink.
func (f *falsified) Row(row []query.Value) error {
	for i := len(row) - 1; i >= 0 && !f.done; i-- {
		if row[i].Kind == query.Float || row[i].Kind == query.Int {
			row[i].Float++
			row[i].Int++
			f.done = true
		}
	}
	return f.Sink.Row(row)
}
