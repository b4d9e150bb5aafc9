package griddb

import (
	"net"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/conformance/stub/front"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// Rows go to a server and come back over encrypted connections, in both languages. The
// server is one of the Community Edition behind what stands for one of the Enterprise
// Edition.
func TestTLS(t *testing.T) {
	options := conformance.TestServer(t, Driver(), FromEnvironment("database", "test_tls", optionLayout, layoutTable, optionDirect, "true")...)
	writes := front.Serve(t, net.JoinHostPort(options[connection.Host], options[connection.Port]))
	reads := front.Serve(t, net.JoinHostPort(options[connection.Host], options[optionSQLPort]))
	_, options[connection.Port], _ = net.SplitHostPort(writes.Address())
	_, options[optionSQLPort], _ = net.SplitHostPort(reads.Address())
	for value, says := range map[string]string{connection.On: "certificate cannot be trusted", connection.Off: "connections with TLS alone"} {
		options[connection.TLS] = value
		d := Driver()
		o, err := d.Resolve(options)
		if err == nil {
			_, err = open(t.Context(), driver.Env{Create: true}, o)
		}
		if stub.Says(t, err, says); strings.Contains(err.Error(), "\n") {
			t.Errorf("%v has more than a line", err)
		}
	}
	options[connection.TLS] = connection.Insecure
	schema := &series.Schema{Tables: []*series.Table{conformance.Table("usage")}, Series: 3}
	table := schema.Tables[0]
	for _, language := range []string{languageTQL, languageSQL} {
		options[optionLanguage] = language
		d := conformance.OpenAt(t, Driver(), options).Required.(*database)
		if err := session.New(d.db()).Prepare(t.Context(), schema, session.Mark{}); err != nil {
			t.Fatal(err)
		}
		w, err := d.NewWriter(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		var b series.Batch
		run := b.Add(table)
		run.Grow(3)
		for i := range 3 {
			run.Series[i], run.Times[i] = uint32(i), int64(i+1)*1e9
		}
		if _, err := w.Write(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		conformance.Close(t, w)
		r, err := Driver().Render(&query.Query{Type: "q", Table: table.Name, Shape: query.Rows{Fields: []string{table.Fields[0].Name}, Order: query.Ascending}}, schema, d.options)
		if err != nil {
			t.Fatal(err)
		}
		q, err := d.NewQuerier(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if cost, err := q.Do(t.Context(), r, nil); err != nil || cost.Rows != 3 {
			t.Errorf("%s: %d rows: %v", language, cost.Rows, err)
		}
		conformance.Close(t, q)
	}
	if writes.EncryptedCount() == 0 || reads.EncryptedCount() == 0 {
		t.Errorf("%d and %d connections were encrypted", writes.EncryptedCount(), reads.EncryptedCount())
	}
}
