package workload_test

import (
	"testing"

	"github.com/tsmark/tsmark/workload"
)

// A dataset has one fingerprint, whether a default was given or left out.
func TestIoTDBFingerprint(t *testing.T) {
	of := func(i workload.IoTDB) string {
		return workload.Spec{Name: "iotdb", Scale: 3, IoTDB: i}.Fingerprint()
	}
	plain := of(workload.IoTDB{})
	if given := of(workload.IoTDB{}.Defaulted()); given != plain {
		t.Errorf("fingerprint %s with all defaults given, %s without", given, plain)
	}
	if other := of(workload.IoTDB{Sensors: 11}); other == plain {
		t.Error("eleven sensors have the fingerprint of ten")
	}
}
