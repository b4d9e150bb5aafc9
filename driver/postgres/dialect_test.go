package postgres_test

import (
	"testing"

	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/postgres"
)

// The golden files are written again by go test ./driver/postgres -update.
func TestQuestions(t *testing.T) {
	conformance.Questions(t, postgres.Kind(), "sql", *update)
}

func TestWideQuestions(t *testing.T) {
	conformance.QuestionsWith(t, postgres.Kind(), map[string]string{"layout": "wide"}, "wide", "sql", *update)
}

func TestNarrowQuestions(t *testing.T) {
	conformance.QuestionsWith(t, postgres.Kind(), map[string]string{"layout": "narrow"}, "narrow", "sql", *update)
}
