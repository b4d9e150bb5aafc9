// Package allow says what an agent may do for a coordinator: which databases it may connect to
// and which files it may read. An agent allows nothing unless it was started with it: whoever
// holds the token of a run could otherwise use the agent's place in the network, its passwords
// and its files.
package allow

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
)

// Needs is what an agent needs to take part in a run.
type Needs struct {
	Targets []string `json:"targets,omitempty"` // as Target has them
	Files   []string `json:"files,omitempty"`   // files, folders and patterns of own data
}

// Target names a database: a driver and an address that it connects to, HOST:PORT or a URL.
// Without a port it stands for all ports of the host.
func Target(driver, address string) string { return driver + "@" + address }

// Add adds what another run needs.
func (n *Needs) Add(more Needs) {
	n.Targets = union(n.Targets, more.Targets)
	n.Files = union(n.Files, more.Files)
}

func union(list, more []string) []string {
	list = append(slices.Clone(list), more...)
	slices.Sort(list)
	return slices.Compact(list)
}

// Flags are the flags of an agent that allow it all; empty: nothing is needed.
func (n Needs) Flags() string {
	var text strings.Builder
	for _, t := range n.Targets {
		fmt.Fprintf(&text, " --allow %s", quoted(t))
	}
	for _, f := range n.Files {
		fmt.Fprintf(&text, " --allow-files %s", quoted(f))
	}
	return text.String()
}

// quoted is an argument for a shell.
func quoted(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@,") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// List is what an agent allows.
type List struct {
	Targets []string // as Target has them
	Files   []string // files, and folders with all that is in them; patterns as they are written
}

// Check returns an error that names the first thing that is needed and not allowed, and how to
// allow it.
func (l List) Check(n Needs) error {
	for _, t := range n.Targets {
		if !slices.ContainsFunc(l.Targets, func(allowed string) bool { return covers(allowed, t) }) {
			return fmt.Errorf("this agent does not allow %s; start it with%s", t, Needs{Targets: n.Targets}.Flags())
		}
	}
	for _, name := range n.Files {
		if !slices.ContainsFunc(l.Files, func(allowed string) bool { return holds(allowed, name) }) {
			return fmt.Errorf("this agent does not allow reading %s; start it with%s", name, Needs{Files: n.Files}.Flags())
		}
	}
	return nil
}

// covers reports whether what is allowed is the target, or all ports of its host.
func covers(allowed, target string) bool {
	if strings.EqualFold(allowed, target) {
		return true
	}
	name, address, ok := strings.Cut(target, "@")
	host, _, err := net.SplitHostPort(address)
	if !ok || err != nil {
		return false
	}
	return strings.EqualFold(allowed, Target(name, host)) || strings.EqualFold(allowed, Target(name, "["+host+"]"))
}

// holds reports whether a name is that of an allowed file, or of one in an allowed folder. A
// name that leads up through a folder is never allowed: where that ends a link may decide.
func holds(allowed, name string) bool {
	if slices.Contains(strings.Split(filepath.ToSlash(name), "/"), "..") {
		return false
	}
	folder, err := filepath.Abs(allowed)
	if err != nil {
		return false
	}
	file, err := filepath.Abs(name)
	if err != nil {
		return false
	}
	return file == folder || strings.HasPrefix(file, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

// CheckTarget reports what is wrong with a target that a user allows.
func CheckTarget(text string, driver func(name string) error) error {
	name, address, ok := strings.Cut(text, "@")
	if !ok || name == "" || address == "" || strings.ContainsAny(text, " \t\n") {
		return fmt.Errorf("%q must be DRIVER@HOST or DRIVER@HOST:PORT, such as postgres@db1:5432", text)
	}
	return driver(name)
}
