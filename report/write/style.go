package write

// Style is the style sheet of the pages, for pages that belong to them.
func Style() (string, error) {
	text, err := PageFiles.ReadFile("style.css")
	return string(text), err
}
