package driver

import (
	"context"
	"time"
)

// Clock is a DB whose server tells its time.
type Clock interface {
	// ReadClock reads the server's clock once, by the cheapest request that tells it, over a
	// connection that is open already where the protocol keeps one.
	ReadClock(context.Context) (Reading, error)
}

// Unknown is the error for a value that the server reports to no user. It is a sentence with
// the reason and with what to look at instead.
type Unknown string

// Error implements error.
func (u Unknown) Error() string { return string(u) }

// Reading is one reading of a server's clock.
type Reading struct {
	Sent, Answered time.Time     // by this machine's clock, before the request and after the answer
	Server         time.Time     // by the server's clock, at some time between the two
	Unit           time.Duration // resolution of the server's time, which is truncated to it
}

// Offset returns how far the server's clock is ahead of this machine's, and the uncertainty
// of that value: the server read its clock at some time during the round trip and truncated
// it to Unit.
func (r Reading) Offset() (ahead, uncertain time.Duration) {
	half := r.Answered.Sub(r.Sent) / 2
	return r.Server.Add(r.Unit / 2).Sub(r.Sent.Add(half)), half + r.Unit/2
}

// Storage is a DB whose server tells where it keeps its data, or how much room is left.
type Storage interface {
	// Room returns the folder of the data on the server's host, empty where the server
	// does not tell, and the bytes that are free there, -1 where it does not.
	Room(context.Context) (folder string, free int64, err error)
}

// Adviser is a DB that knows which settings of its server distort what is measured.
type Adviser interface {
	// Advise returns those that are as they should not be, as far as the server tells
	// this user. It changes nothing.
	Advise(context.Context) ([]Advice, error)
}

// Advice is about a setting of a server.
type Advice struct {
	Setting string // as the server names it
	Value   string // that it has
	Effect  string // what that does to the figures, as a clause: "commits are not forced to disk"
	Fix     string // what to do: "set it to on"
}
