package tables

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/result"
)

// DocumentedNotes says how many query types of a target match Prometheus, which differ as the target's
// system documents, and which are wrong. It returns nil unless types differ as documented.
func DocumentedNotes(t *result.Target) []doc.Span {
	var documented, wrong, reasons []string
	matching := 0
	add := func(queryType string, v *result.Verdict) {
		switch {
		case v.Difference != "":
			wrong = append(wrong, queryType)
		case v.Documented > 0:
			documented = append(documented, queryType)
			if len(reasons) == 0 || reasons[len(reasons)-1] != v.Reason {
				reasons = append(reasons, v.Reason)
			}
		case v.OK():
			matching++
		}
	}
	for i := range t.Queries {
		add(t.Queries[i].Type, &t.Queries[i].Verdict)
	}
	if t.Load != nil && t.Load.Mixed != nil {
		for i := range t.Load.Mixed.Types {
			add(t.Load.Mixed.Types[i].Type+" (mixed)", &t.Load.Mixed.Types[i].Verdict)
		}
	}
	if len(documented) == 0 {
		return nil
	}
	text := fmt.Sprintf("compared with Prometheus: %d types match, %d differ as documented (%s)", matching, len(documented), strings.Join(documented, ", "))
	if len(wrong) > 0 {
		text += fmt.Sprintf(", %d wrong (%s)", len(wrong), strings.Join(wrong, ", "))
	}
	return []doc.Span{doc.Dim(text + ". " + strings.Join(reasons, "; "))}
}
