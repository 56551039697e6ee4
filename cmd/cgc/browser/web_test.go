//go:build browser

package browser_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/graph-condensation/cgc/cmd/cgc/browser"
	"github.com/graph-condensation/cgc/condense"
	_ "github.com/graph-condensation/cgc/dataset" // registers .npz
	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestDemo checks that the page condenses the demo, that the saved file equals the command's, and that a model trains
// on it.
func TestDemo(t *testing.T) {
	s := open(t, browser.View{})
	s.demo()
	mattest.Says(t, s.text("#facts"), "4,000", "12,000")
	s.by("cgc")
	s.condense()
	s.sameAsPortable("demo-70.safetensors", t.TempDir())
	s.click("#train-run")
	s.visible("#accuracies")
	row := s.text("#accuracies tbody")
	mattest.True(t, strings.HasPrefix(row, "gcn on the small graph\t70\t200\t8"), "the table of accuracies has %q", row)
}

// TestReport checks that the report is shown in its frame with its plots, before and after a training run, that the
// saved file is identical, and that the condensed graph is available in other formats.
func TestReport(t *testing.T) {
	s := open(t, browser.View{}, browser.FramesTogether)
	s.demo()
	s.by("cgc")
	s.condense()
	s.visible("#report")
	for _, trained := range []bool{false, true} {
		if trained {
			s.Run(chromedp.SetValue("#epochs", "5", chromedp.ByQuery))
			s.click("#train-run")
			s.visible("#accuracies")
		}
		var marks, accuracies int
		want := 2
		if trained {
			want = 4 // plus accuracies and predictions
		}
		shown := func() bool { return marks >= want && (accuracies == 1) == trained } // the old report may still be there
		for begun := time.Now(); !shown() && time.Since(begun) < browser.Patience/2; time.Sleep(100 * time.Millisecond) {
			s.EvalFrame(`document.querySelectorAll(".plot canvas, .plot svg").length`, &marks)
			s.EvalFrame(`[...document.querySelectorAll("h2")].filter((h) => /learn/.test(h.textContent)).length`, &accuracies)
		}
		mattest.True(t, shown(),
			"trained %v: the report has %d plots, and %d headings of accuracies", trained, marks, accuracies)
	}
	page := contents(t, s.saved("demo-70.html"))
	mattest.True(t, bytes.Contains(page, []byte("cgc condense demo --method cgc --nodes 70 ")),
		"the report that was saved has %d bytes, without the command", len(page))
	s.click(`#formats-of-result button`) // the first button is .npz
	small := mattest.Must(condense.Load(s.arrived("demo-70.npz")))
	mattest.True(t, small.Nodes() == 70, "the .npz that was saved has %d nodes", small.Nodes())
}

// TestDropFolder checks that a dropped folder is described with its class names, gives the same condensed graph as the
// command, and can be used for training. The page sends no requests to other servers.
func TestDropFolder(t *testing.T) {
	s := open(t, browser.View{})
	folder := mattest.Must(filepath.Abs("../../../docs/example/shop"))
	s.drop(folder)
	s.visible("#condense")
	title := s.text("#graph-title")
	mattest.True(t, strings.HasSuffix(title, "shop"), "the graph is called %q", title)
	mattest.Says(t, s.text("#notes"), "1 node has no edge.")
	s.by("cgc")
	s.condense()
	nodes := browser.Value[string](s.Page, `document.querySelector("#nodes").value`)
	row := s.text("#sizes tbody tr:nth-child(2)")
	mattest.True(t, strings.HasPrefix(row, "condensed\t"+nodes), "the table of sizes has %q, want %s nodes", row, nodes)
	if command := s.text("#command"); !strings.HasPrefix(command, "cgc condense ./shop --method cgc --nodes "+nodes+" ") {
		t.Errorf("the command is %q", command)
	}
	work := t.TempDir()
	mattest.OK(t, os.CopyFS(filepath.Join(work, "shop"), os.DirFS(folder)))
	s.sameAsPortable("shop-"+nodes+".safetensors", work)
	s.click("#train-run")
	s.visible("#accuracies")
}

