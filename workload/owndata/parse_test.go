package owndata

import (
	"testing"
)

func TestTableName(t *testing.T) {
	for file, want := range map[string]string{
		"x/yellow_tripdata_2024-01.parquet": "yellow_tripdata", "cpu.csv.gz": "cpu", "2024.csv": "data", "a-b.csv": "a_b", "btcusd": "btcusd",
	} {
		if got := tableName(file); got != want {
			t.Errorf("%s becomes %s, want %s", file, got, want)
		}
	}
}
