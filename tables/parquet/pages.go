package parquet

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pqformat "github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

const (
	// A page may unpack to unpacksTo times its bytes, and to pageRoom more. The memory for it is taken by what its header
	// says. Writers begin a new page at some MB.
	unpacksTo = 1032
	pageRoom  = 16 << 20
)

// pages returns the pages of a column of a row group. Before the library reads them, their headers are compared with
// the bytes that are there.
func (f *file) pages(group, leaf int) (pq.Pages, error) {
	about := f.content.Metadata().RowGroups[group].Columns[leaf].MetaData
	if err := f.checkPages(&about); err != nil {
		return nil, fmt.Errorf("the file is damaged: %w", err)
	}
	return f.content.RowGroups()[group].ColumnChunks()[leaf].Pages(), nil
}

// checkPages reads the headers of all pages of a chunk. Blocks of LZ4 are unpacked too: the library doubles the memory
// for a damaged one until there is none left.
func (f *file) checkPages(chunk *pqformat.ColumnMetaData) error {
	at := chunk.DataPageOffset
	if chunk.DictionaryPageOffset != 0 {
		at = chunk.DictionaryPageOffset
	}
	end := at + chunk.TotalCompressedSize
	if at < 0 || end < at || end > f.content.Size() {
		return fmt.Errorf("pages from byte %d to %d, and it has %d", at, end, f.content.Size())
	}
	var (
		protocol thrift.CompactProtocol
		buffer   = bufio.NewReaderSize(nil, 1<<10)
		packed   []byte
		unpacked []byte
	)
	for page := 0; at < end; page++ {
		section := io.NewSectionReader(f.handle, at, end-at)
		buffer.Reset(section)
		var h pqformat.PageHeader
		if err := thrift.NewDecoder(protocol.NewReader(buffer)).Decode(&h); err != nil { // it says where in the structure
			return fmt.Errorf("what stands at byte %d is not the header of page %d", at, page)
		}
		read, err := section.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		header := at
		at += read - int64(buffer.Buffered())
		size, claimed := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
		if size < 0 || size > end-at {
			return fmt.Errorf("page %d at byte %d has %d bytes, want at most the %d that are left", page, header, size, end-at)
		}
		if claimed < 0 || claimed > unpacksTo*size+pageRoom {
			return fmt.Errorf("page %d at byte %d has %d bytes and says that it unpacks to %d, want at most %d", page, header,
				size, claimed, unpacksTo*size+pageRoom)
		}
		if n := countOf(&h); n > chunk.NumValues {
			return fmt.Errorf("page %d at byte %d says that it has %d values, and its column has %d", page, header, n,
				chunk.NumValues)
		}
		if chunk.Codec == pqformat.Lz4Raw {
			if int64(len(packed)) < size {
				packed = make([]byte, size)
			}
			if int64(len(unpacked)) < claimed {
				unpacked = make([]byte, claimed)
			}
			if _, err := f.handle.ReadAt(packed[:size], at); err != nil {
				return err
			}
			if err := unpack(&h, unpacked[:claimed], packed[:size]); err != nil {
				return fmt.Errorf("page %d at byte %d: %w", page, header, err)
			}
		}
		at += size
	}
	return nil
}

// countOf returns the number of values of a page of data, 0 for another.
func countOf(h *pqformat.PageHeader) int64 {
	switch {
	case h.DataPageHeader.Valid:
		return int64(h.DataPageHeader.V.NumValues)
	case h.DataPageHeaderV2.Valid:
		return int64(h.DataPageHeaderV2.V.NumValues)
	}
	return 0
}

// unpack unpacks a page of LZ4 to dst, of the size that its header says. Levels of a page of version 2 are not packed.
func unpack(h *pqformat.PageHeader, dst, src []byte) error {
	if v2 := h.DataPageHeaderV2; v2.Valid {
		if v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V {
			return nil
		}
		levels := int64(v2.V.DefinitionLevelsByteLength) + int64(v2.V.RepetitionLevelsByteLength)
		if levels < 0 || levels > int64(min(len(src), len(dst))) {
			return fmt.Errorf("levels of %d bytes, want at most %d", levels, min(len(src), len(dst)))
		}
		dst, src = dst[levels:], src[levels:]
	}
	if len(src) == 0 {
		return nil
	}
	if _, err := lz4.UncompressBlock(src, dst); err != nil {
		return errors.New("a block that is not LZ4")
	}
	return nil
}
