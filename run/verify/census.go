package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/result"
)

// Sent describes how the rows of a census were sent.
type Sent struct {
	// Acknowledged says that the target acknowledged every row of the dataset: missing rows are
	// lost.
	Acknowledged bool
	// Twice is the number of rows that were sent again although they may have been stored before,
	// to a target that then keeps both: the maximum number of duplicates.
	Twice int64
}

// Census compares the tables of a target with the dataset: the number of rows, and for each field
// the count, sum, minimum and maximum, the times of the rows and the tags of their series, each as
// far as the target can report it.
//
// Extra rows are duplicates, and no problem, up to the number of rows sent twice. Distinct rows are
// then counted and compared, so that duplicates do not hide losses; if that is impossible, the
// result says so.
//
// It calls progress for each table that was compared, unless progress is nil.
//
// If the target keeps one of two rows that collide, or values of both, every choice is correct.
//
// It cannot detect values that were swapped within a field, or that change a sum of floats by less
// than query.SumBound. Rows detects those.
func Census(ctx context.Context, t driver.DB, survey *oracle.Survey, sent Sent, progress func()) ([]result.CensusResult, error) {
	var results []result.CensusResult
	for i := range survey.Tables {
		expected := &survey.Tables[i]
		begin := time.Now()
		c := census{target: t, survey: survey, expected: expected, sent: sent, result: result.CensusResult{
			Table: expected.Table.Name, Expected: expected.Rows, Contents: &result.Contents{Series: -1, Distinct: -1},
		}}
		c.open, c.result.Merged = openValues(survey.OneOf, expected)
		if err := c.take(ctx); err != nil {
			return results, fmt.Errorf("taking the census of table %s: %w", expected.Table.Name, err)
		}
		c.result.Contents.Seconds = time.Since(begin).Seconds()
		sent.Twice -= c.result.Duplicates
		results = append(results, c.result)
		if progress != nil {
			progress()
		}
	}
	return results, nil
}

// census is the census of one table.
type census struct {
	target   driver.DB
	survey   *oracle.Survey
	expected *oracle.Census
	sent     Sent
	open     []openValue // of each field; nil: the target keeps every row
	result   result.CensusResult
}

func (c *census) take(ctx context.Context) error {
	counted, err := c.target.Census(ctx, c.expected.Table)
	if err != nil {
		return err
	}
	c.result.Counted = counted.Rows
	different, err := c.different(ctx)
	if err != nil {
		return err
	}
	for _, reported := range []*driver.Census{&counted, different} {
		if reported != nil && len(reported.Fields) != len(c.expected.Fields) {
			return fmt.Errorf("the target tells of %d fields, and the table has %d", len(reported.Fields), len(c.expected.Fields))
		}
	}
	if different != nil {
		c.compareDifferent(counted.Rows, different)
		counted = *different
	} else {
		c.compareCounts(&counted)
	}
	if c.result.Problem != "" {
		return nil
	}
	// Every sum includes the duplicates.
	c.result.Problem = c.compareContents(&counted, different == nil && c.result.Duplicates > 0)
	if c.result.Problem == "" {
		c.result.Problem, err = c.compareSeries(ctx)
	}
	return err
}

// different returns the census of distinct rows if rows were sent twice; nil: all were sent once,
// or the target cannot count them.
func (c *census) different(ctx context.Context) (*driver.Census, error) {
	if c.sent.Twice == 0 {
		return nil, nil
	}
	switch {
	case c.survey.Repeats:
		c.result.Contents.PossiblyMissing = "rows of one series and time may come more than once in the dataset"
		return nil, nil
	case c.target.DistinctCensus == nil:
		c.result.Contents.PossiblyMissing = "the target cannot count different rows"
		return nil, nil
	}
	counted, err := c.target.DistinctCensus(ctx, c.expected.Table)
	if err != nil {
		return nil, fmt.Errorf("counting different rows: %w", err)
	}
	c.result.Contents.Distinct = counted.Rows
	return &counted, nil
}

// compareDifferent compares the number of distinct rows, and of rows.
func (c *census) compareDifferent(rows int64, different *driver.Census) {
	r := &c.result
	duplicates := rows - different.Rows
	if duplicates > 0 && duplicates <= c.sent.Twice {
		r.Duplicates = duplicates
	}
	switch lost := c.expected.Rows - different.Rows; {
	case lost != 0:
		r.Problem = fmt.Sprintf("table %s holds %d different rows, %d expected", r.Table, different.Rows, c.expected.Rows)
		if lost > 0 {
			c.recordLost(lost)
		}
	case duplicates != r.Duplicates:
		r.Problem = fmt.Sprintf("table %s holds %d rows, %d expected, and %d at most were sent twice", r.Table, rows, c.expected.Rows, c.sent.Twice)
	}
}

// recordLost records missing rows as lost if they were acknowledged.
func (c *census) recordLost(rows int64) {
	if c.sent.Acknowledged {
		c.result.Lost = rows
		c.result.Problem += fmt.Sprintf("; %d of its rows are lost: the target had acknowledged them", rows)
	}
}

// compareCounts compares the numbers of rows and of values.
func (c *census) compareCounts(counted *driver.Census) {
	r := &c.result
	surplus := c.surplus(counted)
	if surplus > 0 && surplus <= c.sent.Twice {
		r.Duplicates = surplus
	}
	r.Problem = c.countProblem(counted)
	switch {
	case r.Problem == "":
	case surplus < 0:
		c.recordLost(-surplus)
	case surplus > 0 && c.sent.Twice > 0:
		r.Problem += fmt.Sprintf(", and %d at most were sent twice", c.sent.Twice)
	}
}

// surplus returns the number of extra rows in a table. For a system that counts only points it is
// the largest difference of a field: at least that many rows.
func (c *census) surplus(counted *driver.Census) int64 {
	if counted.Rows >= 0 {
		return counted.Rows - c.expected.Rows
	}
	most := int64(0)
	for i := range counted.Fields {
		if d := counted.Fields[i].Count - c.expected.Fields[i].Count; max(d, -d) > max(most, -most) {
			most = d
		}
	}
	return most
}

// countProblem returns the first difference. Each duplicate may have a value in any field.
func (c *census) countProblem(counted *driver.Census) string {
	table, duplicates := c.expected.Table, c.result.Duplicates
	if counted.Rows >= 0 && counted.Rows != c.expected.Rows+duplicates {
		return fmt.Sprintf("table %s holds %d rows, %d expected", table.Name, counted.Rows, c.expected.Rows)
	}
	for i, f := range table.Fields {
		found, expected := counted.Fields[i].Count, c.expected.Fields[i].Count
		if beyond, open := found-expected, c.openCount(i); beyond < -open || beyond > duplicates+open {
			return fmt.Sprintf("table %s holds %d values of %s, %d expected", table.Name, found, f.Name, expected)
		}
	}
	return ""
}
