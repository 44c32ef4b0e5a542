package storage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

// All of an object that is read in sequence is held to the CRC that the store states, whatever the
// sizes of the reads, and its last bytes do not come if they do not have it. What is a guess, costs
// too much, or is not read as a whole is not.
func TestWhole(t *testing.T) {
	r := torture.Rand(t)
	f, root := newFake(t, nil)
	want := noise(2*partSize + 777)
	f.put("x", want)
	read := func(after int64) ([]byte, error) {
		in := Whole(open(t, root+"/x"))
		defer in.Close()
		if _, err := in.Seek(after, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		var all []byte
		for {
			p := make([]byte, 1+r.IntN(1<<uint(r.IntN(22))))
			n, err := in.Read(p)
			all = append(all, p[:n]...)
			if err != nil {
				return all, err
			}
		}
	}
	for _, test := range []struct {
		name    string
		sum     Sum
		after   int64
		noticed bool
	}{
		{"CRC-32C", SumOf(CRC32C, want), 0, true}, {"CRC-32", SumOf(CRC32, want), 0, true}, {"CRC-64", SumOf(CRC64NVME, want), 0, true},
		{"from the second byte on", SumOf(CRC32C, want), 1, false}, {"none", Sum{}, 0, false}, {"MD5", SumOf(MD5, want), 0, false},
		{"a guess", Sum{Kind: CRC32C, Value: "    ", Guessed: true}, 0, false},
	} {
		f.stated, f.body = test.sum, nil
		if got, err := read(test.after); err != io.EOF || !bytes.Equal(got, want[test.after:]) {
			t.Errorf("%s: %d bytes, %v", test.name, len(got), err)
		}
		flipping(f, 1)
		got, err := read(test.after)
		if noticed := err != io.EOF; noticed != test.noticed || noticed && len(got) >= len(want) {
			t.Errorf("%s, a flipped bit: %d bytes, %v", test.name, len(got), err)
		}
		if test.noticed && (errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "on the way") || !strings.Contains(err.Error(), root+"/x")) {
			t.Error(err)
		}
	}
	f.body = nil
	stats := f.stats
	in := Whole(open(t, root+"/x"))
	if _, err := io.ReadFull(in, make([]byte, firstPart)); err != nil || f.stats != stats {
		t.Errorf("the beginning: %v, %d more requests", err, f.stats-stats)
	}
}

// Reread reads an object with damage again around caches, and other files once. The same error twice
// is the object's own, and errors of requests are returned.
func TestReread(t *testing.T) {
	_, root := newFake(t, map[string]string{"x": "hello"})
	said, before := notes(t), Harmed()
	damage := errors.New("damaged")
	for name, test := range map[string]struct {
		path  string
		errs  []error
		want  string // of the error; "" for none
		reads int
	}{
		"right":      {root + "/x", []error{nil}, "", 1},
		"in transit": {root + "/x", []error{damage, nil}, "", 2},
		"the object": {root + "/x", []error{damage, damage}, "damaged", 2},
		"two kinds":  {root + "/x", []error{damage, errors.New("other"), nil}, "", 3},
		"always":     {root + "/x", []error{damage, errors.New("2"), errors.New("3"), errors.New("4"), errors.New("5")}, "change in transit", 5},
		"a request":  {root + "/x", []error{(&object{at: Parse(root + "/x")}).failed(damage)}, "read", 1},
		"replaced":   {root + "/x", []error{ErrChanged}, "replaced", 1},
		"a file":     {"/x", []error{damage}, "damaged", 1},
	} {
		reads := 0
		err := Reread(t.Context(), test.path, func(ctx context.Context) error {
			if AroundCaches(ctx) != (reads > 0) {
				t.Errorf("%s: around caches in read %d: %v", name, reads, AroundCaches(ctx))
			}
			reads++
			return test.errs[reads-1]
		})
		if reads != test.reads || (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %d reads, %v", name, reads, err)
		}
	}
	if n := Harmed() - before; n != 2 || len(*said) > 2 {
		t.Errorf("counted %d, noted %q", n, *said)
	}
}

// An object is read again from its beginning, around the cache, whose blocks are replaced.
func TestRereadFile(t *testing.T) {
	f, root := newFake(t, nil)
	want := noise(3 * partSize)
	f.put("x", want)
	useCache(t, 1<<30)
	flipping(f, 3)
	in := open(t, root+"/x")
	got, err := io.ReadAll(in)
	if err != nil || bytes.Equal(got, want) {
		t.Fatalf("nothing is damaged: %v", err)
	}
	around := f.around
	err = RereadFile(in, errors.New("damaged"), func() error {
		got, err = io.ReadAll(in)
		return err
	})
	if err != nil || !bytes.Equal(got, want) || f.around == around {
		t.Errorf("%v, %d requests around caches", err, f.around-around)
	}
	in.Close()
	if got, err = io.ReadAll(open(t, root+"/x")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the cache still has the damage: %v", err)
	}
	damage := errors.New("damaged")
	if err := RereadFile(bytes.NewReader(want), damage, func() error { return nil }); err != damage {
		t.Errorf("no object: %v", err)
	}
}
