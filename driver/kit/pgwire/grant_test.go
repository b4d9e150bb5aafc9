package pgwire

import "testing"

// The advice for a missing right is a statement that gives it.
func TestGrant(t *testing.T) {
	for refused, want := range map[string]string{
		`permission denied for table tsmark_mark`:        `GRANT ALL ON TABLE tsmark_mark TO bench`,
		`permission denied for relation tsmark_mark`:     `GRANT ALL ON TABLE tsmark_mark TO bench`, // of PostgreSQL 10
		`permission denied for materialized view by_day`: `GRANT ALL ON TABLE by_day TO bench`,
		`permission denied for schema Side`:              `GRANT USAGE, CREATE ON SCHEMA "Side" TO bench`,
		`permission denied for database "bench"`:         `GRANT CONNECT, CREATE ON DATABASE bench TO bench`,
		`must be owner of table cpu`:                     `ALTER TABLE cpu OWNER TO bench`,
		`permission denied to create role`:               ``,
	} {
		if got := grant(refused, "bench"); got != want {
			t.Errorf("%s: %q, want %q", refused, got, want)
		}
	}
}
