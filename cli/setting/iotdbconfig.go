package setting

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/iotdbconfig"
)

// IoTDBFiles are the flags of files that IoTDB-Benchmark reads.
type IoTDBFiles struct{ config, routine string }

// IoTDBConfigFlag is the name of the flag for the file of IoTDB-Benchmark.
const IoTDBConfigFlag, iotdbRoutineFlag = "iotdb-config", "iotdb-routine"

// ConfigFlag adds --iotdb-config.
func (f *IoTDBFiles) ConfigFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, IoTDBConfigFlag, "", "take the scenario from the config.properties of IoTDB-Benchmark, a `file`: see docs/iotdb-config.md")
	flag.CompleteFiles(cmd, IoTDBConfigFlag, "properties")
}

// RoutineFlag adds --iotdb-routine.
func (f *IoTDBFiles) RoutineFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.routine, iotdbRoutineFlag, "", "a run for each TEST of IoTDB-Benchmark's routine, a `file` that changes parameters of --iotdb-config")
	flag.CompleteFiles(cmd, iotdbRoutineFlag)
}

// IsSet reports whether the scenario should be read from such files.
func (f *IoTDBFiles) IsSet(cmd *cobra.Command) bool {
	return f.config != "" || f.routine != "" || cmd.Flags().Changed(IoTDBConfigFlag)
}

// Read makes the experiment. targets says whether the command line names some.
func (f *IoTDBFiles) Read(cmd *cobra.Command, drivers []driver.Driver, targets bool) (*experiment.Experiment, error) {
	if !cmd.Flags().Changed(IoTDBConfigFlag) {
		return nil, fmt.Errorf("--%s changes parameters of a config.properties; name one with --%s", iotdbRoutineFlag, IoTDBConfigFlag)
	}
	o := iotdbconfig.Options{Drivers: drivers, Targets: targets}
	config, err := readProperties("--"+IoTDBConfigFlag, f.config)
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
