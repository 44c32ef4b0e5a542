package repair

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// payloads returns the records of frames, given the original data.
func payloads(data []byte, frames []settest.Frame) [][]byte {
	var list [][]byte
	for _, f := range frames {
		list = append(list, data[f.Offset+tfrecord.HeaderSize:f.Offset+f.Size-tfrecord.FooterSize])
	}
	return list
}

func putIndex(t testing.TB, path string, frames []settest.Frame) {
	t.Helper()
	var index []byte
	for _, f := range frames {
		index = tfrecord.AppendIndex(index, tfrecord.IndexEntry{Offset: int64(f.Offset), Size: int64(f.Size)})
	}
	settest.PutFile(t, manifest.IndexPath(path), index)
}

// untouched returns the frames outside [from, to).
func untouched(frames []settest.Frame, from, to int) []settest.Frame {
	var left []settest.Frame
	for _, f := range frames {
		if f.Offset+f.Size <= from || f.Offset >= to {
			left = append(left, f)
		}
	}
	return left
}

func zeroed(byte) byte { return 0 }

// everyDamage returns every kind of damage at every structure of a file.
func everyDamage(data []byte, frames []settest.Frame) []settest.Hurt {
	var all []settest.Hurt
	end := len(data)
	for r, f := range frames {
		for i := range tfrecord.HeaderSize {
			all = append(all, settest.Overwrite(fmt.Sprintf("header byte %d of %d", i, r), data, frames, f.Offset+i, f.Offset+i+1, settest.Flipped))
		}
		for i := 1; i <= tfrecord.FooterSize; i++ {
			all = append(all, settest.Overwrite(fmt.Sprintf("CRC byte -%d of %d", i, r), data, frames, f.Offset+f.Size-i, f.Offset+f.Size-i+1, settest.Flipped))
		}
		payload, behind := f.Offset+tfrecord.HeaderSize, f.Offset+f.Size
		if f.Size > tfrecord.Overhead {
			all = append(all,
				settest.Overwrite(fmt.Sprintf("first byte of payload %d", r), data, frames, payload, payload+1, settest.Flipped),
				settest.Overwrite(fmt.Sprintf("last byte of payload %d", r), data, frames, behind-5, behind-4, settest.Flipped))
		}
		// Across the boundaries, in both directions.
		for _, span := range [][2]int{{behind - 2, behind + 2}, {f.Offset, behind}, {f.Offset + 3, behind + 13}, {payload, behind + 40}} {
			from, to := span[0], min(span[1], end)
			all = append(all,
				settest.Overwrite(fmt.Sprintf("zeros from %d to %d", from, to), data, frames, from, to, zeroed),
				settest.Overwrite(fmt.Sprintf("flips from %d to %d", from, to), data, frames, from, to, settest.Flipped))
		}
		for _, at := range []int{f.Offset, f.Offset + 4, f.Offset + 8, payload, f.Offset + f.Size/2, behind - 4} {
			all = append(all,
				settest.Hurt{Name: fmt.Sprintf("cut at %d", at), Data: data[:at], Left: untouched(frames, at, end)},
				settest.Hurt{Name: fmt.Sprintf("bytes inserted at %d", at), Data: slices.Insert(bytes.Clone(data), at, []byte("surplus")...), Left: untouched(frames, at, at)},
				settest.Hurt{Name: fmt.Sprintf("bytes missing at %d", at), Data: slices.Delete(bytes.Clone(data), at, min(at+5, end)), Left: untouched(frames, at, at+5)})
		}
	}
	return all
}

// twice adds a second damage at another offset.
func twice(data []byte, frames []settest.Frame, one settest.Hurt, draw *rand.Rand) settest.Hurt {
	if len(one.Data) != len(data) {
		return one // its frames have moved
	}
	from := draw.IntN(len(data))
	to := min(len(data), from+1+draw.IntN(60))
	two := settest.Overwrite(one.Name+fmt.Sprintf(" and flips from %d to %d", from, to), one.Data, frames, from, to, settest.Flipped)
	two.Left = settest.Equal(data, two.Data, frames)
	return two
}

func TestRepairSavesAllThatIsLeft(t *testing.T) {
	data, frames := settest.Framed(10, 0, 300, 1, 77, 77, 40, 5000, 12, 0, 33)
	damage := everyDamage(data, frames)
	draw := rand.New(rand.NewPCG(3, 4))
	for _, one := range slices.Clone(damage) {
		damage = append(damage, twice(data, frames, one, draw))
	}
	for _, c := range damage {
		salvageAll(t, c, data, frames, nil)
		salvageAll(t, c, data, frames, newGuide(entriesOf(frames), int64(len(c.Data))))
	}
}

