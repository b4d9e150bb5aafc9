package connection_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/internal/option"
)

// Own options change the usual ones, or stand behind those before them.
func TestOptions(t *testing.T) {
	list := connection.Options(
		option.Option{Name: connection.Host, Empty: "this machine"},
		option.Option{Name: connection.Port, Default: "9000", Help: "port of HTTP"},
		option.Option{Name: "pg_port", Default: "8812"},
		option.Option{Name: connection.Password},
		option.Option{Name: "token", Secret: true},
	)
	var names []string
	for _, o := range list {
		names = append(names, o.Name)
	}
	if want := []string{"host", "port", "pg_port", "user", "password", "token", "tls", "timeout"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if list[0].Default != "" || list[0].Shown() != "this machine" || list[1].Default != "9000" || list[1].Help != "port of HTTP" || list[1].Type.String() != "port" || !list[4].Secret {
		t.Errorf("%+v", list)
	}
}

func TestOf(t *testing.T) {
	v, err := option.Resolve("x", connection.Options(option.Option{Name: connection.Port, Default: "1"}), map[string]string{"user": "me", "timeout": "5s"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := connection.Of(v), (connection.Settings{Host: "127.0.0.1", Port: "1", User: "me", Timeout: 5 * time.Second}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
