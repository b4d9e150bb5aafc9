package verify_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// talker is a target with endless answers.
type talker struct {
	driver.Required
	row []query.Value
}

func (t talker) NewQuerier(context.Context, int) (driver.Querier, error) { return t, nil }

func (t talker) Do(ctx context.Context, _ driver.Request, sink query.Sink) (driver.Cost, error) {
	for rows := int64(1); ctx.Err() == nil; rows++ {
		if err := sink.Row(t.row); err != nil {
			return driver.Cost{Rows: rows}, err
		}
	}
	return driver.Cost{}, ctx.Err()
}

func (talker) Close() error { return nil }

// An answer is read up to the first extra row, and texts up to the length of any correct one: the
// answer is wrong and does not exhaust memory.
func TestEndlessAnswers(t *testing.T) {
	d, err := tsbs.CPUOnly().Dataset(spec())
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string][]query.Value{
		"rows":  {{Kind: query.Int, Int: 1}, {Kind: query.Float, Float: 1}},
		"texts": {{Kind: query.Text, Text: make([]byte, 80<<20)}},
	} {
		for _, queryType := range someTypes {
			t.Run(name+" of "+queryType, func(t *testing.T) {
				longer := spec()
				longer.End = longer.Start.Add(24 * time.Hour)
				sequence, err := tsbs.CPUOnly().Queries(longer, queryType, 1)
				if err != nil {
					t.Fatal(err)
				}
				queries := slices.Collect(sequence)
				expected, err := oracle.Pass(t.Context(), d, queries, nil, ignore)
				if err != nil {
					t.Fatal(err)
				}
				render := memory.Driver("memory")
				_ = fault.EndsBounded(t, func() error {
					verdict, err := verify.Answers(t.Context(), verify.Config{Workers: 1}, driver.DB{Required: talker{row: row}}, render.Renderer(nil), d, expected.Full)
					if err != nil || !strings.Contains(verdict.Difference, "read no further") {
						t.Errorf("%+v, %v", verdict, err)
					}
					return errors.New(verdict.Difference)
				})
			})
		}
	}
}
