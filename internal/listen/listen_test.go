package listen

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		address  Address
		loopback bool
	}{
		"127.0.0.1:80":   {Address{"127.0.0.1", 80}, true},
		"[::1]:0":        {Address{"::1", 0}, true},
		"localhost:9000": {Address{"localhost", 9000}, true},
		":4222":          {Address{"", 4222}, false},
		"0.0.0.0:4222":   {Address{"0.0.0.0", 4222}, false},
		"db.local:4222":  {Address{"db.local", 4222}, false},
	} {
		got, err := Parse(text, "127.0.0.1:1")
		if err != nil || got != want.address || got.Loopback() != want.loopback {
			t.Errorf("%s: %+v, loopback %v, %v", text, got, got.Loopback(), err)
		}
	}
	for _, text := range []string{"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:-1", "host:http"} {
		if a, err := Parse(text, "127.0.0.1:1"); err == nil {
			t.Errorf("%q was read as %v", text, a)
		}
	}
}
