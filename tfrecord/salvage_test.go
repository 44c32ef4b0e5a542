package tfrecord

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// stretchOf is a record or a stretch of damage in a file.
type stretchOf struct {
	offset, bytes int64
	part          Part // of damage
}

// plainSalvage is the reference implementation of Salvager, a byte at a time.
func plainSalvage(data []byte, limit uint64) (all []stretchOf) {
	for at := 0; at < len(data); {
		records, f := plainRead(data[at:], limit)
		for _, r := range records {
			all = append(all, stretchOf{int64(at), int64(len(r) + Overhead), ""})
			at += len(r) + Overhead
		}
		if f.Part == "" {
			break
		}
		end := at + 1
		rest := data[at:]
		if f.Part == PartDataCRC && len(rest) >= Overhead {
			// The length is valid, or the fault would be another one.
			var length int
			for i := range 8 {
				length |= int(rest[i]) << (8 * i)
			}
			if after := at + length + Overhead; after <= len(data) && headerHolds(data[after:], limit) {
				end = after
				all = append(all, stretchOf{int64(at), int64(end - at), f.Part})
				at = end
				continue
			}
		}
		for end < len(data) {
			if found, _ := plainRead(data[end:], limit); len(found) > 0 {
				break
			}
			end++
		}
		all = append(all, stretchOf{int64(at), int64(end - at), f.Part})
		at = end
	}
	return all
}

// headerHolds reports whether p is empty or begins with a valid header.
func headerHolds(p []byte, limit uint64) bool {
	if len(p) == 0 {
		return true
	}
	_, f := plainRead(p, limit)
	return f.Part != PartLength && f.Part != PartLengthCRC || f.Record > 0
}

// salvaged reads data with a Salvager.
func salvaged(t testing.TB, data []byte, opts ReaderOptions) (all []stretchOf) {
	t.Helper()
	s := NewSalvager(bytes.NewReader(data), opts)
	for number := int64(0); ; number++ {
		record, err := s.Next()
		var damage *Damage
		switch {
		case err == io.EOF:
			return all
		case errors.As(err, &damage):
			f := faultOf(t, damage)
			if f.Record != number || damage.Record != number || f.Offset != damage.Offset {
				t.Fatalf("stretch %d is %+v, %v", number, damage, damage.Err)
			}
			all = append(all, stretchOf{damage.Offset, damage.Bytes, f.Part})
		case err != nil:
			t.Fatal(err)
		default:
			if s.Record() != number {
				t.Fatalf("record %d is said to be %d", number, s.Record())
			}
			if !bytes.Equal(data[s.Offset()+HeaderSize:][:len(record)], record) {
				t.Fatalf("record %d is not what lies at %d", number, s.Offset())
			}
			all = append(all, stretchOf{s.Offset(), int64(len(record) + Overhead), ""})
		}
	}
}

// TestSalvage damages a file in many ways.
func TestSalvage(t *testing.T) {
	var whole []byte
	at := []int64{0}
	for i := range 12 {
		whole = AppendFrame(whole, noise(i*5))
		at = append(at, int64(len(whole)))
	}
	good := func(from, to int) (all []stretchOf) {
		for i := from; i < to; i++ {
			all = append(all, stretchOf{at[i], at[i+1] - at[i], ""})
		}
		return all
	}
	lost := func(from, to int, part Part) []stretchOf {
		return []stretchOf{{at[from], at[to] - at[from], part}}
	}
	flipped := func(places ...int64) []byte {
		data := bytes.Clone(whole)
		for _, i := range places {
			data[i] ^= 0x11
		}
		return data
	}
	for _, c := range []struct {
		name string
		data []byte
		want []stretchOf
	}{
		{"whole", whole, good(0, 12)},
		{"empty", nil, nil},
		{"a payload", flipped(at[3] + 12), slices.Concat(good(0, 3), lost(3, 4, PartDataCRC), good(4, 12))},
		{"two payloads", flipped(at[3]+12, at[4]+13), slices.Concat(good(0, 3), lost(3, 4, PartDataCRC), lost(4, 5, PartDataCRC), good(5, 12))},
		{"a payload and the next length", flipped(at[3]+12, at[4]), slices.Concat(good(0, 3), lost(3, 5, PartDataCRC), good(5, 12))},
		{"the first length", flipped(0), slices.Concat(lost(0, 1, PartLengthCRC), good(1, 12))},
		{"a length", flipped(at[6] + 2), slices.Concat(good(0, 6), lost(6, 7, PartLengthCRC), good(7, 12))},
		{"the last length", flipped(at[11] + 9), slices.Concat(good(0, 11), lost(11, 12, PartLengthCRC))},
		{"the last payload", flipped(at[11] + 12), slices.Concat(good(0, 11), lost(11, 12, PartDataCRC))},
		{"cut off", whole[:at[11]+20], slices.Concat(good(0, 11), []stretchOf{{at[11], 20, PartData}})},
		{"a few bytes behind", append(bytes.Clone(whole), 1, 2, 3), slices.Concat(good(0, 12), []stretchOf{{at[12], 3, PartLength}})},
		{"no record at all", bytes.Repeat([]byte("text "), 200), []stretchOf{{0, 1000, PartLengthCRC}}},
	} {
		got := salvaged(t, c.data, ReaderOptions{Name: c.name})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %v\nwant %v", c.name, got, c.want)
		}
		if twin := plainSalvage(c.data, defaultMaxRecord); !slices.Equal(twin, c.want) {
			t.Errorf("%s: the twin has %v", c.name, twin)
		}
	}
}

