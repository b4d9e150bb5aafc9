package record

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/result"
)

// lastStored is a store that remembers the last documents.
type lastStored struct {
	Store
	run   *result.Run
	piece *result.Piece
}

func (s *lastStored) Begin(_ context.Context, r *result.Run) error {
	s.run = r
	return nil
}

func (s *lastStored) Save(ctx context.Context, r *result.Run) error { return s.Begin(ctx, r) }

func (s *lastStored) Append(ctx context.Context, r *result.Run, p *result.Piece) error {
	s.piece = p
	return s.Begin(ctx, r)
}

// fill sets every text field reachable from a value, except for unredacted names, and returns their
// number.
func fill(v reflect.Value, text string, depth int) (filled int) {
	if depth == 0 {
		return 0
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fill(v.Elem(), text, depth-1)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("redact") != "-" {
				filled += fill(v.Field(i), text, depth-1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return fill(v.Index(0), text, depth-1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		filled = fill(key, text, depth-1) + fill(value, text, depth-1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("said " + text)
		return 1
	}
	return filled
}

// Whatever field a server influences, no document contains a secret: neither of a run nor of a
// piece.
func TestEveryFieldIsGuarded(t *testing.T) {
	const planted = "tr0ub4dor&3"
	hidden := secret.New()
	hidden.Add(planted)
	hasNone := func(what string, r *result.Run) {
		t.Helper()
		document, err := result.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(document), "tr0ub4dor") {
			t.Errorf("%s has a secret: %s", what, document)
		}
	}
	full := func() *result.Run {
		r := new(result.Run)
		if n := fill(reflect.ValueOf(r).Elem(), planted, 20); n < 80 {
			t.Fatalf("only %d fields were filled", n)
		}
		return r
	}
	store := new(lastStored)
	g := GuardedStore{store, hidden}
	for name, keep := range map[string]func(context.Context, *result.Run) error{"Begin": g.Begin, "Save": g.Save} {
		if err := keep(t.Context(), full()); err != nil {
			t.Fatal(err)
		}
		hasNone(name, store.run)
	}
	r := full()
	repeat := full().Targets[0].Repeats[0]
	if err := g.Append(t.Context(), r, result.NewPiece(&full().Targets[0], 1, repeat.Load, &repeat.Queries[0])); err != nil {
		t.Fatal(err)
	}
	hasNone("Append", store.run)
	put := new(result.Run)
	put.Add(store.piece)
	hasNone("a piece", put)
	if put.Targets[0].Repeats[0].Load.Mixed.Types[0].Withheld != "said ***" {
		t.Errorf("the piece lacks its contents: %+v", put.Targets[0].Repeats[0].Load.Mixed)
	}
}
