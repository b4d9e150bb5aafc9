package cassandra

import (
	"errors"
	"strconv"
	"testing"

	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// A batch may be sent again where the session that all workers share is gone, and its
// server with it: nothing of it was sent.
func TestWriteWithoutAServer(t *testing.T) {
	port := strconv.Itoa(fault.FreePort(t)) // nobody listens there
	o, err := new(Driver()).Resolve(map[string]string{connection.Port: port})
	if err != nil {
		t.Fatal(err)
	}
	schema, batch := rows(t)
	_, err = newWriter(&database{link: newLink(o), layout: newLayout(o)}, schema).Write(t.Context(), batch)
	if again := driver.AsTemporary(err); again == nil || !again.Refused || !errors.Is(err, driver.ErrUnreachable) {
		t.Errorf("%v, which may not be sent again", err)
	}
}
