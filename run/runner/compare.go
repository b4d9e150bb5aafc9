package runner

import (
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
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

// unfinishedAnswers matches files whose process was killed before they were whole.
const unfinishedAnswers = "*.tmp"

// sweep removes what a killed process has left: the answers are taken again. The run must
// be locked.
func (dir takenAnswers) sweep() error {
	left, err := filepath.Glob(filepath.Join(string(dir), unfinishedAnswers))
	if err != nil {
		return err
	}
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	_ = os.Remove(string(dir)) // fails, and stays, while answers are in it
	return err
}

func (dir takenAnswers) path(p phase) string {
	return filepath.Join(string(dir), fmt.Sprintf("%s.%s.%d.gob", p.target, p.queryType, p.repeat))
}

// put keeps the answers of a phase in place of those that it has already. They
// are whole, or not there.
func (dir takenAnswers) put(p phase, answers []engine.Answered) error {
	if len(answers) == 0 {
		return nil
	}
	if err := os.MkdirAll(string(dir), 0o777); err != nil {
		return err
	}
	file, err := os.CreateTemp(string(dir), unfinishedAnswers)
	if err != nil {
		return err
	}
	err = writeAnswers(file, answers)
	if err == nil {
		err = file.Sync() // or a crash of the machine could leave the name of a file that is cut
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), dir.path(p))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
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
	if answers, err = readAnswers(file); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", file.Name(), err)
	}
	return answers, nil
}

func writeAnswers(out io.Writer, answers []engine.Answered) error {
	return gob.NewEncoder(out).Encode(answers)
}

func readAnswers(in io.Reader) (answers []engine.Answered, err error) {
	err = gob.NewDecoder(in).Decode(&answers)
	return answers, err
}

// drop forgets the answers of a phase, once their verdict is stored.
func (dir takenAnswers) drop(p phase) {
	_ = os.Remove(dir.path(p))
	_ = os.Remove(string(dir)) // fails, and stays, while others are in it
}

// undecided lists the phases of a target that have no verdict yet, although answers
// were taken.
func undecided(t *result.Target) []phase {
	var list []phase
	for _, r := range t.Repeats {
		for i := range r.Queries {
			if q := &r.Queries[i]; q.Sample.Captured > 0 && q.Verdict == (result.Verdict{}) && !q.WithoutFigure() {
				list = append(list, phase{t.Name, q.Type, r.Number})
			}
		}
	}
	return list
}

// taken is how many answers of a target have no verdict yet.
func taken(t *result.Target) int64 {
	answers := int64(0)
	for _, p := range undecided(t) {
		answers += t.RepeatOf(p.repeat).Type(p.queryType).Sample.Captured
	}
	return answers
}

// compareStage compares the answers that were taken in a part of the run.
type compareStage struct {
	plan    *Plan
	subject *subject
	record  *record
	answers [views]map[takenQuery]*oracle.Expectation // nil: not worked out yet
	// By target, of types that agreement alone can verify: the answers that were taken,
	// and the rows of all.
	texts map[takenQuery]map[string]*query.Answer
	rows  map[string]map[string]rowCounts // by type and target
}

func newCompareStage(s *subject, r *record) *compareStage {
	return &compareStage{plan: s.plan, subject: s, record: r}
}

// decided is the verdict on the answers of a phase.
type decided struct {
	phase     phase
	verdict   result.Verdict
	failure   *result.Failure // why an answer could not be compared; nil: all were, or one was wrong
	agreed    int64           // further answers that had as many rows as those of other systems
	disagrees string          // how another system's answer differs, where nobody knows the right one
}

// takenQuery is a query whose answer was taken, by the id that it has in common
// with its equals.
type takenQuery struct {
	queryType string
	id        int
}

