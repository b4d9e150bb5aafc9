package questdb

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
)

// TSBS's texts on a real server, over both ways of reading. QuestDB 9 takes no SAMPLE BY
// together with GROUP BY any more.
func TestTSBSTexts(t *testing.T) {
	for _, read := range []string{readREST, readPGWire} {
		t.Run(read, func(t *testing.T) {
			conformance.Texts(t, Driver(), setOptions(server(t), optionRead, read), "double-groupby-1", "double-groupby-5", "double-groupby-all")
		})
	}
}
