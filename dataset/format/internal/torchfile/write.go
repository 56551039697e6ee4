package torchfile

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/archive"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
)

// Metadata is the key of the metadata in a file: a list of one string, a JSON object of strings.
const Metadata = "cgc"

// Write writes a dictionary of tensors, lists of strings and the metadata, as torch.save does. torch.load opens it with
// weights_only=True. In names, "_" replaces ".". Equal arrays give equal bytes.
func Write(ctx context.Context, path string, a *format.Arrays) error {
	const name = "archive" // torch's name for a file without a name, so that the bytes do not depend on the path
	meta, err := json.Marshal(a.Metadata)
	if err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	p := pickler{text: []byte("\x80\x02}(")} // protocol 2, an empty dictionary, a mark before its entries
	members := make([]archive.Member, 1, len(a.List)+3)
	total := int64(0)
	for _, array := range a.List {
		p.word(format.PlainName(array.Name))
		if texts, is := array.Data.([]string); is {
			p.words(texts)
			continue
		}
		d, blocks, err := numpy.Encode(array)
		if err != nil {
			return err
		}
		key := strconv.Itoa(len(members) - 1)
		n := p.tensor(key, d, array.Sides())
		total += int64(n) * int64(d.Size)
		members = append(members, archive.Member{Name: name + "/data/" + key, Blocks: blocks})
	}
	p.word(Metadata)
	p.words([]string{string(meta)}) // a list, because a Data prints only its length
	p.text = append(p.text, "u."...)
	members[0] = archive.Text(name+"/data.pkl", p.text)
	members = append(members,
		archive.Text(name+"/version", []byte("3\n")), archive.Text(name+"/byteorder", []byte("little")))
	const align = 64 // the alignment lets torch map the file
	return archive.Write(ctx, path, members, align, total+int64(len(p.text)))
}

// pickler writes a pickle of protocol 2.
type pickler struct{ text []byte }

func (p *pickler) add(s string) { p.text = append(p.text, s...) }

// word writes a string.
func (p *pickler) word(s string) {
	p.text = append(binary.LittleEndian.AppendUint32(append(p.text, 'X'), uint32(len(s))), s...)
}

// words writes a list of strings.
func (p *pickler) words(list []string) {
	p.add("](")
	for _, s := range list {
		p.word(s)
	}
	p.add("e")
}

// number writes a non-negative integer.
func (p *pickler) number(v int) {
	if v <= 1<<31-1 {
		p.text = binary.LittleEndian.AppendUint32(append(p.text, 'J'), uint32(v))
		return
	}
	p.text = binary.LittleEndian.AppendUint64(append(p.text, 0x8a, 8), uint64(v))
}

// tuple writes a tuple of numbers.
func (p *pickler) tuple(list []int) {
	p.add("(")
	for _, v := range list {
		p.number(v)
	}
	p.add("t")
}

// tensor writes a contiguous tensor whose numbers are in the member of that key. It returns the number of elements.
func (p *pickler) tensor(key string, d numpy.DType, shape []int) (elements int) {
	storage := map[numpy.DType]string{
		{Kind: 'f', Size: 4}: "FloatStorage", {Kind: 'i', Size: 8}: "LongStorage", {Kind: 'b', Size: 1}: "BoolStorage",
	}[d]
	stride := make([]int, len(shape))
	elements = 1
	for k := len(shape) - 1; k >= 0; k-- {
		stride[k] = elements
		elements *= shape[k]
	}
	p.add("ctorch._utils\n_rebuild_tensor_v2\n((")
	p.word("storage")
	p.add("ctorch\n" + storage + "\n")
	p.word(key)
	p.word("cpu")
	p.number(elements)
	p.add("tQ")
	p.number(0)
	p.tuple(shape)
	p.tuple(stride)
	p.add("\x89ccollections\nOrderedDict\n)RtR") // no gradient, no hooks
	return elements
}
