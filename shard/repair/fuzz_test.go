package repair

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// FuzzSalvage salvages arbitrary bytes with an arbitrary index: records and damage cover the bytes
// without gaps, in order, and every record is a frame in them.
func FuzzSalvage(f *testing.F) {
	data, frames := settest.Framed(10, 0, 300, 1, 77, 40)
	var index []byte
	for _, e := range entriesOf(frames) {
		index = tfrecord.AppendIndex(index, e)
	}
	f.Add(data, index)
	f.Add(data[:200], index)
	f.Add(slices.Insert(bytes.Clone(data), 30, 1, 2, 3), index)
	f.Add(settest.Overwrite("", data, frames, 40, 80, zeroed).Data, index)
	outer, outers := nested()
	f.Add(settest.Overwrite("", outer, outers, outers[1].Offset, outers[1].Offset+1, settest.Flipped).Data, []byte("0 21\n21 228\n"))
	f.Add([]byte("This is no TFRecord file, but text of some length."), []byte("0 16\n"))
	f.Fuzz(func(t *testing.T, data, index []byte) {
		var g *guide
		if entries, err := tfrecord.ReadIndex(bytes.NewReader(index), "index"); err == nil {
			g = newGuide(entries, int64(len(data)))
		}
		saved, lost, end := 0, int64(0), int64(0)
		s := &salvage{o: &Options{MaxDamage: 10}, want: -1, guide: g, file: FileReport{RecordsLostExact: true}}
		s.give = func(record []byte) error {
			frame := tfrecord.AppendFrame(nil, record)
			if !bytes.Contains(data, frame) {
				t.Fatalf("a record of %d bytes that is not there", len(record))
			}
			saved += len(frame)
			return nil
		}
		s.lose = func(d Damage, _ io.ReaderAt) error {
			if d.Bytes < 0 || d.Records < 0 || d.Offset < end || d.Offset+d.Bytes > int64(len(data)) {
				t.Fatalf("damage %+v behind %d, of %d bytes", d, end, len(data))
			}
			end = d.Offset + d.Bytes
			lost += d.Bytes
			return nil
		}
		settest.Check(t, s.frames(bytes.NewReader(data)))
		settest.Check(t, s.settle())
		if int64(saved)+lost != int64(len(data)) || lost != s.file.BytesLost || s.file.RecordsLost < 0 {
			t.Fatalf("%d bytes saved and %d lost of %d: %+v", saved, lost, len(data), s.file)
		}
	})
}
