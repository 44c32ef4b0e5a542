package gputest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// record is what the tests look at of one.
type record struct{ name, decoder, pixels string }

// records are those of a set, as the command prints them, sorted by name.
func records(t *testing.T, dir string) []record {
	t.Helper()
	var all []record
	printed := json.NewDecoder(strings.NewReader(tfrec(t, t.TempDir(), nil, "cat", "--format", "proto", dir)))
	for {
		var r struct {
			Features struct {
				Feature map[string]struct{ BytesList struct{ Value [][]byte } }
			}
		}
		if err := printed.Decode(&r); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		text := func(key string) string {
			return string(bytes.Join(r.Features.Feature[key].BytesList.Value, nil))
		}
		all = append(all, record{text("image/filename"), text("image/decoder"), text("image/encoded")})
	}
	slices.SortFunc(all, func(a, b record) int { return strings.Compare(a.name, b.name) })
	return all
}

// decodedBy counts a set's images by decoder.
func decodedBy(t *testing.T, dir string) map[string]int {
	t.Helper()
	by := map[string]int{}
	for _, r := range records(t, dir) {
		by[r.decoder]++
	}
	return by
}

// decoder is what a set's manifest says.
func decoder(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Decoder string }
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m.Decoder
}

// raw is a set of all images as raw pixels at full size.
var raw = []string{"--resize", "60x40", "--encode", "raw", "--exact-pixels", "--decoder", "go"}

// withDecode are the flags for a set that nvJPEG decodes.
func withDecode(mode string, more ...string) []string {
	return slices.Concat(raw, []string{"--gpu", mode, "--gpu-decode"}, more)
}

const nvjpegOfFake = "nvjpeg 12.2.2 sm_90 hardware+GPU+hybrid; tfrec 1"

// TestConvertDecodes makes sets of images that nvJPEG decodes: the fake has libjpeg's samples,
// unless it is to tint them.
func TestConvertDecodes(t *testing.T) {
	fake := fakeDriver(t)
	cpu := convertPhotos(t, fake, "", raw...)
	want := records(t, cpu.out)
	on := convertPhotos(t, fake, "", withDecode("on")...)
	if on.code != 0 || !strings.Contains(on.stderr, "40 images on tfrec's fake GPU 0\n") || !strings.Contains(on.stderr, "note: decoded by: nvjpeg hardware 40\n") {
		t.Errorf("exit %d: %s", on.code, on.stderr)
	}
	if got := decoder(t, on.out); got != nvjpegOfFake {
		t.Errorf("the manifest's decoder is %q; want %q", got, nvjpegOfFake)
	}
	for i, r := range records(t, on.out) {
		if r.decoder != "nvjpeg hardware" || r.pixels != want[i].pixels || r.name != want[i].name {
			t.Errorf("%s was decoded by %q, to the CPU's pixels: %v", r.name, r.decoder, r.pixels == want[i].pixels)
		}
	}
	tinted := convertPhotos(t, fake, "FAKECUDA_TINT=3", withDecode("on")...)
	for i, r := range records(t, tinted.out) {
		if r.pixels == want[i].pixels {
			t.Errorf("%s was not decoded by nvJPEG", r.name)
		}
	}

	reference := files(t, on.out)
	for _, c := range []struct{ name, variable, mode, workers string }{
		{"again", "", "auto", "1"},
		{"a batch that fails once", "FAKECUDA_FAIL=nvjpegDecodeBatched:1:6", "on", "4"},
		// An image that is skipped twice is another backend's, which its record says: the second fault
		// must not hit what the first one has decoded again, as it might with several workers.
		{"an image that is skipped", "FAKECUDA_FAIL=pictureBatched:3:1", "on", "4"},
		{"another one", "FAKECUDA_FAIL=pictureBatched:20:1", "on", "4"},
		{"two images that are skipped", "FAKECUDA_FAIL=pictureBatched:3:1,pictureBatched:20:1", "on", "1"},
		{"no room for a batch", "FAKECUDA_FAIL=nvjpegDecodeBatched:1:5", "auto", "3"},
		{"little memory", "FAKECUDA_MEMORY=9000000", "on", "4"},
	} {
		got := convertPhotos(t, fake, c.variable, withDecode(c.mode, "--workers", c.workers)...)
		if got.code != 0 {
			t.Errorf("%s: exit %d: %s", c.name, got.code, got.stderr)
		}
		sameFiles(t, files(t, got.out), reference)
	}
}

