//go:build cuda && linux && amd64 && cgo

package nvjpeg_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/gpu/internal/cuda"
	"github.com/tfrec/tfrec/gpu/internal/fakecuda"
	"github.com/tfrec/tfrec/gpu/internal/gputest"
	"github.com/tfrec/tfrec/gpu/internal/nvjpeg"
)

func TestNoRoom(t *testing.T) {
	fakecuda.Use(t)
	_, s, decoder := open(t)
	const luma, chroma = 40 * 30, 20 * 15
	b, err := s.Alloc(luma + 2*chroma)
	if err != nil {
		t.Fatal(err)
	}
	data := makeJPEG(t, 40, 30, false)
	one := func(change func(p *nvjpeg.Image)) nvjpeg.Image {
		p := nvjpeg.Image{Data: data, To: b, Planes: [3]nvjpeg.Plane{{Pitch: 40}, {At: luma, Pitch: 20}, {At: luma + chroma, Pitch: 20}}}
		change(&p)
		return p
	}
	batch := []nvjpeg.Image{
		one(func(*nvjpeg.Image) {}),
		one(func(p *nvjpeg.Image) { p.Planes[2].Pitch = 21 }),
		one(func(p *nvjpeg.Image) { p.Planes[0].Pitch = 39 }),
		one(func(p *nvjpeg.Image) { p.Planes[2].At++ }),
		one(func(p *nvjpeg.Image) { p.Planes[1].At = -1 }),
		one(func(p *nvjpeg.Image) { p.Planes[0].Pitch = 1 << 60 }),
		one(func(p *nvjpeg.Image) { p.Planes = [3]nvjpeg.Plane{} }),
	}
	if err := decoder.Decode(batch); err != nil {
		t.Fatal(err)
	}
	for i, p := range batch {
		if i == 0 && p.Err != nil || i > 0 && (p.Err == nil || !strings.Contains(p.Err.Error(), "has no room")) {
			t.Errorf("%d: %v", i, p.Err)
		}
	}
}

// TestOtherSizes has planes of another size in mind than the image has.
func TestOtherSizes(t *testing.T) {
	fakecuda.Use(t)
	_, s, decoder := open(t)
	data := makeJPEG(t, 40, 30, true)
	b, err := s.Alloc(40 * 31)
	if err != nil {
		t.Fatal(err)
	}
	p := nvjpeg.Image{Data: data, To: b, Planes: [3]nvjpeg.Plane{{Pitch: 40}}}
	p.Want[0].Width, p.Want[0].Height = 40, 31
	batch := []nvjpeg.Image{p}
	if err := decoder.Decode(batch); err != nil {
		t.Fatal(err)
	}
	if want := "nvJPEG refuses the image: it finds a plane of 40x30 where there is one of 40x31"; batch[0].Err == nil || batch[0].Err.Error() != want {
		t.Errorf("%v; want %s", batch[0].Err, want)
	}
}

