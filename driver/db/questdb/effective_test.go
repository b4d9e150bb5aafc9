package questdb

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
)

// How the server stores a table is read back. It tells of dedup only whether there is any.
func TestEffective(t *testing.T) {
	for row, want := range map[string]string{
		`["DAY",true,true]`:  "",
		`["HOUR",true,true]`: "option partition_by=day is not in effect: the server says partitionBy of table cpu is hour; load the table again with --replace",
		`["DAY",false,true]`: "option wal=true is not in effect: the server says walEnabled of table cpu is false; load the table again with --replace",
		`["DAY",true,false]`: "option dedup=true is not in effect: the server says dedup of table cpu is false; load the table again with --replace",
	} {
		s := settingsOf(t, setOptions(serve(t, func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.FormValue("query"), "WHERE table_name = 'cpu'") {
				t.Errorf("sent %s", r.FormValue("query"))
			}
			fmt.Fprintf(w, `{"columns":[{"type":"STRING"},{"type":"BOOLEAN"},{"type":"BOOLEAN"}],"dataset":[%s],"count":1}`, row)
		}), optionDedup, dedupAllTags))
		d, _ := dataset(t, s)
		if err := driver.Contradiction(t.Context(), d.db()); fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("%s: %v", row, err)
		}
		_ = d.Close()
		if list, err := newDatabase(s).EffectiveOptions(t.Context()); list != nil || err != nil {
			t.Errorf("where nothing was created: %v, %v", list, err)
		}
	}
}
