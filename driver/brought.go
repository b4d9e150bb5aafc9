package driver

// Brought is about a server that no script in the folder servers starts: no package
// registry has it, or none that can be installed within minutes, so users bring it.
// A script may start a stand-in: see Driver.StandIn.
// What such a driver was seen to do is bound to the versions of Tested, and is said so.
type Brought struct {
	// How says in one sentence how a server is to be had and started, as far as a
	// line can: "in a container; see docs/drivers/NAME.md".
	How string
}
