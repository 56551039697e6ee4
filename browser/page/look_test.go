package page_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/browser/chromium"
)

// TestLook takes pictures of the page in CGC_PAGE, for people to look at: in a wide and a narrow window, light and
// dark, and as a printer has it. They go to the folder CGC_PICTURES.
func TestLook(t *testing.T) {
	file, folder := os.Getenv("CGC_PAGE"), os.Getenv("CGC_PICTURES")
	if file == "" || folder == "" {
		t.Skip("CGC_PAGE and CGC_PICTURES do not say which page to look at, and where its pictures go")
	}
	browser := chromium.Start(t)
	for _, v := range []chromium.View{
		{Width: 1400, Height: 900}, {Width: 1400, Height: 900, Dark: true}, {Width: 390}, {Width: 390, Dark: true},
		{Width: 794, Height: 1123, Print: true},
	} {
		p := browser.Open(t, "file://"+file, v)
		p.Eval("report.ready", nil)
		name := fmt.Sprintf("%d", v.Width)
		if v.Dark {
			name += "-dark"
		}
		if v.Print {
			name += "-print"
			p.Eval("dispatchEvent(new Event('beforeprint'))", nil)
		}
		p.Screenshot(filepath.Join(folder, name+".png"), true)
		var first float64
		p.Eval("report.first", &first)
		t.Logf("%s: first plot after %.0f ms, console %q, requests %q", name, first, p.Errors(), p.Requests()[1:])
	}
}
