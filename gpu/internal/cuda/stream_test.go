package cuda_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/gpu/internal/cuda"
	"github.com/tfrec/tfrec/gpu/internal/gputest"
)

// probe opens a GPU and finds one of gputest's kernels.
func probe(t testing.TB, kernel string) (*cuda.Device, *cuda.Function) {
	t.Helper()
	d := gputest.Device(t)
	m, err := d.Load(gputest.Probe)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function(kernel)
	if err != nil {
		t.Fatal(err)
	}
	return d, f
}

// stream opens a stream for the test's goroutine until the test ends.
func stream(t testing.TB, d *cuda.Device) *cuda.Stream {
	t.Helper()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func host(t testing.TB, s *cuda.Stream, n int) *cuda.HostBuffer {
	t.Helper()
	h, err := s.AllocHost(n)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func buffer(t testing.TB, s *cuda.Stream, n int) *cuda.Buffer {
	t.Helper()
	b, err := s.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// must fails the test for the first error.
func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// affine runs probe_affine on random numbers and compares.
func affine(s *cuda.Stream, f *cuda.Function, rng *rand.Rand, count int) error {
	in, err := s.AllocHost(4 * count)
	if err != nil {
		return err
	}
	defer in.Free()
	out, err := s.AllocHost(4 * count)
	if err != nil {
		return err
	}
	defer out.Free()
	from, err := s.Alloc(4 * count)
	if err != nil {
		return err
	}
	defer from.Free()
	to, err := s.Alloc(4 * count)
	if err != nil {
		return err
	}
	defer to.Free()
	want := make([]byte, 4*count)
	factor, offset := rng.Int32N(2000)-1000, float32(rng.IntN(2000)-1000)
	for i := range count {
		v := rng.Int32()
		binary.LittleEndian.PutUint32(in.Bytes()[4*i:], uint32(v))
		binary.LittleEndian.PutUint32(want[4*i:], uint32(v*factor+int32(offset)))
	}
	if err := s.Upload(from, 0, in, 0, 4*count); err != nil {
		return err
	}
	grid := cuda.Dim{X: (count + 255) / 256}
	if err := s.Launch(f, grid, cuda.Dim{X: 256}, from.At(0), to.At(0), cuda.Uint64(uint64(count)), cuda.Int32(factor), cuda.Float32(offset)); err != nil {
		return err
	}
	if err := s.Download(out, 0, to, 0, 4*count); err != nil {
		return err
	}
	if err := s.Synchronize(); err != nil {
		return err
	}
	if !bytes.Equal(out.Bytes(), want) {
		return errDiffer
	}
	return nil
}

var errDiffer = errorString("the kernel's results differ")

type errorString string

func (e errorString) Error() string { return string(e) }

func TestLaunch(t *testing.T) {
	d, f := probe(t, "probe_affine")
	s := stream(t, d)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, count := range []int{1, 255, 256, 257, 10_007} {
		if err := affine(s, f, rng, count); err != nil {
			t.Errorf("%d numbers: %v", count, err)
		}
	}
}

func TestGridAndBlock(t *testing.T) {
	d, f := probe(t, "probe_place")
	s := stream(t, d)
	for _, c := range []struct{ grid, block cuda.Dim }{
		{cuda.Dim{}, cuda.Dim{}},
		{cuda.Dim{X: 3}, cuda.Dim{X: 5}},
		{cuda.Dim{X: 2, Y: 3, Z: 4}, cuda.Dim{X: 8, Y: 4, Z: 2}},
		{cuda.Dim{Y: 7}, cuda.Dim{Z: 3}},
	} {
		side := func(a, b int) int { return max(a, 1) * max(b, 1) }
		w, h, depth := side(c.grid.X, c.block.X), side(c.grid.Y, c.block.Y), side(c.grid.Z, c.block.Z)
		n := 4 * w * h * depth
		b, out := buffer(t, s, n), host(t, s, n)
		must(t, s.Launch(f, c.grid, c.block, b.At(0)), s.Download(out, 0, b, 0, n), s.Synchronize())
		i := 0
		for z := range depth {
			for y := range h {
				for x := range w {
					if got, want := binary.LittleEndian.Uint32(out.Bytes()[4*i:]), uint32(x|y<<8|z<<16); got != want {
						t.Fatalf("grid %v block %v: at %d,%d,%d: %#x, want %#x", c.grid, c.block, x, y, z, got, want)
					}
					i++
				}
			}
		}
	}
}

// TestAddresses launches a kernel that finds its bytes through a table of addresses
// in device memory.
func TestAddresses(t *testing.T) {
	d, f := probe(t, "probe_through")
	s := stream(t, d)
	const n = 1000
	bytesOf, table := buffer(t, s, 3*n), buffer(t, s, 3*8)
	h := host(t, s, 3*n)
	for i := range h.Bytes() {
		h.Bytes()[i] = byte(i)
	}
	addresses := host(t, s, 3*8)
	for i := range 3 {
		binary.LittleEndian.PutUint64(addresses.Bytes()[8*i:], bytesOf.Address(i*n))
	}
	must(t, s.Upload(bytesOf, 0, h, 0, 3*n), s.Upload(table, 0, addresses, 0, 3*8))
	must(t, s.Launch(f, cuda.Dim{X: 4}, cuda.Dim{X: 256}, table.At(0), cuda.Uint32(1), cuda.Int64(n), cuda.Uint32(7)))
	must(t, s.Download(h, 0, bytesOf, 0, 3*n), s.Synchronize())
	for i, got := range h.Bytes() {
		want := byte(i)
		if i >= n && i < 2*n {
			want += 7
		}
		if got != want {
			t.Fatalf("byte %d: %d, want %d", i, got, want)
		}
	}
}

func TestPartsOfBuffers(t *testing.T) {
	d := gputest.Device(t)
	s := stream(t, d)
	b, in, out := buffer(t, s, 100), host(t, s, 100), host(t, s, 100)
	for i := range in.Bytes() {
		in.Bytes()[i] = byte(i)
		out.Bytes()[i] = 255
	}
	must(t, s.Upload(b, 10, in, 50, 50), s.Fill(b, 22, 2, 7), s.Fill(b, 100, 0, 8), s.Download(out, 3, b, 20, 5), s.Upload(b, 100, in, 100, 0), s.Synchronize())
	want := bytes.Repeat([]byte{255}, 100)
	copy(want[3:], []byte{60, 61, 7, 7, 64})
	if !bytes.Equal(out.Bytes(), want) {
		t.Errorf("got % x", out.Bytes())
	}
	for _, c := range []struct {
		name string
		err  error
	}{
		{"past the buffer", s.Upload(b, 51, in, 0, 50)},
		{"filling past the buffer", s.Fill(b, 51, 50, 0)},
		{"filling before the buffer", s.Fill(b, -1, 1, 0)},
		{"past pinned memory", s.Upload(b, 0, in, 99, 2)},
		{"before the buffer", s.Upload(b, -1, in, 0, 1)},
		{"before pinned memory", s.Download(out, -1, b, 0, 1)},
		{"fewer than none", s.Download(out, 0, b, 0, -1)},
		{"far past", s.Download(out, 0, b, 1<<62, 1<<62)},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), "bytes from") {
			t.Errorf("%s: %v", c.name, c.err)
		}
	}
	for _, n := range []int{0, -1} {
		if _, err := s.Alloc(n); err == nil {
			t.Errorf("Alloc(%d) gives something", n)
		}
		if _, err := s.AllocHost(n); err == nil {
			t.Errorf("AllocHost(%d) gives something", n)
		}
	}
	if err := b.Free(); err != nil || b.Size() != 0 || b.Free() != nil {
		t.Errorf("Free: %v, then %d bytes", err, b.Size())
	}
	if err := s.Upload(b, 0, in, 0, 1); err == nil {
		t.Error("a buffer that was freed takes bytes")
	}
}

func TestEvents(t *testing.T) {
	d := gputest.Device(t)
	s := stream(t, d)
	const n = 1 << 16
	var sets [3]struct {
		in, out *cuda.HostBuffer
		b       *cuda.Buffer
		done    *cuda.Event
	}
	for i := range sets {
		set := &sets[i]
		set.in, set.out, set.b = host(t, s, n), host(t, s, n), buffer(t, s, n)
		var err error
		if set.done, err = s.NewEvent(); err != nil {
			t.Fatal(err)
		}
		if done, err := set.done.Done(); !done || err != nil {
			t.Errorf("an event that was never recorded: %v, %v", done, err)
		}
	}
	// Ten batches, of which three are on their way at a time.
	check := func(batch int) {
		set := &sets[batch%3]
		must(t, set.done.Wait())
		if want := bytes.Repeat([]byte{byte(batch + 1)}, n); !bytes.Equal(set.out.Bytes(), want) {
			t.Errorf("batch %d is not what was sent", batch)
		}
	}
	for batch := range 10 {
		if batch >= 3 {
			check(batch - 3)
		}
		set := &sets[batch%3]
		for i := range set.in.Bytes() {
			set.in.Bytes()[i] = byte(batch + 1)
		}
		must(t, s.Upload(set.b, 0, set.in, 0, n), s.Download(set.out, 0, set.b, 0, n), s.Record(set.done))
	}
	for batch := 7; batch < 10; batch++ {
		check(batch)
	}
	for {
		done, err := sets[0].done.Done()
		must(t, err)
		if done {
			break
		}
	}
}

// TestSince times a copy that takes a while, between two that take no time.
func TestSince(t *testing.T) {
	s := stream(t, gputest.Device(t))
	h, b := host(t, s, 1<<20), buffer(t, s, 1<<20)
	var events [3]*cuda.Event
	for i := range events {
		var err error
		if events[i], err = s.NewTimedEvent(); err != nil {
			t.Fatal(err)
		}
	}
	must(t, s.Record(events[0]))
	for range 20 {
		must(t, s.Upload(b, 0, h, 0, 1<<20))
	}
	must(t, s.Record(events[1]), s.Record(events[2]), events[2].Wait())
	all, err := events[2].Since(events[0])
	must(t, err)
	part, err := events[1].Since(events[0])
	if err != nil || part <= 0 || part > all {
		t.Errorf("20 copies take %v, which with nothing after them take %v: %v", part, all, err)
	}
	plain, err := s.NewEvent()
	must(t, err, s.Record(plain), plain.Wait())
	if took, err := plain.Since(events[0]); err == nil {
		t.Errorf("an event without time was reached after %v", took)
	}
}

func TestStreamsSideBySide(t *testing.T) {
	d, f := probe(t, "probe_affine")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s, err := d.NewStream()
			if err != nil {
				t.Error(err)
				return
			}
			rng := rand.New(rand.NewPCG(3, uint64(i)))
			for range 10 {
				if err := affine(s, f, rng, 1+rng.IntN(5000)); err != nil {
					t.Error(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestClosing(t *testing.T) {
	d, err := cuda.Open(0)
	if err != nil {
		gputest.Missing(t, err)
	}
	s, err := d.NewStream()
	must(t, err)
	h, b := host(t, s, 10), buffer(t, s, 10)
	e, err := s.NewEvent()
	must(t, err)
	if err := d.Close(); err == nil || !strings.Contains(err.Error(), "1 of its streams") {
		t.Errorf("closing a device that has a stream: %v", err)
	}
	// Close waits for what is queued before it frees what that needs.
	must(t, s.Upload(b, 0, h, 0, 10), s.Download(h, 0, b, 0, 10))
	must(t, s.Close(), s.Close(), d.Close(), d.Close())
	if h.Bytes() != nil || b.Size() != 0 {
		t.Errorf("after Close there are %d bytes pinned and %d on the device", len(h.Bytes()), b.Size())
	}
	must(t, h.Free(), b.Free())
	_, allocating := s.Alloc(1)
	_, pinning := s.AllocHost(1)
	_, marking := s.NewEvent()
	_, asking := e.Done()
	_, making := d.NewStream()
	for name, err := range map[string]error{
		"Alloc": allocating, "Fill": s.Fill(b, 0, 1, 0), "AllocHost": pinning, "NewEvent": marking, "Done": asking, "Wait": e.Wait(), "Synchronize": s.Synchronize(),
		"Upload": s.Upload(b, 0, h, 0, 1), "Record": s.Record(e), "Launch": s.Launch(nil, cuda.Dim{}, cuda.Dim{}), "NewStream": making,
	} {
		if err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
}

func BenchmarkLaunch(b *testing.B) {
	d, f := probe(b, "probe_affine")
	s := stream(b, d)
	from, to := buffer(b, s, 1024), buffer(b, s, 1024)
	b.ReportAllocs()
	for b.Loop() {
		must(b, s.Launch(f, cuda.Dim{X: 1}, cuda.Dim{X: 256}, from.At(0), to.At(0), cuda.Uint64(256), cuda.Int32(1), cuda.Float32(0)), s.Synchronize())
	}
}
