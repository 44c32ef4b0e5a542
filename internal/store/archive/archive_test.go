package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/tfrec/tfrec/internal/dev/memtemp"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// scratch is a directory for one archive at a time.
var scratch string

func TestMain(m *testing.M) {
	memtemp.Use()
	var err error
	if scratch, err = os.MkdirTemp("", "archive"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// file is a member of the tests' archives.
type file struct {
	name string
	data []byte
}

// tarOf returns a tar file of files.
func tarOf(t testing.TB, format tar.Format, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: 0o644, Typeflag: tar.TypeReg, Format: format}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zipOf returns a zip file of files, stored and deflated in turn.
func zipOf(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, f := range files {
		m, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: []uint16{zip.Store, zip.Deflate}[i%2]})
		if err == nil {
			_, err = m.Write(f.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipOf(t testing.TB, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return b.Bytes()
}

func zstdOf(t testing.TB, data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(data, nil)
}

// archives returns the same files in each format.
func archives(t testing.TB, files ...file) map[string][]byte {
	pax := tarOf(t, tar.FormatPAX, files...)
	return map[string][]byte{"tar": pax, "gnu": tarOf(t, tar.FormatGNU, files...), "tar.gz": gzipOf(t, pax), "tar.zst": zstdOf(t, pax), "zip": zipOf(t, files...)}
}

// open opens an archive of these bytes, with its time in the past.
func open(t testing.TB, data []byte) (*Archive, error) {
	t.Helper()
	path := filepath.Join(scratch, "pics")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return Open(context.Background(), storage.Parse(path), false)
}

// read returns all files of an archive: while it is walked and, if that is possible, by position.
func read(t testing.TB, data []byte) ([]file, error) {
	t.Helper()
	a, err := open(t, data)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	var files []file
	var at []Position
	err = a.Walk(ctx, func(m *Member) error {
		if m.Kind != File || m.Fault != "" {
			return nil
		}
		r, err := m.Content()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(io.LimitReader(r, MaxMember))
		files, at = append(files, file{m.Name, data}), append(at, m.Position)
		return err
	})
	if err != nil || !a.Seekable() {
		return files, err
	}
	buf := bytes.Repeat([]byte{0xaa}, 100)
	for i := len(files) - 1; i >= 0; i-- {
		got, err := a.Read(ctx, at[i], buf)
		if err != nil {
			return files, err
		}
		if !bytes.Equal(got, files[i].data) {
			t.Errorf("%s: %d bytes by position, %d while walking, or others", files[i].name, len(got), len(files[i].data))
		}
	}
	return files, nil
}

// checkFiles reads an archive, which must have exactly these files.
func checkFiles(t *testing.T, name string, data []byte, files []file) {
	t.Helper()
	got, err := read(t, data)
	if err != nil || len(got) != len(files) {
		t.Errorf("%s: %d files, %v", name, len(got), err)
		return
	}
	for i, f := range files {
		if got[i].name != f.name || !bytes.Equal(got[i].data, f.data) {
			t.Errorf("%s: %s of %d bytes came as %s of %d, or with others", name, f.name, len(f.data), got[i].name, len(got[i].data))
		}
	}
}

// TestHeads reads the first bytes of members of any size: their contents are whole afterwards.
func TestHeads(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 4))
	var files []file
	for i := range 40 {
		data := make([]byte, r.IntN(100)*(1+r.IntN(100)))
		for k := range data {
			data[k] = byte(r.IntN(4))
		}
		files = append(files, file{fmt.Sprint(i), data})
	}
	for name, data := range archives(t, files...) {
		a, err := open(t, data)
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		err = a.Walk(t.Context(), func(m *Member) error {
			want := files[i].data
			i++
			head := make([]byte, r.IntN(50))
			if n, err := m.Head(head); err != nil || n != min(len(head), len(want)) || !bytes.Equal(head[:n], want[:n]) {
				t.Errorf("%s: %d of %d bytes, of %d: %v", name, n, len(head), len(want), err)
			}
			clear(head)
			in, err := m.Content()
			if err != nil {
				return err
			}
			if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: after its head, %d bytes of %d, or others: %v", name, len(got), len(want), err)
			}
			return nil
		})
		if err != nil || i != len(files) {
			t.Errorf("%s: %d of %d members: %v", name, i, len(files), err)
		}
	}
}

func TestMembersOfEachFormat(t *testing.T) {
	race.Skip(t)
	r := rand.New(rand.NewPCG(1, 2))
	long := strings.Repeat("long ", 60) + "ü/日本.jpg"
	files := []file{{"a/empty.jpg", nil}, {long, []byte("x")}}
	for i, size := range []int{1, 511, 512, 513, 100_000, 5_000_000} {
		data := make([]byte, size)
		for k := range data {
			data[k] = byte(r.Uint32() % uint32(2+i*40))
		}
		files = append(files, file{fmt.Sprintf("c%d/%d.png", i%2, size), data})
	}
	for name, data := range archives(t, files...) {
		checkFiles(t, name, data, files)
	}
	for name, data := range archives(t) {
		if got, err := read(t, data); err != nil || len(got) != 0 {
			t.Errorf("empty %s: %d files, %v", name, len(got), err)
		}
	}
}

// Whatever is cut off an archive, reading it is an error that names it.
func TestEveryCutIsAnError(t *testing.T) {
	for name, data := range archives(t, file{"c0/1.jpg", []byte(strings.Repeat("content ", 90))}, file{"c1/2.jpg", []byte("end")}) {
		// A tar ends with two blocks of zeros, of which one is enough.
		step, whole := 1, len(data)
		if name == "tar" || name == "gnu" {
			step, whole = 61, len(data)-block+1
		}
		for n := 0; n < whole; n += step {
			if _, err := read(t, data[:n]); err == nil {
				t.Errorf("%s cut to %d of %d bytes is read as if it were whole", name, n, len(data))
			} else if !strings.Contains(err.Error(), "pics: ") {
				t.Errorf("%s cut to %d bytes: the error does not name the file: %v", name, n, err)
			}
		}
	}
}

// A flipped byte never changes the content of an archive with checksums unnoticed.
func TestEveryFlippedByteIsAnErrorOrHarmless(t *testing.T) {
	files := []file{{"c0/1.jpg", []byte(strings.Repeat("content ", 40))}, {"c1/2.jpg", []byte("end")}}
	for name, data := range archives(t, files...) {
		if name == "tar" || name == "gnu" {
			continue // no checksums of contents
		}
		for i := range data {
			flipped := bytes.Clone(data)
			flipped[i] ^= 0x10
			got, err := read(t, flipped)
			for k := range got {
				if err == nil && k < len(files) && len(got) == len(files) && !bytes.Equal(got[k].data, files[k].data) {
					t.Errorf("%s with byte %d flipped: %s has other content", name, i, got[k].name)
				}
			}
		}
	}
}

func TestKeys(t *testing.T) {
	for name, want := range map[string]string{
		"a/b.jpg": "a/b.jpg", "./a/b.jpg": "a/b.jpg", "././a.jpg": "a.jpg", "a//b.jpg": "a/b.jpg", "a/./b.jpg": "a/b.jpg", "a/": "a", "./": "", ".": "",
		"a..b/c": "a..b/c", "...": "...", "a:b": "!", "1:b": "1:b", "ä:b": "ä:b", "ab:c": "ab:c", "a/c:d": "a/c:d",
		"": "!", "/a": "!", "//a": "!", "..": "!", "../a": "!", "a/..": "!", "a/../b": "!", `a\b`: "!", "C:/a": "!", "c:": "!", "a\x00b": "!", strings.Repeat("a", 5000): "!",
	} {
		got, err := Key(name)
		if (err != nil) != (want == "!") || err == nil && got != want {
			t.Errorf("%q: %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestMembersThatAreNotFiles(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []*tar.Header{
		{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "of git archive"}},
		{Name: "d/", Typeflag: tar.TypeDir}, {Name: "s", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, {Name: "h", Typeflag: tar.TypeLink, Linkname: "d"},
		{Name: "f", Typeflag: tar.TypeFifo}, {Name: "c", Typeflag: tar.TypeChar},
	} {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	a, err := open(t, b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	if err := a.Walk(context.Background(), func(m *Member) error { got += fmt.Sprint(m.Name, m.Kind, m.Fault, " "); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprint("d/", Directory, " s", Link, " h", Link, " f", Special, " c", Special, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What an archive claims, and what is around it, is not trusted.
func TestHostileArchives(t *testing.T) {
	race.Skip(t)
	one := tarOf(t, tar.FormatPAX, file{"a.jpg", []byte("data")})
	huge := bytes.Clone(one)
	copy(huge[124:136], "\x80\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00") // 1 PiB in base 256
	copy(huge[148:156], "        ")
	sum := 0
	for _, c := range huge[:block] {
		sum += int(c)
	}
	copy(huge[148:156], fmt.Sprintf("%06o\x00 ", sum))
	padded := append(gzipOf(t, one), make([]byte, 1000)...)
	stored := zipOf(t, file{"a.jpg", []byte("data")})
	deflated := zipOf(t, file{"z", nil}, file{"a.jpg", bytes.Repeat([]byte("data"), 100)})
	replace := func(data []byte, old, by string) []byte { return bytes.ReplaceAll(data, []byte(old), []byte(by)) }
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"a petabyte":           {huge, "cut short"},
		"a petabyte in gzip":   {gzipOf(t, huge), "cut short"},
		"two tars":             {append(bytes.Clone(one), one...), "after the end of the archive"},
		"two tars in gzip":     {append(gzipOf(t, one), gzipOf(t, one)...), "after the end of the archive"},
		"no end":               {one[:2*block], `ends after the member "a.jpg", without the two blocks of zeros`},
		"behind padding":       {append(bytes.Clone(padded), 'x'), "data after zero padding"},
		"text":                 {[]byte(strings.Repeat("text ", 200)), ErrFormat.Error()},
		"text in gzip":         {gzipOf(t, []byte(strings.Repeat("text ", 200))), ErrFormat.Error()},
		"bzip2":                {[]byte("BZh91AY&SY" + strings.Repeat("x", 600)), "compressed with bzip2, which is not read: unpack it"},
		"xz":                   {[]byte("\xfd7zXZ\x00"), "compressed with xz, which is not read: unpack it"},
		"nothing":              {nil, ErrFormat.Error()},
		"a stored size":        {replace(stored, "\x04\x00\x00\x00\x05\x00", "\xff\x00\x00\x00\x05\x00"), "sizes differ"},
		"more than it has":     {replace(deflated, "\x90\x01\x00\x00\x05\x00", "\x91\x01\x00\x00\x05\x00"), "only 400 of its 401"},
		"less than it has":     {replace(deflated, "\x90\x01\x00\x00\x05\x00", "\x8f\x01\x00\x00\x05\x00"), "more than its 399"},
		"more than it can":     {replace(deflated, "\x90\x01\x00\x00\x05\x00", "\x00\x00\x00\x0f\x05\x00"), "cannot have"},
		"more than is allowed": {replace(deflated, "\x90\x01\x00\x00\x05\x00", "\xf0\xff\xff\xff\x05\x00"), "larger than"},
		"other content":        {replace(stored, "data", "date"), "checksum"},
		"a GiB of zeros":       {zstdZeros(t, 3<<29), "expands to more than"},
	} {
		start := time.Now()
		got, err := read(t, c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "pics: ") {
			t.Errorf("%s: %d files, %v; want %s", name, len(got), err, c.want)
		}
		t.Logf("%s: %v after %v", name, err, time.Since(start))
	}
}

// A compressed tar may be padded with zeros, as on tapes.
func TestPaddedGzip(t *testing.T) {
	one := gzipOf(t, tarOf(t, tar.FormatPAX, file{"a.jpg", []byte("data")}))
	for _, zeros := range []int{1, 500, 300_000} {
		if got, err := read(t, append(bytes.Clone(one), make([]byte, zeros)...)); err != nil || len(got) != 1 {
			t.Errorf("%d zeros: %d files, %v", zeros, len(got), err)
		}
	}
}

// zstdZeros returns a compressed tar with a member of this many zeros.
func zstdZeros(t *testing.T, size int64) []byte {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "zeros.jpg", Size: size, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range size >> 20 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	z.Close()
	return b.Bytes()
}

func TestChangedArchive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tar")
	for change := range 4 {
		if err := os.WriteFile(path, tarOf(t, tar.FormatPAX, file{"a.jpg", []byte("1")}), 0o644); err != nil {
			t.Fatal(err)
		}
		trust := change == 3
		a, err := Open(context.Background(), storage.Parse(path), trust)
		if err != nil {
			t.Fatal(err)
		}
		var at Position
		if err := a.Walk(context.Background(), func(m *Member) error { at = m.Position; return nil }); err != nil {
			t.Fatal(err)
		}
		switch change {
		case 0:
			err = os.WriteFile(path, tarOf(t, tar.FormatPAX, file{"a.jpg", []byte("1")}, file{"b", nil}), 0o644)
		case 1:
			err = os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour))
		default: // another file of the same size and time
			err = errors.Join(os.WriteFile(path+".new", tarOf(t, tar.FormatPAX, file{"a.jpg", []byte("2")}), 0o644),
				os.Chtimes(path+".new", time.Time{}, a.ModTime()), os.Rename(path+".new", path))
		}
		if err != nil {
			t.Fatal(err)
		}
		unseen := trust || change == 2 && a.Change() == ""
		if _, err := a.Read(context.Background(), at, nil); errors.Is(err, errChanged) == unseen {
			t.Errorf("change %d of an archive: %v", change, err)
		}
	}
}

func TestWalkEndsWithItsContext(t *testing.T) {
	for name, data := range archives(t, file{"a.jpg", []byte("1")}, file{"b.jpg", []byte("2")}) {
		a, err := open(t, data)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		if err := a.Walk(ctx, func(*Member) error { n++; cancel(); return nil }); !errors.Is(err, context.Canceled) || n != 1 {
			t.Errorf("%s: %v after %d members", name, err, n)
		}
	}
}

// FuzzArchive holds reading any bytes to what archive/zip reads of a zip, and to no panic.
func FuzzArchive(f *testing.F) {
	for _, data := range archives(f, file{"c0/1.jpg", []byte(strings.Repeat("content ", 30))}, file{"../2.jpg", []byte("end")}) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := read(t, data)
		if err != nil || !isZip(data) {
			return
		}
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatalf("read %d files of a zip that archive/zip refuses: %v", len(got), err)
		}
		for _, m := range z.File {
			if !m.Mode().IsRegular() || zipFault(m) != "" {
				continue
			}
			if len(got) == 0 {
				t.Fatalf("%q is not read", m.Name)
			}
			// archive/zip also wants the copy of the checksum after a member's data to be right.
			if r, err := m.Open(); err == nil {
				if want, err := io.ReadAll(r); err == nil && !bytes.Equal(got[0].data, want) {
					t.Fatalf("%q is read with other content than by archive/zip", m.Name)
				}
			}
			got = got[1:]
		}
	})
}
