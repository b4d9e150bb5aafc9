// Command tsmark measures time series databases. See package cli.
package main

import (
	"os"

	"github.com/tsmark/tsmark/cli"
)

func main() { os.Exit(cli.Main()) }
