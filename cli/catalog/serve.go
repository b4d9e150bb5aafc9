//go:build !light

package catalog

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/driver/serve"
)

// serveCommand runs a driver in a process of its own. It shows what the boundary to external drivers
// costs, and is not listed.
func (c Catalog) serveCommand() *cobra.Command {
	listen, tokenFile := "", ""
	cmd := &cobra.Command{
		Use: "serve-driver DRIVER --listen ADDRESS", Short: "Run a driver as the program of --target external", Hidden: true,
		Example: "  tsmark run --target external,command='tsmark serve-driver sqlite'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("tsmark serve-driver takes the name of a driver")
			}
			d, err := c.Driver(args[0])
			if err != nil {
				return err
			}
			return serve.Serve(cmd.Context(), d, listen, tokenFile, os.Stdin)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "`address`: unix:///PATH or grpc://HOST:PORT")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "`file` with the token that clients must send, for grpc://")
	return cmd
}
