package cloud

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"image"
	"image/png"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/reader"
)

// statesCRC states the CRC-32C of all of an object, as S3 does where one was uploaded so.
func statesCRC(h http.Header, data string) {
	header("Crc32c", storage.CRC32C)(h, data)
	h.Set("X-Amz-Checksum-Type", "FULL_OBJECT")
}

// statesNothing is an object in parts without a checksum of all of it.
func statesNothing(h http.Header, data string) { h.Set("ETag", fmt.Sprintf("\"%x-1\"", len(data))) }

func gzipped(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(t *testing.T, data []byte) []byte {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(data, nil)
}

// Tables through a cache on the way that flips bits of all that it answers make the same set as on
// a disk if the store states a CRC of all of them. They are larger than what is checked at once.
func TestFlippedBitsInTables(t *testing.T) {
	random := torture.Rand(t)
	var csv, jsonl bytes.Buffer
	csv.WriteString("number,text\n")
	for i := range 30_000 {
		n := random.Uint64()
		fmt.Fprintf(&csv, "%d,text %x\n", i, n)
		fmt.Fprintf(&jsonl, "{\"number\":%d,\"text\":\"text %x\"}\n", i, n)
	}
	for name, data := range map[string][]byte{
		"csv": csv.Bytes(), "csv.gz": gzipped(t, csv.Bytes()), "csv.zst": zstandard(t, csv.Bytes()), "jsonl": jsonl.Bytes(), "jsonl.gz": gzipped(t, jsonl.Bytes()),
	} {
		t.Run(name, func(t *testing.T) {
			if len(data) < 300<<10 {
				t.Fatalf("only %d bytes", len(data))
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "t."+name), data, 0o644); err != nil {
				t.Fatal(err)
			}
			local, out := filepath.Join(dir, "local"), filepath.Join(dir, "out")
			must(t, "convert", "table", filepath.Join(dir, "t."+name), local, "--shards", "2")
			all := &objects{contents: map[string]string{"t." + name: string(data)}, page: 100, states: statesCRC}
			(&badCache{server: all, suffix: name}).serve(t)
			_, text, code := tfrec(t, "convert", "table", "s3://bucket/t."+name, out, "--shards", "2", "--cache-dir", filepath.Join(dir, "cache"))
			if code != 0 || !strings.Contains(text, "changed in transit") {
				t.Fatalf("exit code %d: %s", code, text)
			}
			for shard, want := range files(t, local) {
				if got, err := os.ReadFile(out + shard); isShard(shard) && (err != nil || string(got) != want) {
					t.Errorf("%s differs", shard)
				}
			}
		})
	}
}

// Without a checksum, rows that differ between the two times that a table is read end the run: no
// set is written, and the error blames the way.
func TestFlippedBitsInTablesWithoutSums(t *testing.T) {
	var csv bytes.Buffer
	csv.WriteString("number,text\n")
	for i := range 40_000 {
		fmt.Fprintf(&csv, "%d,the text of row %d\n", i, i)
	}
	all := &objects{contents: map[string]string{"t.csv": csv.String()}, page: 100, states: statesNothing}
	proxy := &badCache{server: all, suffix: ".csv", least: 100_000}
	proxy.serve(t)
	out := filepath.Join(t.TempDir(), "out")
	_, text, code := tfrec(t, "convert", "table", "s3://bucket/t.csv", out)
	if code != 1 || !strings.Contains(text, "in transit") {
		t.Errorf("exit code %d: %s", code, text)
	}
	if _, err := os.Stat(filepath.Join(out, "manifest.json")); err == nil {
		t.Error("there is a set")
	}
	proxy.good.Store(true)
	must(t, "convert", "table", "s3://bucket/t.csv", out, "--hash-inputs")
}

