// Command build makes the site of the documents, or says what is wrong with them:
//
//	go run ./internal/docsite/build FOLDER
//
// It runs in the first folder of the repository.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/tsmark/tsmark/internal/docsite"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: build FOLDER")
		os.Exit(2)
	}
	if err := docsite.Build(os.DirFS("."), os.Args[1]); err != nil {
		for line := range strings.Lines(err.Error() + "\n") {
			fmt.Fprint(os.Stderr, line)
		}
		os.Exit(1)
	}
}