func entriesOf(frames []settest.Frame) (entries []tfrecord.IndexEntry) {
	for _, f := range frames {
		entries = append(entries, tfrecord.IndexEntry{Offset: int64(f.Offset), Size: int64(f.Size)})
	}
	return entries
}

// salvageAll salvages damaged data and compares the results with the original.
func salvageAll(t *testing.T, c settest.Hurt, data []byte, frames []settest.Frame, g *guide) {
	t.Helper()
	name := fmt.Sprintf("%s (index: %v)", c.Name, g != nil)
	var got [][]byte
	end := int64(0)
	s := &salvage{o: &Options{MaxDamage: 1000}, want: -1, guide: g, file: FileReport{RecordsLostExact: true}}
	s.give = func(record []byte) error {
		got = append(got, bytes.Clone(record))
		return nil
	}
	s.lose = func(d Damage, _ io.ReaderAt) error {
		if d.Bytes > 0 && d.Offset < end {
			t.Errorf("%s: damage at %d, and before it up to %d", name, d.Offset, end)
		}
		end = d.Offset + d.Bytes
		return nil
	}
	settest.Check(t, s.frames(bytes.NewReader(c.Data)))
	settest.Check(t, s.settle())
	want := payloads(data, c.Left)
	if !slices.EqualFunc(got, want, bytes.Equal) || s.file.RecordsSaved != int64(len(got)) {
		t.Errorf("%s: %d records (%d reported), want %d", name, len(got), s.file.RecordsSaved, len(want))
	}
	lost := int64(len(frames) - len(want))
	// If the first record is damaged and the file has another size, nothing shows that the index
	// belongs to this file.
	if doubtful := len(c.Data) != len(data) && !bytes.HasPrefix(c.Data, data[:frames[0].Size]); doubtful {
		g = nil
	}
	if g != nil && (s.file.RecordsLost != lost || !s.file.RecordsLostExact || s.file.Note != "") {
		t.Errorf("%s: %d records lost (exact: %v, %s), want %d", name, s.file.RecordsLost, s.file.RecordsLostExact, s.file.Note, lost)
	}
	if g == nil && s.file.RecordsLostExact && s.file.RecordsLost != lost && len(c.Data) == len(data) {
		t.Errorf("%s: exactly %d records lost, want %d", name, s.file.RecordsLost, lost)
	}
	// Saved and lost bytes add up to the file.
	saved := 0
	for _, f := range c.Left {
		saved += f.Size
	}
	if int(s.file.BytesLost)+saved != len(c.Data) || (len(s.damage) == 0) != (lost == 0 && len(c.Data) == len(data)) && g != nil {
		t.Errorf("%s: %d bytes lost and %d saved of %d; %d stretches", name, s.file.BytesLost, saved, len(c.Data), len(s.damage))
	}
}

func TestRepairIntoAFile(t *testing.T) {
	data, frames := settest.Framed(10, 0, 300, 1, 77, 3_000_000, 12)
	last := frames[len(frames)-2]
	for _, c := range []settest.Hurt{
		settest.Overwrite("a header and a payload", data, frames, 20, 40, settest.Flipped),
		settest.Overwrite("a large record", data, frames, last.Offset+1, last.Offset+last.Size, zeroed),
		{Name: "cut", Data: data[:last.Offset+2_500_000], Left: frames[:len(frames)-2]},
	} {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord")
		settest.PutFile(t, in, c.Data)
		putIndex(t, in, frames)
		report, err := Copy(context.Background(), in, out, Options{})
		settest.Check(t, err)
		if got, want := settest.RecordsOf(t, out), payloads(data, c.Left); !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%s: %d records, want %d", c.Name, len(got), len(want))
		}
		if report.Status != "repaired" || report.RecordsSaved != int64(len(c.Left)) || report.RecordsLost != int64(len(frames)-len(c.Left)) {
			t.Errorf("%s: %+v", c.Name, report)
		}
		checkQuarantine(t, c.Name, report, c.Data)
		check2, err := Index(context.Background(), []string{out}, IndexOptions{Check: true})
		if err != nil || !check2.OK {
			t.Errorf("%s: the index of the output: %+v, %v", c.Name, check2, err)
		}
	}
}

// checkQuarantine requires a file's damage to be in its quarantine, byte for byte.
func checkQuarantine(t *testing.T, name string, report *Report, data []byte) {
	t.Helper()
	if report.BytesLost == 0 {
		if report.Quarantine != "" {
			t.Errorf("%s: a quarantine of nothing", name)
		}
		return
	}
	var spans [][]byte
	var at []int64
	for q, err := range ReadQuarantine(t.Context(), report.Quarantine) {
		settest.Check(t, err)
		if int(q.Span) == len(spans) {
			spans = append(spans, nil)
			at = append(at, q.Offset)
		}
		spans[q.Span] = append(spans[q.Span], q.Data...)
	}
	i := 0
	for _, d := range report.Damage {
		if d.Bytes == 0 {
			continue
		}
		if i >= len(spans) || at[i] != d.Offset || !bytes.Equal(spans[i], data[d.Offset:d.Offset+d.Bytes]) {
			t.Fatalf("%s: the quarantine does not hold the %d bytes at %d", name, d.Bytes, d.Offset)
		}
		i++
	}
}

