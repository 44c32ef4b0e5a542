package command

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/command/cli"
)

// foreignHeads are beginnings of files by their kind, with a word of what tfrec calls it.
var foreignHeads = map[string]struct{ head, name string }{
	"jpeg":    {"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01", "JPEG image"},
	"png":     {"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "PNG image"},
	"gif":     {"GIF89a\x09\x00\x09\x00\x80\x00\x00", "GIF image"},
	"bmp":     {"BM\x4e\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x02", "BMP image"},
	"webp":    {"RIFF\x24\x00\x00\x00WEBPVP8 ", "WebP image"},
	"tiff":    {"II*\x00\x08\x00\x00\x00\x0e\x00\x00\x01", "TIFF image"},
	"zip":     {"PK\x03\x04\x14\x00\x00\x00\x08\x00\x00\x00\x00\x00", "zip archive"},
	"tar":     {"1.jpg" + strings.Repeat("\x00", 252) + "ustar\x0000", "tar archive"},
	"7z":      {"7z\xbc\xaf\x27\x1c\x00\x04\x9a\xd3\x14\x6b", "7z archive"},
	"csv":     {"name,size\na,1\nb,2\n", "CSV table"},
	"text":    {"Some text, long enough to be told.\nIn two lines.\n", "text"},
	"json":    {`{"name": "a", "size": 1}` + "\n", "JSON text"},
	"parquet": {"PAR1\x15\x04\x15\x10\x15\x14\x4c\x15", "Parquet file"},
	"arrow":   {"ARROW1\x00\x00\xff\xff\xff\xff\x78\x00\x00\x00", "Arrow file"},
	"npy":     {"\x93NUMPY\x01\x00v\x00{'descr': '<f8', ", ".npy array"},
	"npz":     {"PK\x03\x04\x14\x00\x00\x00\x08\x00\x00\x00!\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00x.npy", ".npz archive"},
	"hdf5":    {"\x89HDF\r\n\x1a\n\x00\x00\x00\x00\x00\x08\x08\x00", "HDF5 file"},
	"lmdb":    {"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x00\x00\xde\xc0\xef\xbe\x01\x00\x00\x00", "LMDB database"},
	"sqlite":  {"SQLite format 3\x00\x10\x00\x01\x01\x00", "SQLite database"},
	"pdf":     {"%PDF-1.7\n%\xb5\xb5\xb5\xb5\n1 0 obj", "PDF document"},
	"xz":      {"\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46", "xz file"},
	"bzip2":   {"BZh91AY&SY\x8d\x60\xa2\x4e", "bzip2 file"},
}

// TestForeignFilesAreNamed gives files that hold no records to all verbs that take records: each
// says what the file is and, if there is one, which verb reads it.
func TestForeignFilesAreNamed(t *testing.T) {
	for kind := range cli.ForeignAdvice {
		if _, ok := foreignHeads[kind]; !ok {
			t.Errorf("kind %s has advice and no test", kind)
		}
	}
	verbs := []string{
		"verify F", "verify --deep F", "verify --sample 2 F", "inspect F", "cat F", "cat --shuffle global F", "stats F", "bench --seconds 0 F", "index F", "diff F F",
		"reshard F OUT", "reshard --shuffle F OUT", "merge F OUT", "split F OUT --splits train=1", "sample F OUT --count 1", "take F OUT --count 1", "dedupe F OUT", "filter F OUT --where x==1",
		"features drop F OUT --keys x", "export F OUT --format csv", "preview F OUT.html", "adopt DIR",
	}
	for kind, foreign := range foreignHeads {
		dir := t.TempDir()
		f := filepath.Join(dir, "in", "x.tfrecord")
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte(foreign.head), 0o644); err != nil {
			t.Fatal(err)
		}
		for i, verb := range verbs {
			if testing.Short() && i > 4 {
				break
			}
			out := filepath.Join(dir, "out")
			args := strings.Fields(strings.NewReplacer("F", f, "OUT", out, "DIR", filepath.Dir(f)).Replace(verb))
			var stdout, stderr bytes.Buffer
			code := run(context.Background(), args, &stdout, &stderr)
			said := stdout.String() + stderr.String()
			if code != cli.ExitFailed && code != cli.ExitFaults || !strings.Contains(said, foreign.name) || !strings.Contains(said, cli.ForeignAdvice[kind]) || strings.Contains(said, "tfrec repair") {
				t.Errorf("%s of %s: exit code %d: %s", verb, kind, code, said)
			}
			os.Remove(out + ".html")
			if left, _ := filepath.Glob(out + "*"); len(left) > 0 {
				t.Errorf("%s of %s leaves %v", verb, kind, left)
				os.RemoveAll(out)
			}
		}
		var stdout, stderr bytes.Buffer
		run(context.Background(), []string{"verify", "--json", f}, &stdout, &stderr)
		var report struct{ Faults []struct{ Kind string } }
		if err := json.Unmarshal(stdout.Bytes(), &report); err != nil || len(report.Faults) != 1 || report.Faults[0].Kind != kind {
			t.Errorf("verify --json of %s: %v: %s", kind, err, stdout.String())
		}
	}
}
