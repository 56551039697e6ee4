package graphml

import (
	"bufio"
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
)

// Limits of a document. Each tag and each text is kept in memory completely.
const (
	maxDepth = 32
	maxToken = 1 << 26 // bytes
)

// key is the declaration of an attribute.
type key struct {
	id, name, kind string // kind is boolean, int, long, float, double, string, or something else
	of             string // the XML attribute for: node, edge, graph or all
	preset         string // the default

	role   role
	column int      // of the features
	last   *element // the last element with this attribute
}

// datum is the value of an attribute.
type datum struct {
	key  *key
	text string
}

// element is a node or an edge. The next element overwrites its data.
type element struct {
	line               int
	id, source, target string
	data               []datum
	seen               int // the number of data that the method repeats has checked
}

// repeats reports whether e has its last attribute twice.
func (e *element) repeats() bool {
	if len(e.data) == 0 {
		return false
	}
	k := e.data[len(e.data)-1].key
	again := k.last == e && len(e.data) > e.seen
	k.last, e.seen = e, len(e.data)
	return again
}

// document reads a file and passes its content to three callbacks, in the order of the file.
type document struct {
	in      *lines.File
	limited *meter
	*xml.Decoder
	keys   []*key
	byID   map[string]*key
	open   []string // the names of the open tags
	graphs int
	count  int // nodes and edges

	// begin is called before the first node, when all keys and the attributes of the graph are known.
	begin func(keys []*key) error
	// node and edge are called with each element. Their errors are returned with the line number.
	node, edge func(e *element) error
	begun      bool
	graph      []datum // the attributes of the graph
}

// meter limits the bytes that are read for one token.
type meter struct {
	r    *bufio.Reader
	left int
}

// Read makes meter an io.Reader. The decoder only calls ReadByte.
func (m *meter) Read(p []byte) (int, error) { return m.r.Read(p) }

// ReadByte returns the next byte, or an error if the token is longer than maxToken.
func (m *meter) ReadByte() (byte, error) {
	if m.left--; m.left < 0 {
		return 0, fmt.Errorf("a tag or a text of more than %d bytes", maxToken)
	}
	return m.r.ReadByte()
}

// read reads the file at path.
func (d *document) read(ctx context.Context, path string) error {
	in, err := lines.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	d.in, d.byID = in, map[string]*key{}
	d.limited = &meter{r: bufio.NewReaderSize(in, 1<<16)}
	d.Decoder = xml.NewDecoder(d.limited)
	d.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("the encoding %.20q, expected UTF-8", charset)
	}
	for {
		token, err := d.token()
		if err == io.EOF {
			break
		}
		if start, ok := token.(xml.StartElement); ok && err == nil {
			err = d.element(ctx, start)
		}
		if err != nil {
			return err
		}
	}
	if d.graphs == 0 {
		return d.in.Fail(0, "no graph in it: expected <graphml> with one <graph>")
	}
	return d.start()
}

// fail returns an error about the line where the last token ended.
func (d *document) fail(text string, args ...any) error {
	line, _ := d.InputPos()
	return d.in.Fail(line, text, args...)
}

// token returns the next token, and checks that tags are closed in order.
func (d *document) token() (xml.Token, error) {
	d.limited.left = maxToken
	token, err := d.RawToken()
	if err == io.EOF {
		if len(d.open) > 0 {
			return nil, d.fail("the file ends within <%.50s>", d.open[len(d.open)-1])
		}
		return nil, err
	}
	if err != nil {
		if syntax, is := err.(*xml.SyntaxError); is {
			return nil, d.in.Fail(syntax.Line, "not well-formed XML: %s", syntax.Msg)
		}
		if _, is := err.(*format.ReadError); is {
			return nil, err
		}
		return nil, d.fail("%w", err)
	}
	switch t := token.(type) {
	case xml.StartElement:
		if len(d.open) == maxDepth {
			return nil, d.fail("tags are nested more than %d deep", maxDepth)
		}
		d.open = append(d.open, tag(t.Name))
	case xml.EndElement:
		if len(d.open) == 0 || d.open[len(d.open)-1] != tag(t.Name) {
			return nil, d.fail("</%.50s> closes no open tag", tag(t.Name))
		}
		d.open = d.open[:len(d.open)-1]
	}
	return token, nil
}

