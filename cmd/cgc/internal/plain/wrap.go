package plain

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks a text between words into lines of at most width columns. Lines after the first are indented. A word that
// is too long gets its own line. A width of 0 means no limit.
func Wrap(text string, width int, indent string) string {
	var lines strings.Builder
	used := 0
	for i, word := range strings.Split(text, " ") {
		letters := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case width > len(indent) && used+1+letters > width:
			lines.WriteString("\n" + indent)
			used = len(indent)
		default:
			lines.WriteByte(' ')
			used++
		}
		lines.WriteString(word)
		used += letters
	}
	return lines.String()
}