// TestFailures makes nvJPEG fail at some calls. An image that fails once is still decoded by the
// same backend; one that keeps failing goes to the next backend, without affecting other images.
func TestFailures(t *testing.T) {
	fakecuda.Use(t)
	baseline, progressive := makeJPEG(t, 40, 30, false), file(t, "made-ok-progressive.jpg")
	for _, c := range []struct {
		name, fail string
		data       []byte
		want       [3]int64 // of five
		refused    string   // the others' error
		err        error
	}{
		{"nothing", "", baseline, [3]int64{5, 0, 0}, "", nil},
		{"a batch", "nvjpegDecodeBatched:1:6", baseline, [3]int64{5, 0, 0}, "", nil},
		{"a batch and a half", "nvjpegDecodeBatched:1:6,nvjpegDecodeBatched:3:8", baseline, [3]int64{5, 0, 0}, "", nil},
		{"the chip", "nvjpegDecodeBatched:1+:6", baseline, [3]int64{0, 5, 0}, "", nil},
		{"the chip refuses", "nvjpegDecodeBatched:1+:4", baseline, [3]int64{0, 5, 0}, "", nil},
		{"the chip, and the GPU at one", "nvjpegDecodeBatched:1+:6,nvjpegDecodeJpeg:2:6,nvjpegDecodeJpeg:3:6", baseline, [3]int64{0, 4, 1}, "", nil},
		{"an image", "nvjpegDecodeJpeg:3:6", progressive, [3]int64{0, 5, 0}, "", nil},
		{"an image twice", "nvjpegDecodeJpeg:3:6,nvjpegDecodeJpeg:4:8", progressive, [3]int64{0, 4, 1}, "", nil},
		{"an image is refused", "nvjpegDecodeJpeg:3:3,nvjpegDecodeJpeg:4:4", progressive, [3]int64{0, 4, 0}, "JPEG not supported (4)", nil},
		{"an image for good", "nvjpegDecodeJpeg:2:6,nvjpegDecodeJpeg:3:6,nvjpegDecodeJpeg:4:6,nvjpegDecodeJpeg:5:8", progressive, [3]int64{0, 4, 0}, "internal error (8)", nil},
		{"no room for a batch", "nvjpegDecodeBatched:1:5", baseline, [3]int64{}, "", cuda.ErrOutOfMemory},
		{"no room for an image", "nvjpegDecodeJpeg:2:5", progressive, [3]int64{0, 1, 0}, "", cuda.ErrOutOfMemory},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, s, decoder := open(t)
			var batch []nvjpeg.Image
			for range 5 {
				info, err := decoder.Parse(c.data)
				if err != nil {
					t.Fatal(err)
				}
				planes, size := planesOf(info)
				b, err := s.Alloc(size)
				if err != nil {
					t.Fatal(err)
				}
				batch = append(batch, nvjpeg.Image{Data: c.data, To: b, Planes: planes})
			}
			fakecuda.Set(t, "FAIL", c.fail)
			if err := decoder.Decode(batch); !errors.Is(err, c.err) {
				t.Fatalf("%v; want %v", err, c.err)
			}
			if got := decoder.Counts(); got != c.want {
				t.Errorf("counts %v, want %v", got, c.want)
			}
			if c.err != nil {
				return
			}
			refused := 0
			for i := range batch {
				if err := batch[i].Err; err == nil {
					compare(t, s, fmt.Sprint(i), &batch[i])
				} else if refused++; !errors.Is(err, nvjpeg.ErrRefused) || !strings.HasSuffix(err.Error(), c.refused) {
					t.Errorf("%d: %v; want %s", i, err, c.refused)
				}
			}
			if want := 5 - int(c.want[0]+c.want[1]+c.want[2]); refused != want {
				t.Errorf("%d are refused; want %d", refused, want)
			}
		})
	}
}

