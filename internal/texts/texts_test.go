package texts_test

import (
	"strconv"
	"testing"

	"github.com/tsmark/tsmark/internal/texts"
)

// Each text is in the list once, at the place that it got first.
func TestLookup(t *testing.T) {
	var list texts.List
	list.Reset()
	lookup := texts.NewLookup()
	for round := range 2 {
		for i := range 1000 {
			text := []byte(strconv.Itoa(i * i))
			if round == 0 && lookup.Find(&list, text) != -1 {
				t.Fatalf("%s is there before it was added", text)
			}
			code, err := lookup.Code(&list, text)
			if err != nil || code != int32(i) || lookup.Find(&list, text) != code || string(list.Text(code)) != string(text) {
				t.Fatalf("%s has place %d, %v", text, code, err)
			}
		}
	}
	if list.Len() != 1000 {
		t.Errorf("%d texts", list.Len())
	}
}
