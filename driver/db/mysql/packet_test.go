package mysql

import (
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
)

// alive is a connection that stays open.
type alive struct{ library }

func (alive) IsValid() bool { return true }

// A small max_allowed_packet is named with its remedy by check, before LOAD DATA, and where
// a statement is too long.
func TestSmallPacket(t *testing.T) {
	for value, want := range map[string]struct{ advised, refused bool }{
		"16384": {true, true}, "65536": {true, false}, "1048576": {true, false}, "16777216": {false, false},
	} {
		advised := len(driver.AdviseOn(concerns, map[string]string{"max_allowed_packet": value})) > 0
		err := checkPacket(value)
		if advised != want.advised || (err != nil) != want.refused {
			t.Errorf("%s: advised %v, refused %v", value, advised, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "max_allowed_packet is "+value) || !strings.Contains(err.Error(), "SET GLOBAL max_allowed_packet")) {
			t.Error(err)
		}
	}
	c := &conn{my: alive{}, wire: &limit.Conn{}}
	err := c.explain(t.Context(), &mysql.MySQLError{Number: errPacket, Message: "Got a packet bigger than 'max_allowed_packet' bytes"})
	if err == nil || !strings.Contains(err.Error(), "SET GLOBAL max_allowed_packet") || number(err) != errPacket {
		t.Error(err)
	}
}