// TestResyncWindows has frames that span the search windows.
func TestResyncWindows(t *testing.T) {
	frames := AppendFrame(nil, noise(3000))
	frames = AppendFrame(frames, noise(resyncWindow+77))
	for _, junk := range []int{1, resyncWindow - 3017, resyncWindow - 20, resyncWindow - 12, resyncWindow - 11, resyncWindow - 1, resyncWindow, 2*resyncWindow + 5} {
		data := append(bytes.Repeat([]byte{0xee}, junk), frames...)
		n, err := Framing{}.Resync(bytes.NewReader(data), 0)
		if err != nil || n != int64(junk) {
			t.Errorf("%d bytes of junk: found at %d, %v", junk, n, err)
		}
		// After the small frame comes one that extends beyond any window.
		n, err = Framing{}.Resync(bytes.NewReader(data), int64(junk)+1)
		if want := int64(junk + 3000 + Overhead); err != nil || n != want {
			t.Errorf("%d bytes of junk: then at %d, want %d, %v", junk, n, want, err)
		}
		if n, err = (Framing{MaxRecord: 100}).Resync(bytes.NewReader(data), 0); err != nil || n != int64(len(data)) {
			t.Errorf("%d bytes of junk: a record that is too large found at %d, %v", junk, n, err)
		}
	}
}

// TestResyncOverZeros skips zeros in steps, and must not skip a frame that begins with some: one
// without payload has eight.
func TestResyncOverZeros(t *testing.T) {
	for _, size := range []int{0, 1, 255, 256, 70_000} {
		frame := AppendFrame(nil, noise(size))
		for _, junk := range []int{1, 3, 4, 5, 11, 12, 13, 19, 20, 100, resyncWindow - 20, resyncWindow - 12, resyncWindow - 11, resyncWindow - 8, resyncWindow - 1, resyncWindow, 2*resyncWindow + 5} {
			data := append(append(make([]byte, junk), frame...), make([]byte, 40)...)
			if n, err := (Framing{}).Resync(bytes.NewReader(data), 0); err != nil || n != int64(junk) {
				t.Errorf("a record of %d bytes behind %d zeros: found at %d, %v", size, junk, n, err)
			}
			if n, err := (Framing{}).Resync(bytes.NewReader(data), int64(junk)+1); err != nil || n != int64(len(data)) {
				t.Errorf("a record of %d bytes behind %d zeros: then at %d, %v", size, junk, n, err)
			}
		}
	}
}

