package tensorboard

import (
	"encoding/binary"
	"hash/crc32"
)

// castagnoli is the polynomial of the checksums.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked returns the checksum of data as files of records have it. Source: TensorFlow, lib/hash/crc32c.h.
func masked(data []byte) uint32 {
	crc := crc32.Checksum(data, castagnoli)
	return (crc>>15 | crc<<17) + 0xa282ead8
}

// appendRecord appends data as a record of a TFRecord file: its length, the checksum of that, data, and its
// checksum. Source: TensorFlow, lib/io/record_writer.h.
func appendRecord(b, data []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, masked(b[len(b)-8:]))
	b = append(b, data...)
	return binary.LittleEndian.AppendUint32(b, masked(data))
}