// TestPredict drops a model with new nodes on the page. The predictions must equal the command's up to the last digits,
// in which the portable code path may differ. A graph can be opened afterwards.
func TestPredict(t *testing.T) {
	s := open(t, browser.View{})
	work := t.TempDir()
	file := func(name string) string { return filepath.Join(work, name) }
	shop, arrived := "../../../docs/example/shop", "../../../docs/example/new-nodes"
	command(t, "condense", shop, "--nodes", "20", "--method", "cgc", "-o", file("small.safetensors"))
	command(t, "train", file("small.safetensors"), "--on", shop, "--seeds", "1", "-o", file("model.safetensors"))
	command(t, "summarize", file("model.safetensors"), "--on", shop, "-o", file("summary.safetensors"))
	command(t, "predict", file("summary.safetensors"), "--new", arrived, "-o", file("predictions.csv"))
	mattest.OK(t, os.CopyFS(work, os.DirFS(arrived)))
	s.drop(file("summary.safetensors"), file("nodes.csv"), file("edges.csv"))
	s.visible("#predict")
	s.Run(chromedp.Click("#predict-downloads a", chromedp.ByQuery))
	page, command := table(t, s.arrived("predictions.csv")), table(t, file("predictions.csv"))
	if len(page) != len(command) || len(page) < 2 {
		t.Fatalf("%d rows of the page and %d of the command", len(page), len(command))
	}
	for i, row := range page {
		for k, cell := range row {
			got, notNumber := strconv.ParseFloat(cell, 64)
			want, _ := strconv.ParseFloat(command[i][k], 64)
			if cell != command[i][k] && (notNumber != nil || math.Abs(got-want) > 1e-4) {
				t.Errorf("row %d: %q, and %q by the command", i, row, command[i])
			}
		}
	}
	if first := s.text("#predict-nodes tbody tr"); !strings.HasPrefix(first, page[1][0]+"\t"+page[1][1]) {
		t.Errorf("the first node is shown as %q, want %q", first, page[1])
	}
	s.fits()
	s.demo()
	mattest.True(t, browser.Value[bool](s.Page, `document.getElementById("predict").hidden`),
		"the predictions are still shown next to another graph")
}

func table(t *testing.T, path string) [][]string {
	t.Helper()
	return mattest.Must(csv.NewReader(bytes.NewReader(contents(t, path))).ReadAll())
}

// TestAuto checks that auto is the default, and that the page reports the chosen method and why. The graph must equal
// that of the command shown, up to rounding: in the browser, different code solves linear systems.
func TestAuto(t *testing.T) {
	s := open(t, browser.View{})
	s.demo()
	s.Run(chromedp.SetValue("#nodes", "14", chromedp.ByQuery))
	disabled := browser.Value[bool](s.Page, `document.getElementById("hops").disabled`)
	mattest.True(t, disabled, "the number of hops, which auto chooses, can be changed")
	s.condense()
	mattest.Says(t, s.text("#warnings"), "chosen by auto: ")
	if command := s.text("#command"); !strings.HasPrefix(command, "cgc condense demo --nodes 14 ") {
		t.Errorf("the command is %q", command)
	}
	page, command := s.andPortable("demo-14.safetensors", t.TempDir())
	got := mattest.Must(condense.Load(page))
	want := mattest.Must(condense.Load(command))
	for i, x := range want.X.Data {
		if difference := float64(x - got.X.Data[i]); !(math.Abs(difference) < 1e-4) {
			t.Fatalf("entry %d of X′ is %v, that of the command %v", i, got.X.Data[i], x)
		}
	}
}

// TestPlanetoidFiles checks that Cora's files, selected individually, give the same condensed graph as the command, and
// that the page asks which graph to open if the chosen files contain several.
func TestPlanetoidFiles(t *testing.T) {
	s := open(t, browser.View{})
	var cora, both []string
	for _, dir := range filepath.SplitList(os.Getenv("CGC_DATA")) {
		for _, name := range []string{"cora", "citeseer"} {
			found, _ := filepath.Glob(filepath.Join(dir, "planetoid", "ind."+name+".*"))
			if both = append(both, found...); name == "cora" {
				cora = append(cora, found...)
			}
		}
	}
	if len(cora) == 0 {
		t.Skip("cora is in no folder planetoid of $CGC_DATA")
	}
	s.choose("#files", cora...)
	s.visible("#condense")
	mattest.Says(t, s.text("#facts"), "2,708", "5,278")
	s.by("cgc")
	s.condense()
	t.Logf("cora: %s", s.text("#sizes thead"))
	work := t.TempDir()
	for _, file := range cora {
		mattest.OK(t, os.Symlink(file, filepath.Join(work, filepath.Base(file))))
	}
	mattest.OK(t, os.Symlink(work, filepath.Join(work, "FOLDER")))
	s.sameAsPortable("cora-70.safetensors", work)
	if len(both) > len(cora) {
		s.choose("#files", both...)
		s.Wait(`document.querySelectorAll("#choose-problem button").length === 2`)
		s.Run(chromedp.Click(`//div[@id="choose-problem"]//button[text()="citeseer"]`))
		s.visible("#condense")
		mattest.Says(t, s.text("#facts"), "3,327")
	}
}