// TestLargeRecordsTakeOneBuffer checks that reading a large record allocates about its size if all
// of it is known to be there.
func TestLargeRecordsTakeOneBuffer(t *testing.T) {
	const size = 40 << 20
	path := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(path, AppendFrame(AppendFrame(nil, []byte("small")), make([]byte, size)), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	read := map[string]func() ([]byte, error){
		"reader":   NewReader(f, ReaderOptions{}).Next,
		"salvager": NewSalvager(sizedFile{f, size + 2*Overhead + 5}, ReaderOptions{}).Next,
	}
	for name, next := range read {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 2 {
			if _, err := next(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > size*5/4 {
			t.Errorf("%s: %d MB were allocated for a record of %d", name, n>>20, size>>20)
		}
	}
	// A bogus length allocates no more than there is.
	lie := AppendFrame(nil, nil)[:0]
	lie = appendHeader(lie, 1<<29)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := os.WriteFile(path, append(lie, make([]byte, 1000)...), 0o644); err != nil {
		t.Fatal(err)
	}
	g, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := NewReader(g, ReaderOptions{}).Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 2<<20 {
		t.Errorf("%d bytes were allocated for a length without its data", n)
	}
}

type sizedFile struct {
	io.ReaderAt
	size int64
}

func (f sizedFile) Size() int64 { return f.size }

// unreadable is a file that cannot be read beyond an offset.
type unreadable struct {
	data []byte
	from int64
}

func (f unreadable) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, os.ErrPermission
	}
	return bytes.NewReader(f.data).ReadAt(p, off)
}

// TestSalvageEndsWithTheFile expects the error of an unreadable file, and no damage reported
// instead.
func TestSalvageEndsWithTheFile(t *testing.T) {
	data := AppendFrame(AppendFrame(nil, noise(100)), noise(100))
	for _, from := range []int64{0, 50, 120, 200} {
		for _, spoiled := range []bool{false, true} {
			if spoiled {
				data[3] ^= 1
			}
			s := NewSalvager(unreadable{data, from}, ReaderOptions{BufferSize: 64})
			var err error
			for err == nil {
				_, err = s.Next()
			}
			if damage := new(Damage); !errors.Is(err, os.ErrPermission) || errors.As(err, &damage) {
				t.Errorf("unreadable from %d: %v", from, err)
			}
		}
	}
}

func TestFault(t *testing.T) {
	data := AppendFrame(AppendFrame(nil, noise(10)), noise(10))
	s := NewSalvager(bytes.NewReader(data), ReaderOptions{Name: "x"})
	if err := s.Fault(1, 26); err != nil {
		t.Errorf("whole: %v", err)
	}
	if err := s.Fault(2, 52); err != io.EOF {
		t.Errorf("behind the last: %v", err)
	}
	data[26] ^= 1
	if got, want := faultOf(t, s.Fault(7, 26)), (fault{7, 26, PartLengthCRC}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s.MoveTo(0, 0)
	if record, err := s.Next(); err != nil || !bytes.Equal(record, noise(10)) {
		t.Errorf("then %v, %v", record, err)
	}
}

// FuzzSalvager compares with the reference implementation.
func FuzzSalvager(f *testing.F) {
	for _, data := range vectorData(f, "records") {
		f.Add(data, uint8(0), uint16(0))
	}
	whole := file(f, WriterOptions{}, payloads()[:8])
	for _, at := range []uint16{0, 9, 12, 30, 100, 600} {
		f.Add(whole, uint8(at), at)
	}
	f.Fuzz(func(t *testing.T, data []byte, buffer uint8, flip uint16) {
		const limit = 1 << 12
		if data = bytes.Clone(data); len(data) > int(flip) {
			data[flip] ^= 4
		}
		if len(data) > 16<<10 {
			return // the reference is slow
		}
		got := salvaged(t, data, ReaderOptions{MaxRecord: limit, BufferSize: int(buffer)})
		if want := plainSalvage(data, limit); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		end := int64(0)
		for _, s := range got {
			if s.offset != end || s.bytes < 1 {
				t.Fatalf("%v do not cover the file", got)
			}
			end += s.bytes
		}
		if end != int64(len(data)) {
			t.Fatalf("%v end before %d", got, len(data))
		}
	})
}

// FuzzFraming compares Check and CheckAt.
func FuzzFraming(f *testing.F) {
	f.Add(AppendFrame(nil, noise(20)), uint8(0))
	f.Add(AppendFrame(nil, noise(20))[:30], uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, checksum uint8) {
		framing := Framing{Checksum(checksum % 3), 1 << 16}
		size, v := framing.Check(data)
		at, err := framing.CheckAt(bytes.NewReader(append([]byte("before "), data...)), 7)
		if err != nil || at != v {
			t.Fatalf("in memory %v, in a file %v, %v", v, at, err)
		}
		if ok := v == FrameWhole || v == FrameDamaged; ok != (size > 0 && size <= len(data)) {
			t.Fatalf("verdict %v with a size of %d of %d", v, size, len(data))
		}
	})
}

func BenchmarkResyncZeros(b *testing.B) {
	data := append(make([]byte, 8<<20), AppendFrame(nil, noise(100))...)
	b.SetBytes(8 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if n, err := (Framing{}).Resync(bytes.NewReader(data), 0); err != nil || n != 8<<20 {
			b.Fatal(fmt.Sprint(n), err)
		}
	}
}

func BenchmarkResync(b *testing.B) {
	data := append(noise(8<<20), AppendFrame(nil, noise(100))...)
	b.SetBytes(8 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if n, err := (Framing{}).Resync(bytes.NewReader(data), 0); err != nil || n != 8<<20 {
			b.Fatal(fmt.Sprint(n), err)
		}
	}
}
