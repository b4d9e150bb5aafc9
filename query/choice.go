package query

import "fmt"

// Choice is a group of a Last answer: rows that share the newest time. Any one of them is a correct
// answer.
type Choice struct {
	Rows [][]Value
	// Optional means that the group may be missing: another row of that time does not satisfy the
	// query's condition.
	Optional bool
}

// CompareChoices is Compare for a Last query with several correct answers: one row of each choice.
// All values of a row must come from one stored row.
func CompareChoices(q *Query, cols []Column, choices []Choice, found *Answer) *Difference {
	groups := make(map[string]*Choice, len(choices))
	for i := range choices {
		groups[choices[i].Rows[0][groupColumn].String()] = &choices[i]
	}
	for _, row := range found.Rows {
		if len(row) != len(cols) {
			return &Difference{Problem: fmt.Sprintf("%d columns in place of %d", len(row), len(cols)), Found: RowText(row)}
		}
		for i := range row {
			row[i] = cols[i].canonical(row[i])
		}
		key := row[groupColumn].String()
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
		if groups[c.Rows[0][groupColumn].String()] != nil && !c.Optional {
			return &Difference{Problem: "missing", Expected: RowText(c.Rows[0])}
		}
	}
	return nil
}

// groupColumn is the index of the tag's column in a Last answer, after the time.
const groupColumn = 1

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
		problem = fmt.Sprintf("none of the %d rows that share the newest time, such as the expected one", n)
	}
	return &Difference{Problem: problem, Expected: RowText(c.Rows[0]), Found: RowText(row)}
}
