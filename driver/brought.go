package driver

// Brought is about a server that no script in the folder servers starts: no package
// registry has it, or none that can be installed within minutes, so users bring it.
// A script may start a stand-in.
// What such a driver was seen to do is bound to the versions of Tested, and is said so.
type Brought struct {
	// How says in one sentence how a server is to be had and started, as far as a
	// line can: "in a container, as docs/drivers/NAME.md says".
	How string
	// StandIn is what the script in the folder servers starts instead, in words: tests
	// and CI have that, which tells nothing of the server's own. Empty: there is no
	// script.
	StandIn string
}

// standing says what the suite passed on instead; empty: nothing.
func (b *Brought) standing() string {
	if b.StandIn == "" {
		return ""
	}
	return ", but against " + b.StandIn
}