func tag(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

// attribute returns an attribute of a tag, or "".
func attribute(start xml.StartElement, name string) string {
	for _, a := range start.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// element reads a tag outside nodes and edges.
func (d *document) element(ctx context.Context, start xml.StartElement) error {
	depth := len(d.open)
	switch name := start.Name.Local; {
	case depth == 1 && name != "graphml":
		return d.fail("the document is a <%.50s>, expected <graphml>", name)
	case depth == 1:
		return nil
	case name == "key" && depth == 2:
		return d.declare(start)
	case name == "graph" && depth == 2:
		if d.graphs++; d.graphs > 1 {
			return d.fail("a second graph, expected one")
		}
		return nil
	case name == "data" && depth <= 3:
		e := element{data: d.graph}
		err := d.datum(start, &e)
		d.graph = e.data
		return err
	case name == "node" && depth == 3:
		return d.nodeOrEdge(ctx, start, d.node)
	case name == "edge" && depth == 3:
		return d.nodeOrEdge(ctx, start, d.edge)
	case name == "hyperedge" && depth == 3:
		return d.fail("a hyperedge, expected edges of two nodes")
	}
	return d.skip()
}

// start calls begin once.
func (d *document) start() error {
	if d.begun {
		return nil
	}
	d.begun = true
	if err := d.begin(d.keys); err != nil {
		return d.fail("%w", err)
	}
	return nil
}

// within calls use with each token until the open tag is closed. use may read further.
func (d *document) within(use func(token xml.Token) error) error {
	for depth := len(d.open); len(d.open) >= depth; {
		token, err := d.token()
		if err == nil {
			err = use(token)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// skip reads to the end of the open tag.
func (d *document) skip() error { return d.within(func(xml.Token) error { return nil }) }

// text returns the text of the open tag, and reads to its end. ok is false if there are tags in it.
func (d *document) text() (text string, ok bool, err error) {
	ok = true
	var all []byte
	err = d.within(func(token xml.Token) error {
		switch t := token.(type) {
		case xml.CharData:
			if len(all)+len(t) > maxToken {
				return d.fail("a text of more than %d bytes", maxToken)
			}
			all = append(all, t...)
		case xml.StartElement:
			ok = false
		}
		return nil
	})
	return string(all), ok, err
}

// declare reads a <key>.
func (d *document) declare(start xml.StartElement) error {
	k := &key{
		id: attribute(start, "id"), name: attribute(start, "attr.name"), kind: attribute(start, "attr.type"),
		of: cmp.Or(attribute(start, "for"), "all"),
	}
	if k.name == "" {
		k.name, k.kind = k.id, "" // a type specific to a program, such as yEd's drawings
	}
	if d.byID[k.id] != nil {
		return d.fail("the key %.50q appears twice", k.id)
	}
	if d.graphs > 0 {
		return d.fail("the key %.50q comes after the graph, must be before", k.id)
	}
	d.keys, d.byID[k.id] = append(d.keys, k), k
	return d.within(func(token xml.Token) (err error) {
		if start, is := token.(xml.StartElement); is && start.Name.Local == "default" {
			k.preset, _, err = d.text()
			k.preset = strings.TrimSpace(k.preset)
		}
		return err
	})
}

// nodeOrEdge reads a <node> or an <edge>, and passes it to take.
func (d *document) nodeOrEdge(ctx context.Context, start xml.StartElement, take func(*element) error) error {
	if err := d.start(); err != nil {
		return err
	}
	line, _ := d.InputPos()
	e := &element{
		line: line,
		id:   attribute(start, "id"), source: attribute(start, "source"), target: attribute(start, "target"),
	}
	if d.count++; d.count&0xf == 0 && ctx.Err() != nil { // an element may hold thousands of features
		return ctx.Err()
	}
	err := d.within(func(token xml.Token) error {
		inner, is := token.(xml.StartElement)
		if !is {
			return nil
		}
		switch name := inner.Name.Local; name {
		case "data":
			if err := d.datum(inner, e); err != nil {
				return err
			}
			if e.repeats() {
				return d.fail("the attribute %.50q appears twice", e.data[len(e.data)-1].key.name)
			}
			return nil
		case "graph":
			return d.fail("a graph within a %s, expected one graph that is not nested", start.Name.Local)
		case "port":
			return d.fail("a port of the node %.50q, expected nodes without ports", e.id)
		}
		return d.skip()
	})
	if err != nil {
		return err
	}
	if err := take(e); err != nil {
		return d.in.Fail(line, "%w", err)
	}
	return nil
}

// datum reads a <data> of e. An attribute with tags in it is skipped.
func (d *document) datum(start xml.StartElement, e *element) error {
	k := d.byID[attribute(start, "key")]
	if k == nil {
		return d.fail("data with the key %.50q, which is not declared", attribute(start, "key"))
	}
	text, plain, err := d.text()
	if err != nil || !plain {
		return err
	}
	e.data = append(e.data, datum{k, text})
	return nil
}
