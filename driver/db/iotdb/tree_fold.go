package iotdb

import "github.com/tsmark/tsmark/query"

// fold merges the rows of devices that share the values of some tags into one row for each group. GROUP
// BY LEVEL could do so for means only: over several devices, IoTDB 2.0.1 returns any of their last
// values for last_value, NULL for max_by(x, time), and applies a condition on values to all devices at
// once.
type fold struct {
	// Keys are the indexes of the output columns for the tags of groups.
	Keys []int `json:"keys"`
	// Means means that the columns after the keys are a sum and a count for each mean. Otherwise the
	// row with the latest time, the first column, is the group's row.
	Means bool `json:"means,omitempty"`
	// Having is a condition on the group's row, with indexes of that row's columns.
	Having *having `json:"having,omitempty"`
	// Width is the number of columns of the result: those after it are for the condition.
	Width int `json:"width"`
}

// having is a condition on a column, or on its ratio to another one.
type having struct {
	At      int              `json:"at"`
	Over    int              `json:"over,omitempty"` // 0: no divisor, since the first column is not a number
	Compare query.Comparison `json:"compare"`
	Value   float64          `json:"value"`
}

// holds reports whether a row satisfies the condition; NULL does not.
func (h *having) holds(row []query.Value) bool {
	v, ok := row[h.At].Number()
	if h.Over > 0 && ok {
		var over float64
		over, ok = row[h.Over].Number()
		v /= over
	}
	return ok && h.Compare.Holds(v, h.Value)
}

// folded are the groups of a result. It reuses its memory.
type folded struct {
	at   map[string]int // index of each group, by its key
	rows [][]query.Value
	key  []byte
}

func (g *folded) begin() {
	if g.at == nil {
		g.at = make(map[string]int)
	}
	clear(g.at)
	g.rows = g.rows[:0]
}

// add adds a row of a device.
func (g *folded) add(f *fold, row []query.Value) {
	g.key = g.key[:0]
	for _, column := range f.Keys {
		g.key = row[column].AppendKey(g.key)
	}
	at, there := g.at[string(g.key)]
	switch {
	case !there:
		at = len(g.rows)
		g.at[string(g.key)] = at
		if at < cap(g.rows) {
			g.rows = g.rows[:at+1]
		} else {
			g.rows = append(g.rows, nil)
		}
		g.rows[at] = copyRow(g.rows[at], row)
	case f.Means:
		for i := len(f.Keys); i < len(row); i++ {
			accumulate(&g.rows[at][i], row[i])
		}
	case row[0].Int > g.rows[at][0].Int:
		g.rows[at] = copyRow(g.rows[at], row)
	}
}

// copyRow copies a row with its texts.
func copyRow(dst, row []query.Value) []query.Value {
	if len(dst) != len(row) {
		dst = make([]query.Value, len(row))
	}
	for i, v := range row {
		text := append(dst[i].Text[:0], v.Text...)
		dst[i], dst[i].Text = v, text
	}
	return dst
}

// accumulate adds a sum or a count; NULL counts as 0.
func accumulate(total *query.Value, v query.Value) {
	switch {
	case v.Kind == query.Null:
	case total.Kind == query.Null:
		total.Kind, total.Int, total.Float = v.Kind, v.Int, v.Float
	case v.Kind == query.Int:
		total.Int += v.Int
	default:
		total.Float += v.Float
	}
}

// hand passes on the row of each group.
func (g *folded) hand(f *fold, sink query.Sink) (rows int64, err error) {
	for _, row := range g.rows {
		if f.Means {
			means(row, len(f.Keys))
		}
		if f.Having != nil && !f.Having.holds(row) {
			continue
		}
		rows++
		if sink == nil {
			continue
		}
		if err := sink.Row(row[:f.Width]); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// means replaces pairs of sum and count by means.
func means(row []query.Value, keys int) {
	for i, to := keys, keys; i+1 < len(row); i, to = i+2, to+1 {
		sum, known := row[i].Number()
		count, _ := row[i+1].Number()
		row[to].Kind = query.Null
		if known && count > 0 {
			row[to].Kind, row[to].Float = query.Float, sum/count
		}
	}
}
