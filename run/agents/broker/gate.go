//go:build !light

package broker

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// gate decides who may connect to a server, and which subjects each client may use. An agent can
// neither publish in the name of another agent nor receive its commands, and cannot send commands.
// It implements server.Authentication.
type gate struct {
	own           [sha256.Size]byte // of the password of this process
	token         [sha256.Size]byte
	requiresToken bool // whether the token is required
}

// subjects are the subjects that an agent may use; * is its process.
var (
	agentPublishes  = []string{"tsmark.join.*", "tsmark.coordinator.?.*.>"}
	agentSubscribes = []string{"tsmark.agent.*.>", "tsmark.pulse.?", "_INBOX.*.>"}
)

// responseTime is the time limit for an agent to answer a request.
const responseTime = 2 * time.Minute

// Check implements server.Authentication.
func (g *gate) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	if matchesDigest(o.Password, g.own) {
		return true
	}
	if g.requiresToken && !matchesDigest(o.Token, g.token) || !ValidID(o.Username) {
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

func matchesDigest(text string, digest [sha256.Size]byte) bool {
	found := sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(found[:], digest[:]) == 1
}
