package blocked

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/propagate"
)

// Kept is a file in which Hops keeps finished blocks of columns. If Hops is cancelled or the process is killed, the
// next call with an equal Kept and an equal input computes only the other blocks. Blocks are kept if the results are in
// a temporary file anyway, or if writing them takes at most a few percent of the time, and only on Linux. A restart of
// the machine loses them unless the file was closed.
type Kept struct {
	// Path is the name of the file. A file that Hops did not write is left alone.
	Path string
	// Identity describes the graph, the options and the program. A file of another identity is discarded. If Identity is
	// empty, nothing is kept.
	Identity string
	// Note is called with a sentence if blocks are used or discarded, or cannot be kept.
	Note func(sentence string)

	file *os.File
	raw  []byte // the mapped file
}

// The file begins with keptMagic and a SHA-256 of what determines the results. Then follow the identifier of the
// machine's start during which the file was written (zeros after Close), the number of finished columns, and results.
const (
	keptMagic = "cgc propagate 1\n"
	keptBoot  = 48
	keptDone  = 88
	keptHead  = 96
)

// resume opens the file for the results of r, if they are to be kept, and returns the number of finished columns.
func (k *Kept) resume(r *run, in propagate.Input) (done int) {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if k == nil || k.Identity == "" || len(boot) == 0 || !r.keepable(r.plan) {
		return 0
	}
	filed := r.plan
	filed.spill = true
	hash := sha256.New()
	fmt.Fprintln(hash, k.Identity, filed.width, r.first(filed), r.hops, r.d, r.rounded, len(in.Rows))
	hash.Write(memory.Bytes(in.Rows))
	hash.Write(memory.Bytes(in.Classes))
	head := make([]byte, keptHead)
	copy(hash.Sum(append(head[:0], keptMagic...))[keptBoot:keptDone], boot)
	size := r.resultBytes(filed)
	output := size / int64(r.hops+1-r.first(filed)) * int64(r.hops+1)
	if err := k.open(head, keptHead+size, output); err != nil {
		k.Note(fmt.Sprintf("an interruption will lose the work: %v", err))
		return 0
	}
	r.plan, r.kept = filed, k.raw[keptHead:]
	if done = k.done(); done > 0 {
		k.Note(fmt.Sprintf("%s has %d of %d columns, which are not computed again", k.Path, done, r.d))
	}
	return done
}

// open opens and maps the file, and sets its head. It discards results of another size, identity or start of the
// machine, and fails if the disk has no space for the file and output bytes.
func (k *Kept) open(head []byte, size, output int64) (err error) {
	write := func(w io.Writer) error { return binary.Write(w, binary.LittleEndian, head) }
	_, found := os.Lstat(k.Path)
	if errors.Is(found, fs.ErrNotExist) { // a killed process leaves no file without a head
		if err := atomicfile.Write(k.Path, write); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(k.Path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() {
		if k.raw == nil {
			file.Close()
		}
	}()
	if err := atomicfile.Lock(file); err != nil {
		return err
	}
	old := make([]byte, keptHead)
	_, _ = file.ReadAt(old, 0) // a shorter file has another size
	if !bytes.HasPrefix(old, []byte(keptMagic)) {
		return fmt.Errorf("cgc propagate did not write %s", k.Path)
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	boot := old[keptBoot:keptDone]
	if info.Size() == size && bytes.Equal(old[:keptBoot], head[:keptBoot]) &&
		(bytes.Equal(boot, head[keptBoot:keptDone]) || bytes.Equal(boot, make([]byte, len(boot)))) {
		copy(head[keptDone:], old[keptDone:])
	} else if found == nil {
		k.Note(k.Path + " is of another graph, version or options, or was damaged: all columns are computed")
	}
	fresh := binary.LittleEndian.Uint64(head[keptDone:]) == 0
	if _, err = file.WriteAt(head, 0); fresh {
		err = cmp.Or(err, file.Truncate(keptHead))
		if free, known := atomicfile.Free(filepath.Dir(k.Path)); known && free < size+output {
			err = cmp.Or(err, fmt.Errorf("%s and the output need %d bytes, and the disk has %d", k.Path, size+output, free))
		}
	}
	if k.file = file; err == nil {
		k.raw, err = memory.Map(file, size)
	}
	if err != nil && fresh {
		os.Remove(k.Path)
	}
	return err
}

// done returns the number of finished columns.
func (k *Kept) done() int { return int(binary.LittleEndian.Uint64(k.raw[keptDone:])) }

// finish records that the columns below done are finished.
func (k *Kept) finish(done int) { binary.LittleEndian.PutUint64(k.raw[keptDone:], uint64(done)) }

// Close ends the use of the file after Hops. If stay is set and a block is finished, the file stays and is synced, so
// that it can be used even after a restart of the machine. Otherwise, the file is removed.
func (k *Kept) Close(stay bool) (stays bool) {
	if k.raw == nil {
		return false
	}
	defer k.file.Close()
	if stays = stay && k.done() > 0; !stays {
		os.Remove(k.Path)
	} else if k.file.Sync() == nil {
		clear(k.raw[keptBoot:keptDone])
	}
	memory.Free(k.raw)
	k.raw = nil
	return stays
}
