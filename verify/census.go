package verify

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/target"
)

// Sent is what is known of how the rows of a census were sent.
type Sent struct {
	// Acknowledged says that the target accepted every row of the dataset and
	// said so: those that are missing are lost.
	Acknowledged bool
	// Twice is how many rows were sent again although they may have been stored
	// before, to a target that then keeps both: so many duplicates are possible.
	Twice int64
}

// Census counts the tables of a target and compares them with the dataset's.
// Rows beyond those expected are duplicates as far as rows were sent twice, and
// no problem.
func Census(ctx context.Context, t target.Target, survey *oracle.Survey, sent Sent) ([]result.CensusResult, error) {
	var results []result.CensusResult
	for _, expected := range survey.Tables {
		counted, err := t.Census(ctx, expected.Table)
		if err != nil {
			return results, fmt.Errorf("counting table %s: %w", expected.Table.Name, err)
		}
		r := compareCensus(&expected, counted, sent)
		sent.Twice -= r.Duplicates
		results = append(results, r)
	}
	return results, nil
}

func compareCensus(expected *oracle.Census, counted target.Census, sent Sent) result.CensusResult {
	r := result.CensusResult{Table: expected.Table.Name, Expected: expected.Rows, Counted: counted.Rows}
	surplus := surplusOf(expected, counted)
	if surplus > 0 && surplus <= sent.Twice {
		r.Duplicates = surplus
	}
	r.Problem = censusProblem(expected, counted, r.Duplicates)
	switch {
	case r.Problem == "":
	case surplus < 0 && sent.Acknowledged:
		r.Lost = -surplus
		r.Problem += fmt.Sprintf("; %d of its rows are lost: the target had acknowledged them", r.Lost)
	case surplus > 0 && sent.Twice > 0:
		r.Problem += fmt.Sprintf(", and %d at most were sent twice", sent.Twice)
	}
	return r
}

// surplusOf returns how many rows a table has more than expected. Of a system
// that counts points only it is the largest difference of a field, which no
// fewer rows can make.
func surplusOf(expected *oracle.Census, counted target.Census) int64 {
	if counted.Rows >= 0 {
		return counted.Rows - expected.Rows
	}
	most := int64(0)
	for i, f := range expected.Table.Fields {
		if d := counted.Points[f.Name] - expected.Points[i]; max(d, -d) > max(most, -most) {
			most = d
		}
	}
	return most
}

// censusProblem returns the first difference. Of so many duplicates each may
// have a value in any field.
func censusProblem(expected *oracle.Census, counted target.Census, duplicates int64) string {
	if counted.Rows >= 0 && counted.Rows != expected.Rows+duplicates {
		return fmt.Sprintf("table %s holds %d rows, %d expected", expected.Table.Name, counted.Rows, expected.Rows)
	}
	for i, f := range expected.Table.Fields {
		if beyond := counted.Points[f.Name] - expected.Points[i]; beyond < 0 || beyond > duplicates {
			return fmt.Sprintf("table %s holds %d values of %s, %d expected", expected.Table.Name, counted.Points[f.Name], f.Name, expected.Points[i])
		}
	}
	return ""
}
