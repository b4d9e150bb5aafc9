package input

import (
	"fmt"
	"strconv"
	"strings"
)

// OwnFiles is the setting of the workload own that names files, folders and patterns.
const OwnFiles = "own.files"

// Names are the files, folders and patterns that settings of workloads name.
func Names(settings map[string]string) ([]string, error) { return SplitNames(settings[OwnFiles]) }

// SplitNames splits at commas outside of double quotes.
func SplitNames(text string) ([]string, error) {
	var names []string
	for text = strings.TrimLeft(text, ", \t\n"); text != ""; text = strings.TrimLeft(text, ", \t\n") {
		name := text
		if text[0] == '"' {
			quoted, err := strconv.QuotedPrefix(text)
			if err != nil {
				return nil, fmt.Errorf("%s is not a name in quotes", text)
			}
			name, _ = strconv.Unquote(quoted)
			text = text[len(quoted):]
		} else {
			name, text, _ = strings.Cut(text, ",")
		}
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}