// Records of compressed shards, whose damage shows up anywhere in the stream after it, come right,
// and damage of the object itself is still the object's.
func TestFlippedBitsInCompressedRecords(t *testing.T) {
	plain, dir := setIn(t)
	name := "/set-train.tfrecord-00000-of-00002"
	content := []byte(plain.contents["set"+name])
	for _, compression := range []string{"gzip", "zstd"} {
		compress := map[string]func(*testing.T, []byte) []byte{"gzip": gzipped, "zstd": zstandard}[compression]
		data := compress(t, content)
		all := &objects{contents: map[string]string{"x.tfrecord": string(data)}, page: 100, states: statesNothing}
		proxy := &badCache{server: all, suffix: ".tfrecord", least: 1}
		proxy.serve(t)
		want := must(t, "cat", dir+name, "--format", "hex")
		for i, more := range [][]string{nil, {"--cache-dir", filepath.Join(t.TempDir(), "cache")}} {
			out, text, code := tfrec(t, append([]string{"cat", "s3://bucket/x.tfrecord", "--format", "hex"}, more...)...)
			if code != 0 || out != want || !strings.Contains(text, "in transit") {
				t.Errorf("%s %d: exit code %d, %d bytes of output, want %d: %s", compression, i, code, len(out), len(want), text)
			}
		}
		if out, text, code := tfrec(t, "verify", "s3://bucket/x.tfrecord"); code != 0 || !strings.Contains(text, "in transit") {
			t.Errorf("%s: verify: exit code %d: %s%s", compression, code, out, text)
		}
		saved := filepath.Join(t.TempDir(), "saved.tfrecord")
		if out, text, code := tfrec(t, "repair", "s3://bucket/x.tfrecord", saved); code != 0 || !strings.Contains(text, "in transit") {
			t.Errorf("%s: repair: exit code %d: %s%s", compression, code, out, text)
		} else if got, err := os.ReadFile(saved); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: repair saved %d bytes, which differ from %d, %v", compression, len(got), len(data), err)
		}
		if n := events(t, "s3://bucket/x.tfrecord"); n == 0 {
			t.Errorf("%s: a reader logged no event", compression)
		}
		damaged := bytes.Clone(data)
		damaged[len(damaged)*3/4] ^= 4
		all.contents["x.tfrecord"] = string(damaged)
		proxy.good.Store(true)
		out, text, code := tfrec(t, "verify", "s3://bucket/x.tfrecord")
		if code != 3 || strings.Contains(out+text, "transit") {
			t.Errorf("%s: damage of the object: exit code %d: %s%s", compression, code, out, text)
		}
	}
}

// Archives whose headers or compressed streams arrive damaged are listed and read again.
func TestFlippedBitsInArchives(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var plain bytes.Buffer
	w := tar.NewWriter(&plain)
	for i := range 40 {
		m := image.NewRGBA(image.Rect(0, 0, 60, 40))
		for n := range m.Pix {
			m.Pix[n] = byte(random.Uint32()) | 3
		}
		var data bytes.Buffer
		if err := png.Encode(&data, m); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d/%d.png", i%2, i), Size: int64(data.Len()), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(w, &data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"x.tar": plain.Bytes(), "x.tar.gz": gzipped(t, plain.Bytes()), "x.tar.zst": zstandard(t, plain.Bytes())} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
		local, out := filepath.Join(dir, "local"), filepath.Join(dir, "out")
		must(t, "convert", "images", filepath.Join(dir, name), local, "--resize", "16")
		all := &objects{contents: map[string]string{name: string(data)}, page: 100, states: statesNothing}
		(&badCache{server: all, suffix: name, at: map[bool]int{true: 257}[name == "x.tar"]}).serve(t)
		_, text, code := tfrec(t, "convert", "images", "s3://bucket/"+name, out, "--resize", "16", "--max-errors", "0")
		if code != 0 || !strings.Contains(text, "changed in transit") {
			t.Fatalf("%s: exit code %d: %s", name, code, text)
		}
		for shard, want := range files(t, local) {
			if got, err := os.ReadFile(out + shard); isShard(shard) && (err != nil || string(got) != want) {
				t.Errorf("%s: %s differs", name, shard)
			}
		}
	}
}

// events reads a set, and returns how many events of bytes that changed in transit were logged.
func events(t *testing.T, path string) (n int) {
	t.Helper()
	storage.Forget()
	var log bytes.Buffer
	set, err := reader.Open(t.Context(), path, reader.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range set.Interleave(1, 1).All(t.Context()) {
		if err != nil {
			t.Error(err)
		}
	}
	return strings.Count(log.String(), `level=WARN msg="bytes changed in transit" path=`+path)
}
