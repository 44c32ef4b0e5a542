package emulated_test

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/memtemp"
	"github.com/tfrec/tfrec/internal/dev/settest"
)

var (
	native   = flag.String("tfrec", "", "the tfrec of this machine; without it, tests are skipped")
	emulated = flag.String("emulated", "", "the emulator and the tfrec that it runs, separated by a space")
)

func TestMain(m *testing.M) { memtemp.Main(m) }

const (
	photos   = "../../../testdata/demo/photos"
	pictures = "../../../testdata/pictures"
)

// Images of all formats, most of them odd, and damaged ones, which are listed in errors.jsonl.
var all = []string{"images", pictures, "--unlabelled", "--max-errors", "100%"}

// conversions are arguments of convert without the output. Photographs stay in planes unless pixels
// must be RGB: for PNG, raw and float32, and for steps that need it.
var conversions = []struct {
	name string
	args []string
}{
	{"planes", []string{"images", photos, "--resize", "224", "--splits", "train=0.8,val=0.2", "--shards", "2"}},
	{"planes/lanczos3", []string{"images", photos, "--resize", "64x96", "--filter", "lanczos3", "--fit", "crop", "--subsampling", "444"}},
	{"planes/bicubic", []string{"images", photos, "--resize", "301x200", "--filter", "bicubic", "--fit", "pad", "--subsampling", "422", "--limit", "10"}},
	{"planes/area", []string{"images", photos, "--resize", "100", "--filter", "area", "--subsampling", "440", "--quality", "50"}},
	{"planes/interpolated", []string{"images", photos, "--resize", "77x55", "--antialias=false"}},
	{"planes/enlarged", []string{"images", photos, "--resize", "640", "--limit", "5"}},
	{"gray", []string{"images", photos, "--resize", "120", "--channels", "1", "--filter", "area"}},
	{"exact", []string{"images", photos, "--resize", "160", "--exact-pixels", "--filter", "area", "--subsampling", "444"}},
	{"raw", []string{"images", photos, "--resize", "48x32", "--fit", "pad", "--filter", "lanczos3", "--encode", "raw"}},
	{"float32", []string{"images", photos, "--resize", "32", "--encode", "float32", "--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"}},
	{"png", []string{"images", photos, "--resize", "96x64", "--filter", "bicubic", "--encode", "png", "--limit", "20"}},
	{"nearest", []string{"images", photos, "--resize", "50x70", "--filter", "nearest", "--encode", "raw"}},
	{"keep", []string{"images", photos, "--compression", "gzip"}},
	{"augmented", []string{"images", photos, "--augment", "random_resized_crop:96|hflip|color_jitter:0.4,0.4,0.4,0.1|rotate:15|gaussian_blur:5", "--copies", "2", "--limit", "15"}},
	{"augmented/learned", []string{"images", photos, "--augment", "resize:64x64|some_of:2(rand_augment:2,9|trivial_augment|auto_augment)", "--copies", "3", "--encode", "raw"}},
	{"augmented/rest", []string{"images", photos, "--augment", "resize:72x60|affine:20,0.1,0.8..1.2,10|perspective:0.4,p=1|gamma:0.7..1.4|gaussian_noise:0.05|random_erasing|jpeg:30..90|sharpness:2", "--encode", "png", "--limit", "20"}},
	{"formats/raw", append(all, "--resize", "48", "--encode", "raw")},
	{"formats/jpeg", append(all, "--resize", "53x31", "--filter", "lanczos3", "--background", "ff8000")},
	{"formats/png", append(all, "--encode", "png", "--limit", "60")},
	{"formats/keep", all},
	{"table", []string{"csv", "../../../testdata/demo/penguins.csv", "--shards", "3", "--shuffle"}},
	{"table/compressed", []string{"csv", "../../../testdata/demo/online-retail.csv", "--splits", "train=0.9,test=0.1", "--compression", "zlib"}},
}

// TestConvert: both commands print the same and exit with the same code, and all files of the sets
// are the same but for the state in .tfrec, where there are times.
func TestConvert(t *testing.T) {
	if *native == "" || *emulated == "" {
		t.Skip("no -tfrec and -emulated given: make arm64-test")
	}
	for _, c := range conversions {
		t.Run(c.name, func(t *testing.T) {
			want, got := run(t, []string{*native}, c.args), run(t, strings.Fields(*emulated), c.args)
			if got.code != want.code || got.output != want.output {
				t.Errorf("exit %d: %s\nwant %d: %s", got.code, got.output, want.code, want.output)
			}
			if want.code != 0 || want.files["manifest.json"] == "" || len(want.files) < 2 {
				t.Errorf("exit %d, %d files: %s", want.code, len(want.files), want.output)
			}
			for name, data := range want.files {
				if other, ok := got.files[name]; !ok || other != data {
					t.Errorf("%s has other bytes, or does not exist", name)
				}
			}
			if len(got.files) != len(want.files) {
				t.Errorf("%d files; want %d", len(got.files), len(want.files))
			}
		})
	}
}

// result is what a conversion printed, how it exited, and the files of its set.
type result struct {
	output string
	code   int
	files  map[string]string
}

func run(t *testing.T, command, args []string) result {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "set")
	args = append([]string{"convert", args[0], args[1], dir, "--quiet"}, args[2:]...)
	c := exec.Command(command[0], append(command[1:], args...)...)
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r := result{strings.ReplaceAll(string(out), dir, "SET"), c.ProcessState.ExitCode(), map[string]string{}}
	for _, name := range settest.NamesIn(t, dir) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		settest.Check(t, err)
		if info.IsDir() || strings.HasPrefix(name, ".tfrec/") {
			continue
		}
		data, err := os.ReadFile(path)
		settest.Check(t, err)
		r.files[name] = string(data)
	}
	return r
}
