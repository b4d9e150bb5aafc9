package secret

import (
	"os"
	"strings"

	"github.com/tsmark/tsmark/internal/infile"
)

// FromFile reads the secret from a file named as @FILE, without the end of its last line; named is
// false if the value is the secret itself.
func FromFile(value string) (content string, named bool, err error) {
	name, named := strings.CutPrefix(value, "@")
	if !named {
		return value, false, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", true, infile.Cannot("read the secret behind @ in", name, err)
	}
	return strings.TrimRight(strings.TrimPrefix(string(text), "\ufeff"), "\r\n"), true, nil
}