// TestGPUThatFails has the GPU fail as it decodes, on the chip's decoder and without.
func TestGPUThatFails(t *testing.T) {
	fakecuda.Use(t)
	for _, data := range [][]byte{makeJPEG(t, 40, 30, true), file(t, "go-video-005.gray.q50.2x2.progressive.jpeg")} {
		d, s, decoder := open(t)
		b, err := s.Alloc(200 * 200)
		if err != nil {
			t.Fatal(err)
		}
		fakecuda.Set(t, "FAIL", "cuEventSynchronize:1:719")
		if err = decoder.Decode([]nvjpeg.Image{{Data: data, To: b, Planes: [3]nvjpeg.Plane{{Pitch: 200}}}}); err == nil {
			err = decoder.Wait()
		}
		if !errors.Is(err, cuda.ErrLaunch) || !d.Lost() {
			t.Error(err)
		}
		fakecuda.Set(t, "FAIL", "")
		decoder.Close()
		if err := errors.Join(s.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestFaultsOfMaking has each function that makes a decoder fail: the backends that it belongs to
// are missing then, and nothing is left after, which fakecuda.Use looks after.
func TestFaultsOfMaking(t *testing.T) {
	fakecuda.Use(t)
	d := gputest.Device(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := nvjpeg.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	if l.Name() != "libnvjpeg.so.12" || l.Version() != "12.2.2" {
		t.Errorf("%s %s", l.Name(), l.Version())
	}
	all := []nvjpeg.Backend{nvjpeg.Hardware, nvjpeg.GPU, nvjpeg.Hybrid}
	for _, c := range []struct {
		fail string
		want []nvjpeg.Backend
		err  error
	}{
		{"", all, nil},
		{"nvjpegCreateEx:1:7", all[1:], nil},
		{"nvjpegJpegStateCreate:1:9", all[1:], nil},
		{"nvjpegCreateEx:1+:6", nil, nvjpeg.ErrAbsent},
		{"nvjpegCreateEx:1+:7", nil, nvjpeg.ErrAbsent},
		{"nvjpegJpegStreamCreate:2:5", nil, cuda.ErrOutOfMemory},
		{"nvjpegDecoderCreate:1:6", []nvjpeg.Backend{nvjpeg.Hardware, nvjpeg.Hybrid}, nil},
		{"nvjpegDecoderStateCreate:3:6", all[:2], nil},
		{"nvjpegBufferPinnedCreate:1+:6", all[:1], nil},
		{"nvjpegBufferDeviceCreate:1+:6", all[:1], nil},
		{"nvjpegStateAttachPinnedBuffer:1+:6", all[:1], nil},
		{"nvjpegStateAttachDeviceBuffer:1+:6", all[:1], nil},
		{"nvjpegDecodeParamsCreate:1+:6", all[:1], nil},
	} {
		fakecuda.Set(t, "FAIL", c.fail)
		var got []nvjpeg.Backend
		l, err := nvjpeg.Open(s)
		if err == nil {
			got = l.Backends()
			if len(got)+len(l.Missing()) != len(all) {
				t.Errorf("%s: there are %v, and missing %v", c.fail, got, l.Missing())
			}
		}
		if !slices.Equal(got, c.want) || !errors.Is(err, c.err) {
			t.Errorf("%s: %v, %v; want %v, %v", c.fail, got, err, c.want, c.err)
		}
	}
	for code, want := range map[int]nvjpeg.Missing{
		7: {Backend: nvjpeg.Hardware, Reason: "architecture mismatch (7)"},
		9: {Backend: nvjpeg.Hardware, Reason: "implementation not supported (9)"},
		6: {Backend: nvjpeg.Hardware, Failed: true, Reason: "execution failed (6)"},
	} {
		fakecuda.Set(t, "FAIL", fmt.Sprintf("nvjpegCreateEx:1:%d", code))
		d, err := l.NewDecoder(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Missing(); len(got) != 1 || got[0] != want {
			t.Errorf("missing are %v; want %v", got, want)
		}
		d.Close()
	}
	fakecuda.Set(t, "FAIL", "nvjpegGetProperty:2:1")
	if _, err := nvjpeg.Open(s); !errors.Is(err, nvjpeg.ErrAbsent) || !strings.Contains(err.Error(), "does not report its version: not initialised (1)") {
		t.Errorf("no version: %v", err)
	}
}

// TestChild is what TestLibraries runs in a process of its own.
func TestChild(t *testing.T) {
	if os.Getenv("TFREC_NVJPEG_CHILD") == "" {
		t.Skip("only in a process of its own")
	}
	d := gputest.Device(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	l, err := nvjpeg.Open(s)
	if err != nil {
		fmt.Print(errors.Is(err, nvjpeg.ErrAbsent), "|", err)
	} else {
		fmt.Print(l.Name())
	}
	os.Exit(0)
}

// TestLibraries looks for nvJPEG where there are several, none, or what is none.
func TestLibraries(t *testing.T) {
	fakecuda.Use(t)
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	fake := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))[0]
	const driver12, driver13, real = "FAKECUDA_DRIVER=12020", "FAKECUDA_DRIVER=13010", "libnvjpeg.so.12"
	for _, c := range []struct {
		name      string
		libraries map[string]string // in a directory: name to that of the fake's, or "" for no library
		driver    string
		fail      string
		want      string
	}{
		{"none", nil, driver13, "", "true|no nvJPEG: none of libnvjpeg.so.13, libnvjpeg.so.12, libnvjpeg.so.11 is installed"},
		{"none for the driver", map[string]string{"13": real}, driver12, "", "true|no nvJPEG: none of libnvjpeg.so.12, libnvjpeg.so.11 is installed; later ones are not for the driver, which is for CUDA 12.2"},
		{"the driver's", map[string]string{"13": real, "12": real}, driver12, "", "libnvjpeg.so.12"},
		{"the latest", map[string]string{"13": real, "12": real, "11": real}, driver13, "", "libnvjpeg.so.13"},
		{"a driver of the future", map[string]string{"13": real}, "FAKECUDA_DRIVER=14000", "", "libnvjpeg.so.13"},
		{"an older one", map[string]string{"11": real}, driver12, "", "libnvjpeg.so.11"},
		{"no library", map[string]string{"13": "", "12": real}, driver13, "", "libnvjpeg.so.12"},
		{"no library alone", map[string]string{"13": ""}, driver13, "", "true|no nvJPEG: */libnvjpeg.so.13: file too short"},
		{"another library", map[string]string{"13": "libcuda.so.1"}, driver13, "", "true|no nvJPEG: libnvjpeg.so.13 has no nvjpegGetProperty"},
		{"another library, and an older one", map[string]string{"13": "libcuda.so.1", "12": real}, driver13, "", "libnvjpeg.so.12"},
		{"the latest has no backend", map[string]string{"13": real, "12": real}, driver13, "nvjpegCreateEx:1:6,nvjpegCreateEx:2:6,nvjpegCreateEx:3:6", "libnvjpeg.so.12"},
		{"the latest is not for the GPU", map[string]string{"13": real, "12": real}, driver13, "nvjpegCreateEx:1:7,nvjpegCreateEx:2:7,nvjpegCreateEx:3:7", "libnvjpeg.so.12"},
		{"both have none", map[string]string{"13": real, "12": real}, driver13, "nvjpegCreateEx:1+:1", "true|no nvJPEG: libnvjpeg.so.13 answers not initialised (1); libnvjpeg.so.12 answers not initialised (1)"},
		{"no room", map[string]string{"13": real, "12": real}, driver13, "nvjpegCreateEx:1:5", "false|make an nvJPEG decoder: out of memory on GPU 0 (tfrec's fake GPU 0)"},
	} {
		dir := t.TempDir()
		if err := os.Symlink(filepath.Join(fake, "libcuda.so.1"), filepath.Join(dir, "libcuda.so.1")); err != nil {
			t.Fatal(err)
		}
		for major, file := range c.libraries {
			path := filepath.Join(dir, "libnvjpeg.so."+major)
			err := os.WriteFile(path, nil, 0o644)
			if file != "" {
				err = errors.Join(os.Remove(path), os.Symlink(filepath.Join(fake, file), path))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		child := exec.Command(executable, "-test.run=^TestChild$")
		child.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LD_LIBRARY_PATH=") }),
			"TFREC_NVJPEG_CHILD=1", "LD_LIBRARY_PATH="+dir, "GORACE=atexit_sleep_ms=0", c.driver, "FAKECUDA_FAIL="+c.fail)
		out, err := child.CombinedOutput()
		if got := strings.ReplaceAll(string(out), dir, "*"); err != nil || got != c.want {
			t.Errorf("%s:\ngot  %s (%v)\nwant %s", c.name, got, err, c.want)
		}
	}
}

// TestOldLibrary decodes with a library that lacks what came later, and one that does not know the
// flag for memory pools: everything else is the same.
func TestOldLibrary(t *testing.T) {
	fakecuda.Use(t)
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	fake, dir := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))[0], t.TempDir()
	for _, file := range []string{"libcuda.so.1", "old/libnvjpeg.so.12"} {
		if err := os.Symlink(filepath.Join(fake, file), filepath.Join(dir, filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
	if dir == fake {
		t.Fatal("the old library is the new one")
	}
	for _, variables := range [][]string{{"LD_LIBRARY_PATH=" + dir}, {"FAKECUDA_POOLS=0"}} {
		child := exec.Command(executable, "-test.run=^(TestDecode|TestFailures)$", "-test.v", "-require-gpu")
		child.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0"), variables...)
		out, err := child.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestFailures") {
			t.Errorf("%s: %v\n%s", variables, err, out)
		}
	}
}

// TestContextStays opens and closes a GPU: once nvJPEG was used its context stays, retained once, and
// is used again, unless it is lost.
func TestContextStays(t *testing.T) {
	fakecuda.Use(t)
	use := func(fail string) {
		d, err := cuda.Open(0)
		if err != nil {
			t.Fatal(err)
		}
		s, err := d.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := nvjpeg.Open(s); err != nil {
			t.Fatal(err)
		}
		fakecuda.Set(t, "FAIL", fail)
		if err := s.Synchronize(); (err != nil) != (fail != "") {
			t.Error(err)
		}
		fakecuda.Set(t, "FAIL", "")
		if err := errors.Join(s.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	}
	for i, c := range []struct {
		fail    string
		retains int64
	}{{"", 1}, {"", 1}, {"cuEventSynchronize:1:719", 0}, {"", 1}} {
		use(c.fail)
		if now, _ := fakecuda.Now(); now.Retains != c.retains {
			t.Errorf("%d: the context is retained %d times after all is closed; want %d", i, now.Retains, c.retains)
		}
	}
}
