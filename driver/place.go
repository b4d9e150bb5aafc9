package driver

import (
	"net"
	"path/filepath"
	"strings"
)

// FilePlace is the place of a file: its path with links resolved, as far as the path exists. Empty for
// an empty path.
func FilePlace(path string) string {
	if path == "" {
		return ""
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	for there, rest := whole, ""; ; {
		if found, err := filepath.EvalSymlinks(there); err == nil {
			return filepath.Join(found, rest)
		}
		parent := filepath.Dir(there)
		if parent == there {
			return whole
		}
		there, rest = parent, filepath.Join(filepath.Base(there), rest)
	}
}

// AddressPlace is host:port in the form used in places: all names that every machine has for itself are
// replaced by one.
func AddressPlace(host, port string) string {
	switch host = strings.ToLower(strings.TrimSuffix(host, ".")); host {
	case "localhost", "::1":
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
