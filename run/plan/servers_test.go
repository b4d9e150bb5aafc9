package plan

import (
	"testing"

	"github.com/tsmark/tsmark/run/experiment"
)

func TestFurtherPorts(t *testing.T) {
	target := experiment.Target{Start: "run {port}", Options: experiment.Options{"a": "{port+2}", "b": "{port+10}", "c": "7"}}
	if ports := takePorts(target); len(ports) != 1 || ports["a"] != 2 || len(target.Options) != 2 {
		t.Errorf("%v, left %v", ports, target.Options)
	}
}