// TestConvertDecodesWithout decodes on the CPU where there is nothing else from the
// start, or refuses to.
func TestConvertDecodesWithout(t *testing.T) {
	fake := fakeDriver(t)
	want := files(t, convertPhotos(t, fake, "", raw...).out)
	for _, c := range []struct {
		name, driver, variable, auto, on string
	}{
		{"no driver", t.TempDir(), "", "note: no NVIDIA driver", "--gpu on: no NVIDIA driver"},
		{"no GPU", fake, "FAKECUDA_DEVICES=0", "note: the NVIDIA driver finds no GPU: continuing on the CPU\n", "--gpu on: the NVIDIA driver finds no GPU\n"},
		{"no nvJPEG", driverAlone(t, fake), "", "note: no nvJPEG: none of libnvjpeg.so.12, libnvjpeg.so.11 is installed; later ones are not for the driver, which is for CUDA 12.2: the CPU decodes\nnote: 40 images on tfrec's fake GPU 0\n", "--gpu on --gpu-decode: no nvJPEG: none of"},
		{"nvJPEG that fails", fake, "FAKECUDA_FAIL=nvjpegCreateEx:1+:6", "note: no nvJPEG: libnvjpeg.so.12 answers execution failed (6): the CPU decodes\n", "--gpu on --gpu-decode: no nvJPEG: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			auto := convertPhotos(t, c.driver, c.variable, withDecode("auto")...)
			if auto.code != 0 || !strings.Contains(auto.stderr, c.auto) || strings.Contains(auto.stderr, "decoded by") {
				t.Errorf("exit %d: %s", auto.code, auto.stderr)
			}
			sameFiles(t, files(t, auto.out), want)
			on := convertPhotos(t, c.driver, c.variable, withDecode("on")...)
			if on.code != 1 || !strings.Contains(on.stderr, c.on) {
				t.Errorf("exit %d: %s", on.code, on.stderr)
			}
			if entries, err := os.ReadDir(on.out); err != nil || len(entries) > 0 {
				t.Error("something was written", entries, err)
			}
		})
	}
}

// TestConvertWithoutTheChip notes a chip's decoder that fails to start, once, and not one that the
// GPU does not have.
func TestConvertWithoutTheChip(t *testing.T) {
	fake := fakeDriver(t)
	const note = "note: nvJPEG's backend \"hardware\" does not start: execution failed (6)"
	for _, c := range []struct {
		variable string
		notes    int
	}{
		{"FAKECUDA_HARDWARE=0", 0},
		// The backend tries them, and each of three streams.
		{"FAKECUDA_FAIL=nvjpegCreateEx:1:6,nvjpegCreateEx:4:6,nvjpegCreateEx:7:6,nvjpegCreateEx:10:6", 1},
	} {
		got := convertPhotos(t, fake, c.variable, withDecode("on")...)
		if got.code != 0 || strings.Count(got.stderr, note) != c.notes || strings.Count(got.stderr, "does not start") != c.notes {
			t.Errorf("%s: exit %d: %s", c.variable, got.code, got.stderr)
		}
		if d := decodedBy(t, got.out); d["nvjpeg GPU"]+d["nvjpeg hybrid"] == 0 || d["nvjpeg hardware"] != 0 {
			t.Errorf("%s: decoded by %v", c.variable, d)
		}
	}
}

