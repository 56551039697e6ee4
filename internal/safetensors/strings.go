package safetensors

import (
	"errors"
	"fmt"
)

// Strings returns the two tensors that hold a list of strings: name, their concatenated bytes, and name.offsets, the
// len(list)+1 offsets at which they begin and end.
func Strings(name string, list []string) []Tensor {
	text, offsets := []byte{}, make([]int64, 1, len(list)+1)
	for _, s := range list {
		text = append(text, s...)
		offsets = append(offsets, int64(len(text)))
	}
	return []Tensor{{Name: name, Data: text}, {Name: name + ".offsets", Data: offsets}}
}

// ReadStrings returns a copy of the list that Strings wrote, or nil if there is no tensor of that name.
func ReadStrings(f *File, name string) ([]string, error) {
	if _, found := f.Find(name); !found {
		return nil, nil
	}
	text, err := Slice[uint8](f, name)
	if err != nil {
		return nil, err
	}
	offsets, err := Slice[int64](f, name+".offsets")
	if err != nil {
		return nil, err
	}
	if len(offsets) == 0 || offsets[0] != 0 || offsets[len(offsets)-1] != int64(len(text)) {
		return nil, errors.New(name + ".offsets do not run from 0 to the number of bytes")
	}
	list, all := make([]string, len(offsets)-1), string(text)
	for i := range list {
		if offsets[i] > offsets[i+1] || offsets[i+1] > int64(len(text)) {
			return nil, fmt.Errorf("%s.offsets[%d] is %d, must be %d to %d", name, i+1, offsets[i+1], offsets[i], len(text))
		}
		list[i] = all[offsets[i]:offsets[i+1]]
	}
	return list, nil
}
