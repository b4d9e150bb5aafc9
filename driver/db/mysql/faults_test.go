package mysql_test

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver/db/mysql"
)

// TestFaults checks that a server failure leads to one clear line, or to figures that show it.
func TestFaults(t *testing.T) {
	conformance.Long(t)
	conformance.Address(t, "mysql") // tells how, where servers are not to be started
	fault.Run(t, fault.Target{
		Driver: mysql.Driver(), Server: fault.Script(t, "mysql"),
		Options: map[string]string{"user": "tsmark", "password": conformance.Password(t)},
		Cannot:  map[string]string{fault.Throttled: "its protocol is not HTTP"},
	})
}

// An encrypted connection loads and queries; a certificate that nobody vouches for is
// refused unless the option says otherwise.
func TestTLS(t *testing.T) {
	conformance.Address(t, "mysql")
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	pair := web.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir, flags := t.TempDir(), "--require-secure-transport=ON"
	for name, block := range map[string]*pem.Block{
		"cert": {Type: "CERTIFICATE", Bytes: pair.Certificate[0]},
		"key":  {Type: "PRIVATE KEY", Bytes: key},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		flags += fmt.Sprintf(" --ssl-%s=%s", name, file)
	}
	s := fault.Script(t, "mysql", "TSMARK_MARIADB_FLAGS="+flags)
	options := map[string]string{"port": strconv.Itoa(s.Port()), "user": "tsmark", "password": conformance.Password(t), "tls": "on"}
	stub.Says(t, try(t, options), "the server's certificate cannot be trusted", "give tls=insecure")
	options["tls"] = "off"
	if err := try(t, options); err == nil || !strings.Contains(err.Error(), "Access denied") && !strings.Contains(err.Error(), "insecure transport") { // as MariaDB calls it, and as from 11.4 on
		t.Errorf("a connection without TLS: %v", err)
	}
	options["tls"] = "insecure"
	db := open(t, options)
	table := conformance.Table("a")
	conformance.Prepare(t, db, 10, table)
	w := conformance.Writer(t, db)
	defer conformance.Close(t, w)
	if _, err := w.Write(t.Context(), batch(table, 500)); err != nil {
		t.Fatal(err)
	}
	conformance.CheckRows(t, conformance.Query(t, db, "SELECT count(*) FROM cpu"), conformance.Row(500))
}
