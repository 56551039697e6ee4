// Package html writes a document as a self-contained page: it includes styles, plots and the library that draws them,
// and loads nothing from a server.
//
// A content security policy in the page forbids all requests, and all scripts except the two that this package writes,
// identified by their hashes. Data is written as text, never as code, so a name that contains HTML is shown literally.
//
// Apache ECharts draws the plots. The folder plots contains the necessary parts of ECharts, the script that builds
// them, and their licences. The library is compressed; browsers of 2023 or later can decompress it.
package html

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io"
	"strconv"
	"sync"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
)

//go:embed page
var files embed.FS

// style is the style sheet of a page, including the colours of classes.
var style = read("page.css") + palette(":root", false) + palette(":root[data-theme='dark']", true)

// palette returns a CSS rule that defines the colours --c0, --c1, … for the given selector.
func palette(selector string, dark bool) string {
	rule := selector + " {\n"
	for i, colour := range report.Palette(dark) {
		rule += "  --c" + strconv.Itoa(i) + ": " + colour + ";\n"
	}
	return rule + "}\n"
}

// script is the JavaScript of a page. All scripts are in one function, so that the only global name is window.report.
var script = "(function () {\n'use strict';\n" + read("keys.js") + read("steps.js") + read("slider.js") +
	read("plane.js") + read("bars.js") + read("heatmap.js") + read("lines.js") + read("page.js") + "})();\n"

// read returns the content of a file in the folder page.
func read(name string) string { return string(must(files.ReadFile("page/" + name))) }

// must returns v. Embedded files are always readable, so err is nil.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

//go:embed plots/plots.min.js.gz
var packed []byte

// Mark is near the beginning of each page, so that programs recognise pages of this package.
const Mark = `<meta name="generator" content="cgc report">`

// Render writes the page of a document, in one call to to.Write.
func Render(to io.Writer, d *report.Document) error {
	policy := "default-src 'none'; script-src '" + hashOf([]byte(script)) + "' '" + libraryHash() + "'; " +
		"style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
	var w writer
	if err := w.page(d, policy); err != nil {
		return err
	}
	_, err := w.WriteTo(to)
	return err
}

// libraryHash returns the hash of the decompressed library, which the browser runs.
var libraryHash = sync.OnceValue(func() string {
	return hashOf(must(io.ReadAll(must(gzip.NewReader(bytes.NewReader(packed))))))
})

// hashOf returns the hash of a script in the syntax of a content security policy.
func hashOf(code []byte) string {
	sum := sha256.Sum256(code)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
