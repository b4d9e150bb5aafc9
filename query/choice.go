package query

import "fmt"

// Choice is a group of correct rows. An answer has any one of them. For a Last query they are the
// stored rows that share the newest time; for an ActiveShare query, the shares with and without
// borderline buckets: see Activity.Borderline.
type Choice struct {
	Rows [][]Value
	// Optional means that the group may be missing: another row of the newest time does not satisfy
	// the query's condition, or all active buckets are borderline.
	Optional bool
}

// CompareChoices is Compare for a query with several correct answers: one row of each choice. All
// values of a row of Last must come from one stored row.
func CompareChoices(q *Query, cols []Column, choices []Choice, found *Answer) *Difference {
	groups := make(map[string]*Choice, len(choices))
	for i := range choices {
		groups[q.groupOf(choices[i].Rows[0])] = &choices[i]
	}
	for _, row := range found.Rows {
		if len(row) != len(cols) {
			return &Difference{Problem: fmt.Sprintf("%d columns in place of %d", len(row), len(cols)), Found: RowText(row)}
		}
		for i := range row {
			row[i] = cols[i].canonical(row[i])
		}
		key := q.groupOf(row)
		c := groups[key]
		if c == nil {
			return &Difference{Problem: "unexpected, or there twice", Found: RowText(row)}
		}
		delete(groups, key)
		if d := c.differs(cols, row); d != nil {
			return d
		}
	}
	for i := range choices {
		c := &choices[i]
		if groups[q.groupOf(c.Rows[0])] != nil && !c.Optional {
			return &Difference{Problem: "missing", Expected: RowText(c.Rows[0])}
		}
	}
	return nil
}

// groupOf returns what identifies the group of a row in an answer with choices: the tag of a Last
// query, which follows the time; otherwise all keys.
func (q *Query) groupOf(row []Value) string {
	if _, last := q.Shape.(Last); last {
		return row[1].String()
	}
	return RowText(row[:q.Keys()])
}

func (c *Choice) differs(cols []Column, row []Value) *Difference {
	for _, right := range c.Rows {
		same := true
		for i := range cols {
			same = same && equal(cols[i].canonical(right[i]), row[i])
		}
		if same {
			return nil
		}
	}
	problem := "wrong row"
	if n := len(c.Rows); n > 1 {
		problem = fmt.Sprintf("none of the %d correct rows of its group, such as the expected one", n)
	}
	return &Difference{Problem: problem, Expected: RowText(c.Rows[0]), Found: RowText(row)}
}
