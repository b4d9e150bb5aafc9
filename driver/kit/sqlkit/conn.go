package sqlkit

import (
	"context"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// Conn is a connection to a database.
type Conn interface {
	// Query runs a statement and passes the rows of its result to the sink. It decodes every value even
	// if the sink is nil.
	Query(ctx context.Context, text string, sink query.Sink) (driver.Cost, error)
	// Exec runs statements one after the other and drops their results.
	Exec(ctx context.Context, texts ...string) error
}

// QueryRows returns the result of a statement of tsmark's own, which limit.NewOwnSink bounds.
func QueryRows(ctx context.Context, c Conn, text string) ([][]query.Value, error) {
	var answer query.Answer
	_, err := c.Query(ctx, text, limit.NewOwnSink(&answer))
	return answer.Rows, err
}

// RunBy returns the Run of a Counter that uses the connection.
func RunBy(c Conn) func(ctx context.Context, text string, sink query.Sink) error {
	return func(ctx context.Context, text string, sink query.Sink) error {
		_, err := c.Query(ctx, text, sink)
		return err
	}
}

// QueryRow returns the only row of such a result.
func QueryRow(ctx context.Context, c Conn, text string) ([]query.Value, error) {
	rows, err := QueryRows(ctx, c, text)
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("expected one row, found %d", len(rows))
	}
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// Explain is the Explain of a database: a statement that begins with these words returns the plan in
// the last column of its rows.
func Explain(c Conn, words string) func(context.Context, driver.Request) (string, error) {
	return func(ctx context.Context, q driver.Request) (string, error) {
		rows, err := QueryRows(ctx, c, words+" "+q.Text)
		if err != nil {
			return "", err
		}
		return PlanText(rows), nil
	}
}

// PlanText returns the last column of rows as lines.
func PlanText(rows [][]query.Value) string {
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = strings.TrimRight(row[len(row)-1].String(), "\n")
	}
	return strings.Join(lines, "\n")
}

// Literals is the Literals of a driver.Driver whose dialect no option changes.
func Literals(dialect func() *sql.Dialect, confinement string) func(driver.Options) query.Literals {
	return func(driver.Options) query.Literals { return dialect().Literals(confinement) }
}

// Parenthesize returns a statement that ends with a user's text in parentheses, at a place where the
// system's language allows only a query. If the system's parser accepts both the text and this
// statement, the text is one query: it cannot close the parenthesis and also be a statement by itself.
func Parenthesize(before, text string) string {
	return before + " (\n" + strings.TrimRight(text, "; \t\r\n") + "\n)"
}

// Render is the Render of a driver.Driver whose dialect no option changes.
func Render(dialect func() *sql.Dialect) func(*query.Query, *series.Schema, driver.Options) (driver.Request, error) {
	return func(q *query.Query, s *series.Schema, _ driver.Options) (driver.Request, error) {
		text, err := dialect().Render(q, s)
		return driver.Request{Text: text}, err
	}
}
