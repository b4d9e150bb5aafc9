// Package allow defines an agent's permissions: the databases it may connect to and the files it
// may read. An agent permits only what its flags list: otherwise anyone with a run's token could
// use the agent's network access, its passwords and its files.
package allow

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
)

// Needs are the permissions that an agent needs to take part in a run.
type Needs struct {
	Targets []string `json:"targets,omitempty"` // in the form of Target
	Files   []string `json:"files,omitempty"`   // files, folders and patterns of own data
}

// Target names a database: a driver and an address that it connects to, HOST:PORT or a URL. Without
// a port it includes all ports of the host.
func Target(driver, address string) string { return driver + "@" + address }

// Add adds the needs of another run.
func (n *Needs) Add(more Needs) {
	n.Targets = union(n.Targets, more.Targets)
	n.Files = union(n.Files, more.Files)
}

func union(list, more []string) []string {
	list = append(slices.Clone(list), more...)
	slices.Sort(list)
	return slices.Compact(list)
}

// Flags returns the flags of an agent that grant all needs; empty: there are no needs.
func (n Needs) Flags() string {
	var text strings.Builder
	for _, t := range n.Targets {
		fmt.Fprintf(&text, " --allow %s", quote(t))
	}
	for _, f := range n.Files {
		fmt.Fprintf(&text, " --allow-files %s", quote(f))
	}
	return text.String()
}

// quote quotes an argument for a shell.
func quote(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@,") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// List is the permissions of an agent.
type List struct {
	Targets []string // in the form of Target
	Files   []string // files, and folders with their contents; patterns as written
}

// Check returns an error that names the first need that is not permitted, and the flag that permits
// it.
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

// covers reports whether a permission includes the target: its address, or all ports of its host.
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

// holds reports whether a name is a permitted file, or in a permitted folder. A name with parent
// folders (..) is never permitted, because its destination may depend on a link.
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

// CheckTarget returns an error in a target that a user permits.
func CheckTarget(text string, driver func(name string) error) error {
	name, address, ok := strings.Cut(text, "@")
	if !ok || name == "" || address == "" || strings.ContainsAny(text, " \t\n") {
		return fmt.Errorf("%q must be DRIVER@HOST or DRIVER@HOST:PORT, such as postgres@db1:5432", text)
	}
	return driver(name)
}
