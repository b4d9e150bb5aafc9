package mysql

import (
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// The advice for a missing right is a statement that gives it.
func TestDenied(t *testing.T) {
	c := &config{Config: mysql.NewConfig()}
	c.DBName, c.User = "tsmark", "bench"
	for refused, want := range map[string]string{
		"SELECT command denied to user 'bench'@'localhost' for table 'tsmark_mark'":                                     "run GRANT SELECT ON tsmark.* TO 'bench'@'localhost',",
		"INSERT, UPDATE command denied to user 'bench'@'%' for table `tsmark`.`cpu`":                                    "run GRANT INSERT, UPDATE ON tsmark.* TO 'bench'@'%',",
		"Access denied for user 'bench'@'localhost' to database 'tsmark'":                                               "run GRANT ALL ON tsmark.* TO 'bench'@'localhost',",
		"Access denied; you need (at least one of) the PROCESS privilege(s) for this operation":                         "run GRANT PROCESS ON *.* TO 'bench',",
		"Access denied; you need (at least one of) the SUPER or SYSTEM_VARIABLES_ADMIN privilege(s) for this operation": "run GRANT SUPER ON *.* TO 'bench',",
		"execute command denied to everybody":                                                                           "give a user who has this right",
	} {
		if err := c.deniedError(&mysql.MySQLError{Number: errNoRight, Message: refused}); !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
