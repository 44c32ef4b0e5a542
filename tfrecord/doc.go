// Package tfrecord is the wire: TFRecord framing with masked CRC32C, whole-file
// compression, tf.train.Example and SequenceExample, and index files. Bytes go
// in, bytes come out; files, names and datasets are the business of others.
//
// Writing:
//
//	w, err := tfrecord.NewWriter(f, tfrecord.WriterOptions{})
//	var b tfrecord.Builder
//	for _, s := range samples {
//		b.Reset()
//		b.Int64("label", s.Label)
//		b.Bytes("picture", s.JPEG)
//		frame = b.Append(frame[:0])
//		if err := w.WriteRecord(frame); err != nil { … }
//	}
//	err = w.Close() // f is still yours to close
//
// Reading:
//
//	r := tfrecord.NewReader(f, tfrecord.ReaderOptions{Name: "a.tfrecord"})
//	var e tfrecord.Example
//	for record, err := range r.All() { // valid until the next turn
//		if err != nil { … } // says file, record, offset and part
//		if err := e.Parse(record); err != nil { return r.Locate(err) }
//		label, _ := e.Get("label")
//	}
//
// A TFRecord file is frames, one after another, with nothing before, between
// or behind them; all numbers are little-endian:
//
//	+--------+------------+----------------+----------+
//	| length | length_crc | data           | data_crc |
//	| 8      | 4          | length bytes   | 4        |
//	+--------+------------+----------------+----------+
//
// The CRCs are CRC-32C, rotated and offset so that a CRC of data that holds
// CRCs is a good one still: ((crc>>15 | crc<<17) + 0xa282ead8) mod 2³².
// docs/format.md has it all, Examples and index files included.
package tfrecord