// expect passes over the dataset for the expected answers to all queries whose
// answers were taken, of all targets together.
func (x *compareStage) expect(ctx context.Context) error {
	var wanted [views]map[takenQuery]bool
	for v := range wanted {
		wanted[v] = make(map[takenQuery]bool)
	}
	x.texts, x.rows = make(map[takenQuery]map[string]*query.Answer), make(map[string]map[string]rowCounts)
	for i := range x.record.doc.Targets {
		held := x.subject.viewOf(&x.plan.targets[i])
		for _, p := range undecided(&x.record.doc.Targets[i]) {
			answers, err := x.record.taken().get(p)
			if err != nil {
				return stored(err)
			}
			for _, a := range answers {
				key := x.keyOf(p, &a)
				if !x.subject.agrees(x.subject.queriesOf(p.queryType)) {
					wanted[held][key] = true
					continue
				}
				if x.rows[p.queryType] == nil {
					x.rows[p.queryType] = make(map[string]rowCounts)
				}
				x.rows[p.queryType][p.target] = x.rows[p.queryType][p.target].with(key.id, a.Rows)
				if a.Answer == nil {
					continue
				}
				if x.texts[key] == nil {
					x.texts[key] = make(map[string]*query.Answer)
				}
				x.texts[key][p.target] = a.Answer
			}
		}
	}
	// All of them, or none: after a pass that fails the next target asks for it again.
	var answers [views]map[takenQuery]*oracle.Expectation
	for v := range views {
		answers[v] = make(map[takenQuery]*oracle.Expectation)
		if len(wanted[v]) == 0 {
			continue
		}
		var full []query.Query
		var keys []takenQuery
		for i := range x.subject.queries {
			q, place := &x.subject.queries[i], 0
			var texts []query.Query
			var textKeys []takenQuery
			for one := range q.all {
				if key := (takenQuery{q.queryType.Name, place}); !wanted[v][key] {
				} else if q.written != nil {
					texts, textKeys = append(texts, one), append(textKeys, key)
				} else {
					full, keys = append(full, one), append(keys, key)
				}
				place++
			}
			found, err := x.subject.byReference(ctx, v, q, texts)
			if err != nil {
				return err
			}
			for i, key := range textKeys {
				answers[v][key] = &found[i]
			}
		}
		if len(full) == 0 {
			continue
		}
		expected, err := x.subject.pass(ctx, "computing expected answers", x.subject.viewed[v].dataset, full, nil)
		if err != nil {
			return err
		}
		for i, key := range keys {
			answers[v][key] = &expected.Full[i]
		}
	}
	x.answers = answers
	return nil
}

// keyOf names the query of an answer.
func (x *compareStage) keyOf(p phase, a *engine.Answered) takenQuery {
	return takenQuery{p.queryType, x.subject.queriesOf(p.queryType).blocks.id(a.Place)}
}

// compare compares the answers that were taken while a target was measured, and
// returns the verdicts by then with every error. It reports whether there are
// answers left of which only the target could tell more, which it was not given.
func (x *compareStage) compare(ctx context.Context, t driver.DB, planned *plannedTarget, out *result.Target) (found []decided, doubtful bool, err error) {
	if x.answers[everyRow] == nil {
		if err := x.expect(ctx); err != nil {
			return nil, false, err
		}
	}
	task := x.record.display.Start("compare answers of "+out.Name, "answers", taken(out))
	held, wrong := x.subject.viewOf(planned), false
	cfg := x.plan.verifying(planned)
	cfg.Gone, cfg.Progress = out.Failure != "", func() { task.Add(1) }
	for _, p := range undecided(out) {
		if q := x.subject.queriesOf(p.queryType); x.subject.agrees(q) {
			answers, err := x.record.taken().get(p)
			if err != nil {
				return found, false, stored(err)
			}
			found = append(found, x.agree(q, p, answers, cfg.Progress))
			continue
		}
		verdict, open, err := x.compareType(ctx, cfg, t, planned, held, p)
		var failure *result.Failure
		if errors.As(err, &failure) {
			err = nil
		}
		if err != nil {
			fail(ctx, task, err)
			return found, false, err
		}
		if open {
			doubtful = true
			continue
		}
		wrong = wrong || verdict.Difference != ""
		found = append(found, decided{phase: p, verdict: verdict, failure: failure})
	}
	spread(found)
	if wrong {
		task.Fail("wrong answers")
	} else {
		task.Finish("")
	}
	return found, doubtful, nil
}

// compareType compares the answers of a phase.
func (x *compareStage) compareType(ctx context.Context, cfg verify.Config, t driver.DB, planned *plannedTarget, held view, p phase) (result.Verdict, bool, error) {
	answers, err := x.record.taken().get(p)
	if err != nil {
		return result.Verdict{}, false, stored(err)
	}
	list := make([]verify.Taken, len(answers))
	for i := range answers {
		list[i] = verify.Taken{Answered: &answers[i], Expected: x.answers[held][x.keyOf(p, &answers[i])]}
	}
	verdict, open, err := verify.Captured(ctx, cfg, t, planned.renderer(ctx, t, x.subject.queriesOf(p.queryType)), x.subject.viewed[held].dataset, list)
	if err != nil {
		err = fmt.Errorf("comparing answers of %s: %w", p.queryType, err)
	}
	return verdict, open, err
}

// decide puts verdicts into the record. Types whose answers were wrong are withheld.
func (x *compareStage) decide(ctx context.Context, out *result.Target, found []decided) error {
	for _, d := range found {
		q := *out.RepeatOf(d.phase.repeat).Type(d.phase.queryType)
		q.Verdict, q.Disagrees, q.Withheld = d.verdict, d.disagrees, cmp.Or(q.Withheld, d.verdict.Difference)
		q.Failed, q.Sample.Agreed = cmp.Or(q.Failed, d.failure), d.agreed
		if q.Verdict == (result.Verdict{}) { // there was nothing to compare the answers with
			q.Sample.Captured = 0
		}
		if err := x.record.keepQueries(ctx, out, d.phase.repeat, &q); err != nil {
			return err
		}
		x.record.taken().drop(d.phase)
	}
	return nil
}