// TestStop checks that the Stop button stops a training run and a condensation, that earlier results remain, and that
// new work can then be started.
func TestStop(t *testing.T) {
	s := open(t, browser.View{})
	file := filepath.Join(t.TempDir(), "large.safetensors")
	command(t, "data", "make", "--like", "flickr", "--scale", "0.5", "-o", file)
	ended := browser.Value[int](s.Page, `ended = 0, end = Worker.prototype.terminate,
		Worker.prototype.terminate = function () { ended++; return end.call(this); }, ended`)
	s.choose("#files", file)
	s.visible("#condense")
	s.click("#run")
	s.visible("#condensing button")
	s.Eval("ended = 0", &ended)
	s.click("#condensing button")
	s.visible("#condense-problem")
	if s.Eval("ended", &ended); ended != 1 {
		t.Errorf("the button ended %d workers, want 1", ended)
	}
	if text := s.text("#condense-problem"); !strings.HasPrefix(text, "Stopped.") {
		t.Errorf("a stopped condensation says %q", text)
	}

	s.click("#demo")
	s.Wait(`document.getElementById("graph-name").textContent === "demo"`)
	s.condense()
	s.Run(chromedp.SetValue("#epochs", "100000", chromedp.ByQuery))
	s.click("#train-run")
	s.Wait(`document.querySelector("#training-work progress").value > 0.0002`)
	s.Wait(`/left/.test(document.querySelector("#training-work .work-time").textContent)`)
	first := browser.Value[float64](s.Page, `document.querySelector("#training-work progress").value`)
	s.Wait(fmt.Sprintf(`document.querySelector("#training-work progress").value > %v`, first))
	s.click("#training-work button")
	s.visible("#train-problem")
	s.Run(chromedp.SetValue("#epochs", "3", chromedp.ByQuery))
	s.click("#train-run")
	s.visible("#accuracies")
	row := s.text("#accuracies tbody")
	mattest.True(t, strings.HasPrefix(row, "gcn on the small graph\t70\t3\t"), "the table of accuracies has %q", row)
}

// TestTooLarge checks that a graph larger than the address space of a page is rejected before it is read. A smaller
// graph causes the same message if the memory runs out. The page continues to work.
func TestTooLarge(t *testing.T) {
	s := open(t, browser.View{}, chromedp.Flag("js-flags", "--wasm-max-mem-pages=1600")) // 105 MB of memory
	huge := filepath.Join(t.TempDir(), "huge.safetensors")
	mattest.OK(t, os.WriteFile(huge, nil, 0o600))
	mattest.OK(t, os.Truncate(huge, 6e9)) // sparse: it needs no space on the disk
	s.choose("#files", huge)
	s.visible("#choose-problem")
	mattest.Says(t, s.text("#choose-problem"), "does not fit", "6 GB")

	large := filepath.Join(t.TempDir(), "large.safetensors")
	command(t, "data", "make", "--like", "arxiv", "-o", large)
	s.choose("#files", large)
	s.Wait(`/it took all/.test(document.getElementById("choose-problem").innerText)`)
	s.demo()
	s.condense()
}

