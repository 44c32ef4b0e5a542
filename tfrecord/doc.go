// Package tfrecord reads and writes the wire format: TFRecord frames with masked CRC-32C checksums,
// whole-file compression, tf.train.Example and SequenceExample, and index files. It works on
// io.Reader and io.Writer, and knows no file names and no sets; package shard does.
//
// To write records, build an Example in a [Builder] and pass its bytes to a [Writer]:
//
//	w, err := tfrecord.NewWriter(f, tfrecord.WriterOptions{})
//	var b tfrecord.Builder
//	for _, s := range samples {
//		b.Reset()
//		b.Int64("label", s.Label)
//		b.Bytes("image", s.JPEG)
//		record = b.Append(record[:0])
//		if err := w.WriteRecord(record); err != nil { … }
//	}
//	err = w.Close() // f is still yours to close
//
// To read them, iterate over a [Reader]:
//
//	r := tfrecord.NewReader(f, tfrecord.ReaderOptions{Name: "a.tfrecord"})
//	var e tfrecord.Example
//	for record, err := range r.All() { // valid until the next iteration
//		if err != nil { … } // says file, record, offset and part
//		if err := e.Parse(record); err != nil { return r.Locate(err) }
//		label, _ := e.Get("label")
//	}
//
// Compression is detected when reading. io.EOF means the end of a file between two frames; anything
// else is an [Error], which unwraps to a sentinel such as [ErrChecksum]. A [Salvager] continues
// after damage.
//
// # Format
//
// A TFRecord file is a sequence of frames with nothing before, between or after them; all numbers
// are little-endian:
//
//	+--------+------------+----------------+----------+
//	| length | length_crc | data           | data_crc |
//	| 8      | 4          | length bytes   | 4        |
//	+--------+------------+----------------+----------+
//
// The checksums are CRC-32C, rotated and offset so that checksums of data that contains checksums
// stay reliable: ((crc>>15 | crc<<17) + 0xa282ead8) mod 2³². docs/format.md describes everything,
// Examples and index files included.
package tfrecord
