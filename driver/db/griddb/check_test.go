package griddb

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// unconnectedDatabase returns a database that has not connected.
func unconnectedDatabase(o driver.Options) *database {
	return &database{link: newLink(o), system: newSystem(o)}
}

// What a node's system service tells, and that nothing is known without it.
func TestCheckBySystemService(t *testing.T) {
	paths := map[string]string{
		"/node/stat": `{"currentTime":"2016-01-01T00:00:00.000Z","performance":{"currentTime":1451606400861}}`,
		"/node/config": `{"dataStore":{"dbPath":"/var/lib/gridstore/data","logWriteMode":1,"persistencyMode":"NORMAL","storeMemoryLimit":"1024MB"},
			"cluster":{"replicationNum":2},"transaction":{"replicationMode":0},"trace":{"default":"LEVEL_ERROR","dataStore":"LEVEL_DEBUG"}}`,
	}
	host, port := stub.HTTP(t, stub.Paths(paths))
	d := unconnectedDatabase(conformance.Options(t, Driver(), connection.Host, host, optionSystemPort, port))
	conformance.Reads(t, d.db(), time.UnixMilli(1451606400861), "/var/lib/gridstore/data", "")
	conformance.Advises(t, d.db(), "", "dataStore.storeMemoryLimit", "trace (dataStore)")
	paths["/node/config"] = `{"dataStore":{"dbPath":"data","logWriteMode":-1}}`
	conformance.Reads(t, d.db(), time.UnixMilli(1451606400861), "", `in "data" below its GS_HOME`)
	conformance.Advises(t, d.db(), "", "dataStore.logWriteMode")

	d = unconnectedDatabase(conformance.Options(t, Driver(), optionSystemPort, "0"))
	conformance.Advises(t, d.db(), "system_port=0")
	_, err := d.ReadClock(t.Context())
	stub.Says(t, err, "system_port=0")
}

// Each node that options name is looked at, and its port of SQL where queries go there.
func TestEndpoints(t *testing.T) {
	for _, c := range []struct {
		pairs []string
		want  []string // address and option of each
	}{
		{nil, []string{"127.0.0.1:10001", connection.Port}},
		{[]string{optionMembers, "a:1,b:2"}, []string{"a:1", optionMembers, "b:2", optionMembers}},
		{[]string{optionLanguage, languageSQL, optionLayout, layoutTable, optionSQLPort, "3"}, []string{"127.0.0.1:10001", connection.Port, "127.0.0.1:3", optionSQLPort}},
		{[]string{optionProvider, "http://a/b"}, nil},
	} {
		list, err := endpoints(driver.Options(conformance.Options(t, Driver(), c.pairs...)))
		var got []string
		for _, e := range list {
			got = append(got, e.Address, e.Option)
		}
		if err != nil || len(got) != len(c.want) {
			t.Errorf("%v: %v, %v", c.pairs, got, err)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%v: %v, want %v", c.pairs, got, c.want)
			}
		}
	}
}
