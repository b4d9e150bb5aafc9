package runner

import (
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
)

// phase is the queries of one type on one target in a repeat.
type phase struct {
	target, queryType string
	repeat            int
}

// takenAnswers is a folder that keeps the answers that were taken while types
// were measured, a file a phase, until they are compared: there they need no
// memory, and a run that is resumed has them still.
type takenAnswers string

func (x *stage) taken() takenAnswers {
	return takenAnswers(filepath.Join(x.Dir, x.run.ID, "taken-answers"))
}

func (dir takenAnswers) path(p phase) string {
	return filepath.Join(string(dir), fmt.Sprintf("%s.%s.%d.gob", p.target, p.queryType, p.repeat))
}

// put keeps the answers of a phase in place of those that it has already. They
// are whole, or not there.
func (dir takenAnswers) put(p phase, answers []engine.Answered) (err error) {
	if len(answers) == 0 {
		return nil
	}
	if err := os.MkdirAll(string(dir), 0o777); err != nil {
		return err
	}
	file, err := os.CreateTemp(string(dir), "*.tmp")
	if err != nil {
		return err
	}
	if err := errors.Join(gob.NewEncoder(file).Encode(answers), file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return os.Rename(file.Name(), dir.path(p))
}

// get returns the answers of a phase; none where it has none.
func (dir takenAnswers) get(p phase) (answers []engine.Answered, err error) {
	file, err := os.Open(dir.path(p))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close() // reading only
	if err := gob.NewDecoder(file).Decode(&answers); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", file.Name(), err)
	}
	return answers, nil
}

// drop forgets the answers of a phase, once their verdict is stored.
func (dir takenAnswers) drop(p phase) {
	_ = os.Remove(dir.path(p))
	_ = os.Remove(string(dir)) // fails, and stays, while others are in it
}

// unconfirmed is what was measured of a target and has no verdict yet, although
// answers were taken.
func unconfirmed(t *result.Target) map[phase]*result.Queries {
	list := make(map[phase]*result.Queries)
	for i := range t.Repeats {
		for j := range t.Repeats[i].Queries {
			q := &t.Repeats[i].Queries[j]
			if q.Sample.Captured > 0 && q.Verdict == (result.Verdict{}) && q.Withheld == "" {
				list[phase{t.Name, q.Type, t.Repeats[i].Number}] = q
			}
		}
	}
	return list
}

// takenQuery is a query whose answer was taken, by the id that it has in common
// with its equals.
type takenQuery struct {
	queryType string
	id        int
}

// expectTaken passes over the dataset for the expected answers to all queries
// whose answers were taken, of all targets together.
func (x *compareStage) expectTaken(ctx context.Context) error {
	var wanted [views]map[takenQuery]bool
	for v := range wanted {
		wanted[v] = make(map[takenQuery]bool)
	}
	for i := range x.run.Targets {
		held := x.viewOf(&x.plan.targets[i])
		for p := range unconfirmed(&x.run.Targets[i]) {
			answers, err := x.taken().get(p)
			if err != nil {
				return stored(err)
			}
			for _, a := range answers {
				wanted[held][takenQuery{p.queryType, x.queriesOf(p.queryType).id(a.Place)}] = true
			}
		}
	}
	for v := range views {
		x.compared[v] = make(map[takenQuery]*oracle.Expectation)
		if len(wanted[v]) == 0 {
			continue
		}
		var full []query.Query
		var keys []takenQuery
		for i := range x.queries {
			q, place := &x.queries[i], 0
			for one := range q.all {
				if key := (takenQuery{q.queryType.Name, place}); wanted[v][key] {
					full, keys = append(full, one), append(keys, key)
				}
				place++
			}
		}
		task := x.Display.Start("computing expected answers", "rows", x.rows)
		expected, err := oracle.Pass(ctx, x.viewed[v].dataset, full, nil, func(rows int) { task.Add(int64(rows)) })
		if err != nil {
			task.Fail(reason(ctx, err))
			return err
		}
		task.Done("")
		for i, key := range keys {
			x.compared[v][key] = &expected.Full[i]
		}
	}
	return nil
}

// confirm compares the answers that were taken while a target was measured. Types
// whose answers were wrong are withheld. It reports whether there are answers
// left of which only the target could tell more, which it was not given.
func (x *compareStage) confirm(ctx context.Context, t driver.DB, planned *plannedTarget, out *result.Target) (doubtful bool, err error) {
	if x.compared[everyRow] == nil {
		if err := x.expectTaken(ctx); err != nil {
			return false, err
		}
	}
	task := x.Display.Start("compare answers of "+out.Name, "answers", 0)
	defer func() {
		if err != nil {
			task.Fail(reason(ctx, err))
		}
	}()
	held, wrong := x.viewOf(planned), 0
	cfg := x.verifying(planned)
	cfg.Gone = out.Failure != ""
	for p, q := range unconfirmed(out) {
		answers, err := x.taken().get(p)
		if err != nil {
			return false, stored(err)
		}
		list := make([]verify.Taken, len(answers))
		for i := range answers {
			key := takenQuery{p.queryType, x.queriesOf(p.queryType).id(answers[i].Place)}
			list[i] = verify.Taken{Answered: &answers[i], Expected: x.compared[held][key]}
		}
		verdict, open, err := verify.Captured(ctx, cfg, t, planned.driver.Renderer(planned.options), x.viewed[held].dataset, list)
		if err != nil {
			return false, fmt.Errorf("comparing answers of %s: %w", p.queryType, err)
		}
		if open {
			doubtful = true
			continue
		}
		task.Add(int64(verdict.Checked))
		q.Verdict = verdict
		if verdict.Difference != "" {
			q.Withheld = cmp.Or(q.Withheld, verdict.Difference)
			wrong++
		}
		if err := x.keepQueries(ctx, out, p.repeat, q); err != nil {
			return false, err
		}
		x.taken().drop(p)
	}
	if wrong > 0 {
		task.Fail("wrong answers")
	} else {
		task.Done("")
	}
	return doubtful, nil
}
