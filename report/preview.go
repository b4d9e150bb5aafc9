package report

import (
	"fmt"
	"io"

	"github.com/tsmark/tsmark/report/picture"
	"github.com/tsmark/tsmark/report/write"
)

// writePicture draws the headlines and the ratios of the runs, with their basis and their
// disturbances, as one image for slides and messages.
func (p *Report) writePicture(w io.Writer, format write.Format) error {
	return picture.Draw(w, format, p.Groups, p.runs, false)
}

// WritePreview writes, as PNG, the preview that services show with a link to the page: the
// picture with the ratios over all query types and of the loads alone. It is
// nearly twice as wide as high, since they cut off the rest.
func (p *Report) WritePreview(w io.Writer) error {
	if err := picture.Draw(w, write.PNG, p.Groups, p.runs, true); err != nil {
		return fmt.Errorf("writing the preview: %w", err)
	}
	return nil
}
