package sha256pair

import (
	"bytes"
	"crypto/sha256"
	"math/rand/v2"
	"sync"
	"testing"
)

// without calls f with and without the assembly.
func without(t *testing.T, f func(t *testing.T)) {
	was := together
	defer func() { together = was }()
	for _, together = range []bool{was, false} {
		f(t)
	}
}

func TestWrite(t *testing.T) {
	if hasSHA && !known() {
		t.Error("the state of crypto/sha256 has an encoding that this package does not know")
	}
	random := rand.NewChaCha8([32]byte{1})
	rng := rand.New(random)
	data := make([]byte, 1<<16)
	random.Read(data)
	without(t, func(t *testing.T) {
		for range 3000 {
			a, b, wantA, wantB := sha256.New(), sha256.New(), sha256.New(), sha256.New()
			for range 1 + rng.IntN(4) {
				n := rng.IntN(1 << rng.IntN(13))
				from, at := rng.IntN(len(data)-n), rng.IntN(len(data)-n)
				p, q := data[from:from+n:from+n], data[at:at+n:at+n]
				write(a, b, p, q)
				wantA.Write(p)
				wantB.Write(q)
				if rng.IntN(2) == 0 { // so that the streams are unequal in blocks
					odd := data[:rng.IntN(200)]
					b.Write(odd)
					wantB.Write(odd)
				}
			}
			if !bytes.Equal(a.Sum(nil), wantA.Sum(nil)) || !bytes.Equal(b.Sum(nil), wantB.Sum(nil)) {
				t.Fatal("not the sums of crypto/sha256")
			}
		}
	})
}

func FuzzWrite(f *testing.F) {
	f.Add([]byte("abc"), []byte("def"), make([]byte, 300))
	f.Fuzz(func(t *testing.T, head, other, data []byte) {
		a, b, wantA, wantB := sha256.New(), sha256.New(), sha256.New(), sha256.New()
		a.Write(head)
		wantA.Write(head)
		b.Write(other)
		wantB.Write(other)
		n := len(data) / 2
		write(a, b, data[:n], data[len(data)-n:])
		wantA.Write(data[:n])
		wantB.Write(data[len(data)-n:])
		if !bytes.Equal(a.Sum(nil), wantA.Sum(nil)) || !bytes.Equal(b.Sum(nil), wantB.Sum(nil)) {
			t.Fatal("not the sums of crypto/sha256")
		}
	})
}

// Goroutines write streams of random pieces, which they overwrite as soon as they may.
func TestQueues(t *testing.T) {
	without(t, func(t *testing.T) {
		for _, streams := range []int{1, 2, 3, 7} {
			var all sync.WaitGroup
			for number := range streams {
				all.Go(func() { stream(t, rand.New(rand.NewPCG(uint64(number), uint64(streams)))) })
			}
			all.Wait()
			if queues.open != 0 || len(queues.waiting) != 0 {
				t.Fatalf("%d streams: %d queues are open and %d are waiting after their end", streams, queues.open, len(queues.waiting))
			}
		}
	})
}

// stream hashes some files.
func stream(t *testing.T, rng *rand.Rand) {
	free := make(chan []byte, 2+mostWaiting)
	for range cap(free) {
		free <- make([]byte, 1<<14)
	}
	for range 20 {
		sum, want := sha256.New(), sha256.New()
		q := NewQueue(sum)
		for range rng.IntN(40) {
			buffer := <-free
			piece := buffer[:rng.IntN(len(buffer)+1)]
			for i := 0; i < len(piece); i += 1 + rng.IntN(100) {
				piece[i] = byte(rng.Uint32())
			}
			want.Write(piece)
			q.Add(piece, func() {
				clear(piece)
				free <- buffer
			})
			if rng.IntN(10) == 0 {
				q.Flush()
			}
		}
		aborted := rng.IntN(4) == 0
		if !aborted {
			q.Flush()
		}
		q.Close()
		if len(free) != cap(free) {
			t.Errorf("%d of %d buffers are free after Close", len(free), cap(free))
		}
		if !aborted && !bytes.Equal(sum.Sum(nil), want.Sum(nil)) {
			t.Error("not the sum of crypto/sha256")
		}
	}
}

// BenchmarkWrite compares two streams at a time with one after the other.
func BenchmarkWrite(b *testing.B) {
	data := make([]byte, 1<<19)
	x, y := sha256.New(), sha256.New()
	for name, f := range map[string]func(){
		"pair": func() { write(x, y, data[:len(data)/2], data[len(data)/2:]) },
		"each": func() {
			x.Write(data[:len(data)/2])
			y.Write(data[len(data)/2:])
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}