func TestRepairOfAWholeFile(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord")
	data, _ := settest.Framed(5, 600, 0)
	for _, content := range [][]byte{data, nil} {
		settest.PutFile(t, in, content)
		os.Remove(out)
		report, err := Copy(context.Background(), in, out, Options{})
		settest.Check(t, err)
		if report.Status != "clean" || len(report.Damage) != 0 || !report.RecordsLostExact {
			t.Errorf("%+v", report)
		}
		if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes, %v, want the %d of the input", len(got), err, len(content))
		}
	}
	if list, _ := os.ReadDir(dir); len(list) != 2 {
		t.Errorf("the folder holds %v", list)
	}
}

// nested returns a file whose second record has frames inside.
func nested() (data []byte, frames []settest.Frame) {
	inner, _ := settest.Framed(50, 60, 70)
	for _, record := range [][]byte{[]byte("first"), inner, []byte("third, and longer"), []byte("fourth")} {
		at := len(data)
		data = tfrecord.AppendFrame(data, record)
		frames = append(frames, settest.Frame{Offset: at, Size: len(data) - at})
	}
	return data, frames
}

func TestRepairOfNestedRecords(t *testing.T) {
	data, frames := nested()
	outer := frames[1]
	inside := outer.Offset + tfrecord.HeaderSize
	for _, c := range []struct {
		name           string
		at             int
		indexed        bool
		inner          int // frames of the damaged record that are taken for records
		guessed, saved int
	}{
		{"whole outside", frames[0].Offset, false, 0, 0, 3},
		{"the payload", inside + 20, false, 0, 0, 3},
		{"the header, and nothing to tell by", outer.Offset + 1, false, 3, 0, 6},
		{"the header, with an index", outer.Offset + 1, true, 0, 0, 3},
		{"the length's CRC, with an index", outer.Offset + 9, true, 0, 0, 3},
	} {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord")
		settest.PutFile(t, in, settest.Overwrite("", data, frames, c.at, c.at+1, settest.Flipped).Data)
		if c.indexed {
			putIndex(t, in, frames)
		}
		report, err := Copy(context.Background(), in, out, Options{})
		settest.Check(t, err)
		if got := settest.RecordsOf(t, out); len(got) != c.saved || report.RecordsSaved != int64(c.saved) {
			t.Errorf("%s: %d records (%d reported), want %d", c.name, len(got), report.RecordsSaved, c.saved)
		}
		if c.indexed && (report.RecordsLost != 1 || !report.RecordsLostExact) {
			t.Errorf("%s: %d lost, exact %v", c.name, report.RecordsLost, report.RecordsLostExact)
		}
	}

	// Inserted bytes shift the following frames, which are recognized by their sizes.
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord")
	settest.PutFile(t, in, slices.Insert(bytes.Clone(data), outer.Offset+2, 'x', 'y', 'z'))
	putIndex(t, in, frames)
	_, err := Copy(context.Background(), in, out, Options{})
	settest.Check(t, err)
	if got, want := settest.RecordsOf(t, out), payloads(data, untouched(frames, outer.Offset, outer.Offset+1)); !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("after an insertion: %q, want %q", got, want)
	}
}

func TestRepairIgnoresTheIndexOfAnotherFile(t *testing.T) {
	data, frames := settest.Framed(10, 20, 30, 40)
	_, others := settest.Framed(10, 25, 30, 40, 50)
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord")
	c := settest.Overwrite("", data, frames, frames[2].Offset+12, frames[2].Offset+13, settest.Flipped)
	settest.PutFile(t, in, c.Data)
	putIndex(t, in, others)
	report, err := Copy(context.Background(), in, out, Options{})
	settest.Check(t, err)
	if report.RecordsSaved != 3 || report.Files[0].Note == "" {
		t.Errorf("%+v", report)
	}
}

func TestRepairNeverBelievesALength(t *testing.T) {
	data, frames := settest.Framed(10, 20)
	// A length of 2^62 bytes, with a correct checksum.
	header := binary.LittleEndian.AppendUint64(nil, 1<<62)
	crc := crc32.Checksum(header, crc32.MakeTable(crc32.Castagnoli))
	header = binary.LittleEndian.AppendUint32(header, (crc>>15|crc<<17)+0xa282ead8)
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord")
	settest.PutFile(t, in, append(append(bytes.Clone(data), header...), "and some more"...))
	report, err := Copy(context.Background(), in, out, Options{})
	settest.Check(t, err)
	if report.RecordsSaved != int64(len(frames)) || report.BytesLost != 25 {
		t.Errorf("%+v", report)
	}
}

