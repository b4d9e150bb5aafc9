package driver

// Adapter makes drivers for systems that speak a driver's protocol and differ from its system.
type Adapter struct {
	// Quirks returns a pointer to a new value of the driver's type of differences, a struct whose fields have
	// yaml tags.
	Quirks func() any
	// Driver returns the driver for a system. Its error is a *QuirkError if a value of the quirks is wrong.
	Driver func(Compatible) (Driver, error)
}

// Compatible is a system with an Adapter's driver.
type Compatible struct {
	System string // as messages call it
	Quirks any    // as Adapter.Quirks returned it, filled
}

// QuirkError is the error of a value of a quirk.
type QuirkError struct {
	Path string // of the value below the quirks: types.text
	Text string
}

func (e *QuirkError) Error() string { return "quirks." + e.Path + ": " + e.Text }
