package driver

// Safety is where a row is when the system acknowledges it. Load rates of systems with different
// ones are those of different work.
type Safety string

// The kinds of safety. A system whose settings are unknown has none of them.
const (
	OnDisk Safety = "on disk" // forced there
	// ByTimer is OnDisk by a timer of the server, for whose next tick acknowledgements wait: the load
	// rate is at most the rows that all workers have under way, per tick.
	ByTimer  Safety = "on disk, at the next tick of the server's timer"
	InFiles  Safety = "in files that are not yet forced to disk" // a crash of the machine may lose it
	InMemory Safety = "in the server's memory"                   // a crash of the server may lose it
	// Nowhere is where rows are that are not acknowledged.
	Nowhere Safety = "on its way to the server, which acknowledges nothing"
)
