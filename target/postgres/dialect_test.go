package postgres_test

import (
	"testing"

	"github.com/tsmark/tsmark/target/postgres"
	"github.com/tsmark/tsmark/target/targettest"
)

// The golden files are written again by go test ./target/postgres -update.
func TestQuestions(t *testing.T) {
	targettest.Questions(t, postgres.Kind(), "sql", *update)
}

func TestWideQuestions(t *testing.T) {
	targettest.QuestionsWith(t, postgres.Kind(), map[string]string{"layout": "wide"}, "wide", "sql", *update)
}

func TestNarrowQuestions(t *testing.T) {
	targettest.QuestionsWith(t, postgres.Kind(), map[string]string{"layout": "narrow"}, "narrow", "sql", *update)
}