func TestRepairRefusals(t *testing.T) {
	data, frames := settest.Framed(10, 20)
	dir := t.TempDir()
	in := filepath.Join(dir, "a.tfrecord")
	settest.PutFile(t, in, settest.Overwrite("", data, frames, 3, 4, settest.Flipped).Data)
	settest.PutFile(t, filepath.Join(dir, "whole.tfrecord"), data)
	settest.PutFile(t, filepath.Join(dir, "there"), []byte("precious"))
	settest.PutFile(t, filepath.Join(dir, "c.quarantine"), []byte("precious"))
	settest.PutFile(t, filepath.Join(dir, "no.tfrecord"), []byte("This is no TFRecord file, but text of some length."))
	for _, c := range []struct {
		name, in, out string
		want          error
	}{
		{"onto itself", in, in, fs.ErrExist},
		{"onto a file", in, filepath.Join(dir, "there"), fs.ErrExist},
		{"onto a quarantine", in, filepath.Join(dir, "c"), fs.ErrExist},
		{"onto a quarantine, with nothing to lose", filepath.Join(dir, "whole.tfrecord"), filepath.Join(dir, "c"), fs.ErrExist},
		{"of nothing", filepath.Join(dir, "nowhere"), filepath.Join(dir, "b"), fs.ErrNotExist},
		{"into no folder", in, filepath.Join(dir, "no", "b"), fs.ErrNotExist},
		{"of no TFRecord", filepath.Join(dir, "no.tfrecord"), filepath.Join(dir, "b"), ErrNothingSaved},
	} {
		before, _ := os.ReadDir(dir)
		if _, err := Copy(context.Background(), c.in, c.out, Options{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if after, _ := os.ReadDir(dir); len(after) != len(before) {
			t.Errorf("%s: the folder holds %v, before %v", c.name, after, before)
		}
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Copy(stopped, in, filepath.Join(dir, "b"), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "b")); err == nil {
		t.Error("a cancelled repair left its output")
	}
}

func TestRepairInPlace(t *testing.T) {
	data, frames := settest.Framed(10, 20, 30)
	dir := t.TempDir()
	in := filepath.Join(dir, "a.tfrecord")
	for round, at := range []int{0, 1, 1} { // the third round has the damage of the second
		c := settest.Overwrite("", data, frames, frames[1].Offset+at, frames[1].Offset+at+1, settest.Flipped)
		settest.PutFile(t, in, c.Data)
		report, err := InPlace(context.Background(), in, Options{})
		settest.Check(t, err)
		if got := settest.RecordsOf(t, in); len(got) != 2 {
			t.Errorf("%d records", len(got))
		}
		f := report.Files[0]
		if kept, err := os.ReadFile(f.Original); err != nil || !bytes.Equal(kept, c.Data) {
			t.Errorf("round %d: the original at %s: %v", round, f.Original, err)
		}
		if _, err := os.Stat(f.Quarantine); err != nil {
			t.Error(err)
		}
	}
	if kept, _ := os.ReadDir(filepath.Join(dir, damagedDir)); len(kept) != 4 { // the same file only once
		t.Errorf("kept: %v", kept)
	}
	// It is intact now.
	report, err := InPlace(context.Background(), in, Options{})
	if err != nil || report.Status != "clean" || report.Files[0].Original != "" {
		t.Errorf("%+v, %v", report, err)
	}
}

// A file that cannot be repaired in place is unchanged, and no files are created beside it.
func TestRepairNothingInPlace(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "a.tfrecord")
	settest.PutFile(t, in, []byte("no file of records at all"))
	if _, err := InPlace(context.Background(), in, Options{}); !errors.Is(err, ErrNothingSaved) {
		t.Errorf("%v, want ErrNothingSaved", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("it left %v, %v", left, err)
	}
}

// A link is not replaced: its target would stay damaged.
func TestRepairLinkInPlace(t *testing.T) {
	data, frames := settest.Framed(10, 20, 30)
	dir := t.TempDir()
	c := settest.Overwrite("", data, frames, frames[1].Offset, frames[1].Offset+1, settest.Flipped)
	in, link := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "link.tfrecord")
	settest.PutFile(t, in, c.Data)
	if err := os.Symlink("a.tfrecord", link); err != nil {
		t.Skip(err)
	}
	if _, err := InPlace(context.Background(), link, Options{}); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("%v, want an error about the link", err)
	}
	left, err := os.ReadDir(dir)
	settest.Check(t, err)
	if len(left) != 2 {
		t.Errorf("it left %v", left)
	}
	if to, err := os.Readlink(link); err != nil || to != "a.tfrecord" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}
