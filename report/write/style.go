package write

import "strings"

// Style is the style sheet of the pages, for pages that belong to them.
func Style() (string, error) {
	text, err := PageFiles.ReadFile("style.css")
	return string(text), err
}

// StyleColor returns the color of a class of series, such as #0072b2, on a light background.
func StyleColor(class string) string {
	text, err := PageFiles.ReadFile("style.css")
	if err != nil {
		panic(err) // it is embedded
	}
	_, after, _ := strings.Cut(string(text), "--"+class+": ")
	color, _, _ := strings.Cut(after, ";")
	return color
}
