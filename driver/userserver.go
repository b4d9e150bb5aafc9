package driver

// UserServer describes a server that no script in the folder servers starts, because no
// package registry has it or because it takes too long to install. Users provide the server.
// A script may start a stand-in: see Driver.StandIn.
// The suite vouches only for the versions in Tested, and reports say so.
type UserServer struct {
	// How says in one sentence how to get and start a server:
	// "in a container; see docs/drivers/NAME.md".
	How string
}
