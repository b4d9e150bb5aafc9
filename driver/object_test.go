package driver

import "testing"

func TestObjects(t *testing.T) {
	first, second := Token(), Token()
	if IdentityOf("a", "b") == IdentityOf("ab") || first == second {
		t.Error("descriptions or tokens do not tell objects apart")
	}
	for want, o := range map[string]Object{
		"table cpu":            {Kind: "table", Name: "cpu"},
		"retention policy a b": {Name: "retention policy a b"},
		`view "a\nb, table c"`: {Kind: "view", Name: "a\nb, table c"},
		"table theirs.cpu":     {Kind: "table", Name: "cpu", Schema: "theirs"},
		`table "say \"hi\""`:   {Kind: "table", Name: `say "hi"`},
	} {
		if got := o.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	small, large := Object{Name: "cpu", Key: "cpu"}, Object{Name: "CPU", Key: "cpu"}
	if !small.Clashes(large) || (Object{Name: "cpu"}).Clashes(Object{Name: "CPU"}) || (Object{Name: "cpu"}).Clashes(Object{Name: "cpu", Schema: "theirs"}) {
		t.Error("names clash otherwise than their keys say")
	}
}
