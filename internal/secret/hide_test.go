package secret

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

type record struct {
	Text    string
	Pointer *string
	Inner   struct{ Texts []string }
	Maps    map[string]map[string]string
	Any     any
	Array   [2]record2
	Numbers []float64

	ID string `redact:"-"`
}

type record2 struct{ Text string }

// Everything that can be reached is looked at, but for what must stay.
func TestHide(t *testing.T) {
	build := func(secret, stays string) *record {
		text, other := "says "+secret, "and "+secret
		v := &record{Text: text, Pointer: &other, Maps: map[string]map[string]string{text: {other: secret}, "b": {}}, Any: &record2{text}, Numbers: []float64{1}}
		v.Inner.Texts = []string{"", secret}
		v.Array[1].Text = secret
		v.ID = stays
		return v
	}
	r := New()
	r.Add("hunter2")
	got := build("hunter2", "hunter2")
	r.Hide(got)
	if diff := cmp.Diff(build(Mark, "hunter2"), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	r.Hide((*record)(nil))
	r.Hide(new(record))
}