// TestConvertFallsBack makes the GPU fail in the middle of a run: each image that the CPU decodes
// is named, none is lost, and another run redoes those.
func TestConvertFallsBack(t *testing.T) {
	fake := fakeDriver(t)
	reference := files(t, convertPhotos(t, fake, "", withDecode("on")...).out)
	for _, c := range []struct {
		name, variable, says string
		cpu                  int  // images that the CPU decodes; 0: some
		repaired             bool // by another run
		on                   string
	}{
		{"images that are refused", "FAKECUDA_FAIL=nvjpegDecodeBatched:1+:4,nvjpegDecodeJpeg:1+:4", "note: decoded by: tfrec 1 40 (nvJPEG refuses the image: JPEG not supported (4): 40)\n", 40, false, ""},
		{"a GPU that fails", "FAKECUDA_FAIL=kernel:5:719", "whose shards the same command rewrites when the GPU works again)\n", 0, true, "GPU 0 (tfrec's fake GPU 0) failed: "},
		{"a GPU that fails as it decodes", "FAKECUDA_FAIL=cuEventSynchronize:2:719", "the GPU failed or lacked memory: ", 0, true, "GPU 0 (tfrec's fake GPU 0) failed: "},
		{"no memory", "FAKECUDA_MEMORY=60000", "(the GPU failed or lacked memory: ", 0, true, "is not decoded: allocate "},
	} {
		t.Run(c.name, func(t *testing.T) {
			auto := convertPhotos(t, fake, c.variable, withDecode("auto")...)
			if auto.code != 0 || !strings.Contains(auto.stderr, c.says) {
				t.Errorf("exit %d: %s\nwant %q", auto.code, auto.stderr, c.says)
			}
			if got := decoder(t, auto.out); got != nvjpegOfFake {
				t.Errorf("the manifest's decoder is %q; want %q", got, nvjpegOfFake)
			}
			by := decodedBy(t, auto.out)
			if n := by["tfrec 1"]; n == 0 || c.cpu > 0 && n != c.cpu || n+by["nvjpeg hardware"] != 40 {
				t.Errorf("decoded by %v", by)
			}
			again := convertTo(t, auto.out, fake, "", withDecode("auto")...)
			if again.code != 0 {
				t.Errorf("again: exit %d: %s", again.code, again.stderr)
			}
			if c.repaired {
				sameFiles(t, files(t, auto.out), reference)
			}
			if c.on == "" {
				return
			}
			on := convertPhotos(t, fake, c.variable, withDecode("on")...)
			if on.code != 1 || !strings.Contains(on.stderr, c.on) || strings.Contains(on.stderr, "continuing") {
				t.Errorf("on: exit %d: %s", on.code, on.stderr)
			}
			rest := convertTo(t, on.out, fake, "", withDecode("on")...)
			if rest.code != 0 {
				t.Errorf("on again: exit %d: %s", rest.code, rest.stderr)
			}
			sameFiles(t, files(t, rest.out), reference)
		})
	}
}

// TestConvertDecodesVariants checks that nvJPEG decodes all variants except those with a step that
// only the CPU has, with any number of workers and tasks.
func TestConvertDecodesVariants(t *testing.T) {
	fake := fakeDriver(t)
	args := []string{"--augment", "random_resized_crop:40|hflip|color_jitter:0.4,0.4,0.4,0.1|one_of:p=0.3(jpeg:50..90)", "--copies", "2", "--encode", "png", "--gpu", "on", "--gpu-decode"}
	one := convertPhotos(t, fake, "", append(args, "--workers", "1")...)
	if one.code != 0 || !strings.Contains(one.stderr, " on the CPU (jpeg ") {
		t.Fatalf("exit %d: %s", one.code, one.stderr)
	}
	by := decodedBy(t, one.out)
	if by["nvjpeg hardware"] < 40 || by["nvjpeg hardware"]+by["tfrec 1"] != 80 || by["tfrec 1"] < 5 {
		t.Errorf("decoded by %v", by)
	}
	tasks := t.TempDir()
	for _, task := range []string{"1", "0"} {
		if got := convertTo(t, tasks, fake, "", append(args, "--workers", "3", "--tasks", "2", "--task", task)...); got.code != 0 {
			t.Fatalf("task %s: exit %d: %s", task, got.code, got.stderr)
		}
	}
	if got := convertTo(t, tasks, t.TempDir(), "", append(args, "--tasks", "2", "--task", "0")...); got.code != 1 {
		t.Errorf("a task without a GPU: exit %d: %s", got.code, got.stderr)
	}
	tfrec(t, fake, nil, "finalize", tasks)
	sameFiles(t, files(t, tasks), files(t, one.out))
}

