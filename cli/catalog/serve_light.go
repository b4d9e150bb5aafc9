//go:build light

package catalog

import "github.com/spf13/cobra"

// serveCommand is missing from a build without Arrow Flight.
func (c Catalog) serveCommand() *cobra.Command {
	return &cobra.Command{Use: "serve-driver", Hidden: true}
}
