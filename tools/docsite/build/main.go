// Command build makes the site of the documents, or reports the errors in them:
//
//	go -C tools run ./docsite/build FOLDER
//
// It reads the documents of the repository that holds tools, and the options of all drivers; a
// relative FOLDER starts at tools.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/tsmark/tsmark/driver/all"
	"github.com/tsmark/tsmark/run/compatible"
	"github.com/tsmark/tsmark/tools/docsite"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: build FOLDER")
		os.Exit(2)
	}
	if err := docsite.Build(os.DirFS(".."), compatible.Extend(all.Drivers()), os.Args[1]); err != nil {
		for line := range strings.Lines(err.Error() + "\n") {
			fmt.Fprint(os.Stderr, line)
		}
		os.Exit(1)
	}
}