// TestMistakes checks that an error in a file is reported with the file name and the line.
func TestMistakes(t *testing.T) {
	s := open(t, browser.View{Width: 390})
	folder := filepath.Join(t.TempDir(), "my graph")
	mattest.OK(t, os.Mkdir(folder, 0o755))
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		mattest.OK(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write("nodes.csv", "id,label,<img src=x onerror=alert(1)>\na,x,1\nb,y,oops\n")
	write("edges.csv", "source,target\na,b\n")
	s.choose("#folder", folder)
	s.visible("#choose-problem")
	text := s.text("#choose-problem")
	mattest.True(t, strings.HasPrefix(text, "my graph/nodes.csv:3: ") && strings.Contains(text, "oops"),
		"a wrong feature gets %q", text)
	write("nodes.csv", "id,label,f\na,x,1\nb,y,2\nc,x,3\nd,y,4\n")
	s.choose("#folder", folder)
	s.visible("#notes")
	mattest.Says(t, s.text("#notes"), "my graph comes without a split") // with the name as given
	s.choose("#files", write("song.mp3", "la la"))
	s.Wait(`/song.mp3/.test(document.getElementById("choose-problem").innerText)`)

	s.choose("#files", write("nodes.csv", "id,label,f\na,x,1\n"))
	s.Wait(`/^edges.csv: there is no such file/.test(document.getElementById("choose-problem").innerText)`)

	s.demo()
	s.Run(chromedp.SetValue("#nodes", "3", chromedp.ByQuery))
	s.click("#run")
	s.visible("#condense-problem")
	mattest.Says(t, s.text("#condense-problem"), "odes 3", "140")
	s.Run(chromedp.SetValue("#nodes", "70", chromedp.ByQuery),
		chromedp.SetValue("#seed", "9007199254740993", chromedp.ByQuery))
	s.click("#run")
	s.Wait(`/^Seed: 9007199254740993, must be .* 9,007,199,254,740,991/.test(
		document.querySelector("#condense-problem").innerText)`)
	s.fits()
}

// TestSeveral checks that the page distinguishes graphs with the same name, and that it shows the size of the chosen
// graph's files, not of all files.
func TestSeveral(t *testing.T) {
	s := open(t, browser.View{})
	work := t.TempDir()
	var files []string
	for _, name := range []string{"shop.npz", "shop.pt"} {
		files = append(files, filepath.Join(work, name))
		command(t, "convert", "../../../docs/example/shop", files[len(files)-1])
	}
	s.choose("#files", files...)
	s.visible("#choose-problem")
	mattest.Equal(t, s.text("#choose-problem .buttons"), "shop.npz\nshop.pt", "the choice is")
	s.click("#choose-problem button")
	s.visible("#condense")
	s.condense()
	row := s.text("#sizes tbody tr")
	mattest.True(t, strings.HasSuffix(row, "\t80\t–"), "the table of sizes has %q", row)
}

// TestAnyServer checks that the files of cgc web -o work on any server, under a subpath, and even if the server
// decompresses files.
func TestAnyServer(t *testing.T) {
	b := browser.Start(t)
	folder := filepath.Join(t.TempDir(), "public")
	command(t, "web", "-o", folder)
	plain := http.StripPrefix("/below/here/", http.FileServer(http.Dir(folder)))
	for name, handler := range map[string]http.Handler{
		"plain": plain,
		"unpacking": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, ".gz") {
				w.Header().Set("Content-Encoding", "gzip")
			}
			plain.ServeHTTP(w, r)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(handler)
			t.Cleanup(server.Close)
			s := openAt(t, b, server.URL+"/below/here/", browser.View{})
			s.demo()
		})
	}
}

// TestNoProgram checks that the page reports a missing program instead of waiting forever.
func TestNoProgram(t *testing.T) {
	b := browser.Start(t)
	folder := t.TempDir()
	mattest.OK(t, os.CopyFS(folder, os.DirFS("../internal/web/page")))
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	p := b.Open(t, server.URL, browser.View{})
	p.Wait(`document.getElementById("choose-problem").innerText.includes("the server answers 404")`)
}

// TestNumbers checks sizes and times at the limits of their units.
func TestNumbers(t *testing.T) {
	s := open(t, browser.View{})
	var none any
	s.Eval(`void import("/view.js").then((view) => { window.view = view; })`, &none)
	s.Wait(`window.view`)
	for expression, want := range map[string]string{
		"size(999)": "999 bytes", "size(1500)": "1.5 kB", "size(100200)": "100 kB", "size(250300)": "250 kB",
		"size(999499)": "999 kB", "size(999500)": "1 MB", "size(12e10)": "120 GB",
		"time(9.96)": "10.0 s", "time(99.4)": "99 s", "time(99.6)": "1 min 40 s", "time(119.6)": "2 min 00 s",
	} {
		mattest.Equal(t, browser.Value[string](s.Page, "view."+expression), want, "%s is", expression)
	}
}
