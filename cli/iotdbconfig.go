package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/iotdbconfig"
)

// iotdbFiles are the flags of files that IoTDB-Benchmark reads.
type iotdbFiles struct{ config, routine string }

const iotdbConfigFlag, iotdbRoutineFlag = "iotdb-config", "iotdb-routine"

// configFlag adds --iotdb-config.
func (f *iotdbFiles) configFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, iotdbConfigFlag, "", "take the scenario from the config.properties of IoTDB-Benchmark, a `file`: see docs/iotdb-config.md")
	completeFiles(cmd, iotdbConfigFlag, "properties")
}

// routineFlag adds --iotdb-routine.
func (f *iotdbFiles) routineFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.routine, iotdbRoutineFlag, "", "a run for each TEST of IoTDB-Benchmark's routine, a `file` that changes parameters of --iotdb-config")
	completeFiles(cmd, iotdbRoutineFlag)
}

// completeFiles lets the shell complete a flag's value from files.
func completeFiles(cmd *cobra.Command, flag string, extensions ...string) {
	if err := cmd.MarkFlagFilename(flag, extensions...); err != nil {
		panic(err) // the flag was defined a line earlier
	}
}

// given reports whether the scenario should be read from such files.
func (f *iotdbFiles) given(cmd *cobra.Command) bool {
	return f.config != "" || f.routine != "" || cmd.Flags().Changed(iotdbConfigFlag)
}

// read makes the experiment. targets says whether the command line names some.
func (f *iotdbFiles) read(cmd *cobra.Command, drivers []driver.Driver, targets bool) (*experiment.Experiment, error) {
	if !cmd.Flags().Changed(iotdbConfigFlag) {
		return nil, fmt.Errorf("--%s changes parameters of a config.properties; name one with --%s", iotdbRoutineFlag, iotdbConfigFlag)
	}
	o := iotdbconfig.Options{Drivers: drivers, Targets: targets}
	config, err := readProperties("--"+iotdbConfigFlag, f.config)
	if err != nil {
		return nil, err
	}
	if f.routine == "" {
		return iotdbconfig.Read(config, o)
	}
	routine, err := readProperties("--"+iotdbRoutineFlag, f.routine)
	if err != nil {
		return nil, err
	}
	return iotdbconfig.ReadRoutine(config, routine, o)
}

// readProperties reads a file that a flag names, if it is readable.
func readProperties(flag, name string) (iotdbconfig.File, error) {
	file := iotdbconfig.File{Name: name}
	in, err := os.Open(name)
	if err == nil {
		defer in.Close() // reading only
		file.Data, err = io.ReadAll(io.LimitReader(in, iotdbconfig.MaxSize+1))
	}
	if err != nil {
		return file, fmt.Errorf("%s: %w", flag, infile.Unreadable(name, err))
	}
	return file, nil
}
