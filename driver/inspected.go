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

// Untold is the error of what a server does not tell, whoever asks: the reason in words,
// as a sentence with what to look at in its place.
type Untold string

// Error implements error.
func (u Untold) Error() string { return string(u) }

// Reading is what a server's clock showed.
type Reading struct {
	Asked, Answered time.Time     // by this machine's clock, before the request and behind its answer
	Server          time.Time     // by the server's, somewhere between the two
	Unit            time.Duration // in which the server tells its time, cut off
}

// Offset returns by how much the server's clock is ahead of this machine's, and how far
// that may be wrong: the server read its clock at some moment of the round trip, and
// within a unit of what it told.
func (r Reading) Offset() (ahead, uncertain time.Duration) {
	half := r.Answered.Sub(r.Asked) / 2
	return r.Server.Add(r.Unit / 2).Sub(r.Asked.Add(half)), half + r.Unit/2
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
