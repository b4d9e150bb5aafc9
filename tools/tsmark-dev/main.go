// Command tsmark-dev helps developers of tsmark:
//
//	go -C tools run ./tsmark-dev new-driver cratedb --kit sql
//
// new-driver writes a driver that compiles, with its script, its page and the tests that it
// does not pass yet.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{
		Use:           "tsmark-dev",
		Short:         "Help people who change tsmark",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(newDriverCommand())
	if err := root.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "tsmark-dev:", err)
		os.Exit(2)
	}
}

func newDriverCommand() *cobra.Command {
	var kit, root string
	cmd := &cobra.Command{
		Use:   "new-driver NAME",
		Short: "Write the folder, script, page and failing tests of a new driver",
		Example: `  tsmark-dev new-driver cratedb --kit sql
  tsmark-dev new-driver m3db --kit metric`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := newDriver(args[0], kit)
			if err != nil {
				return err
			}
			written, err := d.write(root)
			if err != nil {
				return err
			}
			for _, name := range written {
				fmt.Fprintln(cmd.OutOrStdout(), name)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "\nNext: go test ./driver/all ./driver/db/%s lists the missing parts.\nCONTRIBUTING.md, \"Adding a database\", explains each step.\n", d.Name)
			return nil
		},
	}
	cmd.Flags().StringVar(&kit, "kit", "sql", "kit that the driver starts from: sql, http or metric")
	cmd.Flags().StringVar(&root, "root", "..", "folder of the repository")
	return cmd
}
