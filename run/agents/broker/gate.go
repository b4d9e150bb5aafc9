package broker

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// gate decides who may connect to a server, and which subjects each may use. An agent can
// publish in no other agent's name, hear no other agent's commands, and command nobody. It
// implements server.Authentication.
type gate struct {
	own   [sha256.Size]byte // of the password of this process
	token [sha256.Size]byte
	asks  bool // for the token
}

// subjects are the subjects that an agent may use, in which * is its process.
var (
	agentPublishes  = []string{"tsmark.join.*", "tsmark.coordinator.?.*.>"}
	agentSubscribes = []string{"tsmark.agent.*.>", "tsmark.pulse.?", "_INBOX.*.>"}
)

// responseTime is how long an agent may take to answer a request.
const responseTime = 2 * time.Minute

// Check implements server.Authentication.
func (g *gate) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	if same(o.Password, g.own) {
		return true
	}
	if g.asks && !same(o.Token, g.token) || !ValidID(o.Username) {
		return false
	}
	allowed := func(subjects []string) *server.SubjectPermission {
		p := new(server.SubjectPermission)
		for _, s := range subjects {
			p.Allow = append(p.Allow, strings.NewReplacer("*", o.Username, "?", "*").Replace(s))
		}
		return p
	}
	c.RegisterUser(&server.User{Username: o.Username, Permissions: &server.Permissions{
		Publish: allowed(agentPublishes), Subscribe: allowed(agentSubscribes),
		Response: &server.ResponsePermission{MaxMsgs: 1, Expires: responseTime},
	}})
	return true
}

func same(text string, digest [sha256.Size]byte) bool {
	found := sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(found[:], digest[:]) == 1
}

// ValidID reports whether a text can be the ID of an agent's process, as rand.Text draws it.
func ValidID(text string) bool {
	return len(text) == 26 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}