// TestConvertDamagedImages has nvJPEG decode odd and damaged images: those that are unusable are
// so for the same reasons as on the CPU, and all others are there.
func TestConvertDamagedImages(t *testing.T) {
	fake := fakeDriver(t)
	convert := func(more ...string) string {
		out := t.TempDir()
		args := []string{"convert", "images", "../../../testdata/pictures", out, "--name", "odd", "--unlabelled", "--max-errors", "100", "--quiet"}
		tfrec(t, fake, nil, slices.Concat(args, raw, more)...)
		return out
	}
	cpu, onGPU := convert(), convert("--gpu", "on", "--gpu-decode")
	want := files(t, cpu)["errors.jsonl"]
	if got := files(t, onGPU)["errors.jsonl"]; got != want || strings.Count(want, "\n") < 30 {
		t.Errorf("unusable are\n%s\nwhich are for the CPU\n%s", got, want)
	}
	with, without := records(t, onGPU), records(t, cpu)
	if len(with) != len(without) {
		t.Fatalf("%d records; want %d", len(with), len(without))
	}
	for i, r := range with {
		if r.name != without[i].name || r.pixels != without[i].pixels {
			t.Errorf("%s, decoded by %q, has other pixels than %s of the CPU", r.name, r.decoder, without[i].name)
		}
	}
	if by := decodedBy(t, onGPU); by["nvjpeg hardware"] < 20 || by["nvjpeg GPU"] < 3 || by["tfrec 1"] < 10 || by["png"] < 5 || by["webp"] < 3 {
		t.Errorf("decoded by %v", by)
	}
}

// TestConvertDecodersDoNotMix refuses to finish with one decoder what another one began, and says
// what to give.
func TestConvertDecodersDoNotMix(t *testing.T) {
	fake := fakeDriver(t)
	begun := convertPhotos(t, fake, "FAKECUDA_FAIL=kernel:5:719", withDecode("on")...)
	if begun.code != 1 {
		t.Fatal(begun.stderr)
	}
	for _, c := range []struct{ name, driver, variable, says string }{
		{"no driver any longer", t.TempDir(), "", "--gpu on --gpu-decode selects the former, on a machine with such a GPU and nvJPEG"},
		{"no chip", fake, "FAKECUDA_HARDWARE=0", "it is another nvJPEG, another kind of GPU, or another --decoder"},
	} {
		got := convertTo(t, begun.out, c.driver, c.variable, withDecode("auto")...)
		if got.code != 1 || !strings.Contains(got.stderr, c.says) {
			t.Errorf("%s: exit %d: %s", c.name, got.code, got.stderr)
		}
	}
	if got := convertTo(t, convertPhotos(t, fake, "", raw...).out, fake, "", withDecode("on")...); got.code != 1 || !strings.Contains(got.stderr, "without --gpu-decode it is the former") {
		t.Errorf("the CPU's: exit %d: %s", got.code, got.stderr)
	}
}

// TestConvertLikeASetOfNVJPEG takes over the decoder of a set, too.
func TestConvertLikeASetOfNVJPEG(t *testing.T) {
	fake := fakeDriver(t)
	was := convertPhotos(t, fake, "", withDecode("on", "--limit", "8")...)
	if was.code != 0 {
		t.Fatal(was.stderr)
	}
	got := convertPhotos(t, fake, "", "--from-manifest", was.out)
	if got.code != 0 {
		t.Fatal(got.stderr)
	}
	sameFiles(t, files(t, got.out), files(t, was.out))
}
