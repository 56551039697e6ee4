package parquet

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pqformat "github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/graph-condensation/cgc/internal/memory"
)

const (
	// A page may decompress to at most unpacksTo times its size plus pageRoom. The library allocates the size that the
	// header of a page claims. Writers begin a new page after a few megabytes.
	unpacksTo = 1032
	pageRoom  = 16 << 20
)

// pages returns the pages of a column of a row group. Before the library reads them, their headers are checked against
// the actual size.
func (f *file) pages(group, leaf int) (pq.Pages, error) {
	about := f.content.Metadata().RowGroups[group].Columns[leaf].MetaData
	content, err := f.checkPages(&about)
	if err != nil {
		return nil, fmt.Errorf("the file is damaged: %w", err)
	}
	chunk := f.content.RowGroups()[group].ColumnChunks()[leaf]
	if content != nil {
		return chunk.(*pq.FileColumnChunk).PagesFrom(content), nil
	}
	return chunk.Pages(), nil
}

// checkPages reads the headers of all pages of a chunk. LZ4 blocks are decompressed as well: for a damaged block, the
// library doubles its buffer until memory runs out.
//
// An LZ4 chunk must be read from the content that checkPages returns. If the library decompresses to a new buffer, it
// uses that buffer only if it is larger than the header says (parquet-go issue 608). So these headers say 0 bytes.
func (f *file) checkPages(chunk *pqformat.ColumnMetaData) (content joined, err error) {
	at := chunk.DataPageOffset
	if chunk.DictionaryPageOffset != 0 {
		at = chunk.DictionaryPageOffset
	}
	end := at + chunk.TotalCompressedSize
	if at < 0 || end < at || end > f.content.Size() {
		return nil, fmt.Errorf("pages from byte %d to %d, and it has %d", at, end, f.content.Size())
	}
	var protocol thrift.CompactProtocol
	buffer, blocks := bufio.NewReaderSize(nil, 1<<10), lz4Blocks{file: f.handle}
	for page := 0; at < end; page++ {
		section := io.NewSectionReader(f.handle, at, end-at)
		buffer.Reset(section)
		var h pqformat.PageHeader
		if err := thrift.NewDecoder(protocol.NewReader(buffer)).Decode(&h); err != nil { // err names the field
			return nil, fmt.Errorf("byte %d is not the start of the header of page %d", at, page)
		}
		read, err := section.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		header := at
		at += read - int64(buffer.Buffered())
		size, claimed := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
		if size < 0 || size > end-at {
			return nil, fmt.Errorf("page %d at byte %d has %d bytes, must have at most the %d that are left", page, header, size,
				end-at)
		}
		if claimed < 0 || claimed > unpacksTo*size+pageRoom {
			return nil, fmt.Errorf("page %d at byte %d has %d bytes and claims %d decompressed, must be at most %d", page,
				header, size, claimed, unpacksTo*size+pageRoom)
		}
		if n := countOf(&h); n > chunk.NumValues {
			return nil, fmt.Errorf("page %d at byte %d says that it has %d values, and its column has %d", page, header, n,
				chunk.NumValues)
		}
		if chunk.Codec == pqformat.Lz4Raw {
			if err := blocks.check(&h, at); err != nil {
				return nil, fmt.Errorf("page %d at byte %d: %w", page, header, err)
			}
			if content == nil {
				content = joined{io.NewSectionReader(f.handle, 0, header)}
			}
			h.UncompressedPageSize = 0
			changed, err := thrift.Marshal(&protocol, &h)
			if err != nil {
				return nil, err
			}
			content = append(content, bytes.NewReader(changed), io.NewSectionReader(f.handle, at, size))
		}
		at += size
	}
	return content, nil
}

// joined is the concatenation of its parts.
type joined []interface {
	io.ReaderAt
	Size() int64
}

// ReadAt implements io.ReaderAt.
func (j joined) ReadAt(p []byte, at int64) (n int, err error) {
	for _, part := range j {
		if n == len(p) {
			return n, nil
		}
		if at < part.Size() {
			read, err := part.ReadAt(p[n:], at)
			if n += read; err != nil && err != io.EOF {
				return n, err
			}
			at = part.Size()
		}
		at -= part.Size()
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// countOf returns the number of values of a data page, or 0 for any other page.
func countOf(h *pqformat.PageHeader) int64 {
	switch {
	case h.DataPageHeader.Valid:
		return int64(h.DataPageHeader.V.NumValues)
	case h.DataPageHeaderV2.Valid:
		return int64(h.DataPageHeaderV2.V.NumValues)
	}
	return 0
}

// lz4Blocks decompresses pages and drops the result, reusing its buffers.
type lz4Blocks struct {
	file             *os.File
	packed, unpacked []byte
}

// check returns an error if the page at byte at does not decompress to the size that its header claims.
func (b *lz4Blocks) check(h *pqformat.PageHeader, at int64) error {
	b.packed = memory.Resized(b.packed, int(h.CompressedPageSize))
	b.unpacked = memory.Resized(b.unpacked, int(h.UncompressedPageSize))
	if _, err := b.file.ReadAt(b.packed, at); err != nil {
		return err
	}
	return unpack(h, b.unpacked, b.packed)
}

// unpack decompresses an LZ4 page to dst, which has the size that the page header claims. The levels of a version-2
// page are not compressed.
func unpack(h *pqformat.PageHeader, dst, src []byte) error {
	if v2 := h.DataPageHeaderV2; v2.Valid {
		if v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V {
			return nil
		}
		levels := int64(v2.V.DefinitionLevelsByteLength) + int64(v2.V.RepetitionLevelsByteLength)
		if levels < 0 || levels > int64(min(len(src), len(dst))) {
			return fmt.Errorf("levels of %d bytes, must be at most %d", levels, min(len(src), len(dst)))
		}
		dst, src = dst[levels:], src[levels:]
	}
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		return errors.New("a block that is not LZ4")
	}
	if n != len(dst) {
		return fmt.Errorf("its LZ4 block has %d bytes when decompressed, must have the %d of its header", n, len(dst))
	}
	return nil
}
