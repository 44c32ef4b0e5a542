package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// Traits are what stores differ in.
type Traits struct {
	// Names are odd names that the store takes.
	Names []string
	// Part is the size of a part, in bytes, around which uploads are tried.
	Part int
	// Listed is the number of objects in the test of List. Default and minimum: 20.
	Listed int
	// UploadsOfAll means that the store lists unfinished uploads only for the whole bucket, not for
	// a prefix, as MinIO does.
	UploadsOfAll bool
}

// OddNames are names that make trouble where a name is put into a URL, or is taken for
// a path.
var OddNames = []string{
	"a b", "50%", "%41", "a+b", "a?b=c&d", "a#b", "grün/雪.jpg", "end.", "end..", ".hidden", "a..b", "a,b;c", "a:b", "(a)[b]{c}", "a'b\"c", "a*b", "a|b<c>d",
	"__0x2f__", "__0x", "__0x2f_", "___0x2f__", "__0x2f__0x2f__", "__0x-1__", "__0x123456789abc__", "a\nb", "~a", "@a=b$c!", "a\\b", strings.Repeat("long", 40),
}

// Conformance holds a store, which is empty, to what storage.Store and storage.Upload say. It
// leaves objects after.
func Conformance(t *testing.T, s storage.Store, traits Traits) {
	c := conformance{s, traits}
	for name, test := range map[string]func(*testing.T){
		"sizes": c.sizes, "names": c.names, "create only": c.createOnly, "replace": c.replace, "race": c.race, "race of large ones": c.raceOfLarge,
		"abort": c.abort, "cancel": c.cancel, "remove": c.remove, "not there": c.notThere, "list": c.list, "ranges": c.ranges,
	} {
		t.Run(name, test)
	}
	t.Run("unfinished", c.unfinished)
}

type conformance struct {
	storage.Store
	Traits
}

// noise returns bytes that are other for each seed.
func noise(size int, seed uint64) []byte {
	data := make([]byte, size)
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	r.Read(data)
	return data
}

// upload writes data in pieces of an odd size.
func (c conformance) upload(ctx context.Context, name string, data []byte, o storage.CreateOptions) (storage.Object, error) {
	u, err := c.Create(ctx, name, o)
	if err != nil {
		return storage.Object{}, err
	}
	defer u.Abort()
	for piece := range slices.Chunk(data, 1_000_003) {
		if n, err := u.Write(piece); err != nil || n != len(piece) {
			return storage.Object{}, fmt.Errorf("%d bytes of %d written: %w", n, len(piece), err)
		}
	}
	return u.Commit()
}

// must is upload that must succeed.
func (c conformance) must(t *testing.T, name string, data []byte) storage.Object {
	t.Helper()
	is, err := c.upload(t.Context(), name, data, storage.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// contents reads an object, in the version that it has.
func (c conformance) contents(t *testing.T, is storage.Object) []byte {
	t.Helper()
	if is.Size == 0 {
		return nil
	}
	body, _, err := c.Open(t.Context(), is.Name, is.Version, 0, is.Size)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// holds fails the test unless the object exists, is complete, and matches is.
func (c conformance) holds(t *testing.T, is storage.Object, data []byte) {
	t.Helper()
	found, err := c.Stat(t.Context(), is.Name)
	if err != nil {
		t.Fatal(err)
	}
	if found.Name != is.Name || found.Size != int64(len(data)) || is.Size != found.Size || is.Version != found.Version || !is.ModTime.Equal(found.ModTime) {
		t.Errorf("what was written was said to be %+v, and is %+v (of %d bytes)", is, found, len(data))
	}
	if got := c.contents(t, is); !bytes.Equal(got, data) {
		t.Errorf("%s: %d other bytes than the %d that were written", is.Name, len(got), len(data))
	}
}

func (c conformance) gone(t *testing.T, name string) {
	t.Helper()
	if is, err := c.Stat(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %+v, %v", name, is, err)
	}
	for o, err := range c.List(t.Context(), name, true) {
		t.Errorf("in the list: %+v, %v", o, err)
	}
}

func (c conformance) sizes(t *testing.T) {
	for _, size := range []int{0, 1, 100_000, c.Part - 1, c.Part, c.Part + 1, 2 * c.Part, 3*c.Part + 5} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			data := noise(size, uint64(size))
			c.holds(t, c.must(t, fmt.Sprintf("sizes/%d", size), data), data)
		})
	}
}

func (c conformance) names(t *testing.T) {
	want := map[string]bool{}
	for i, name := range c.Names {
		name = "names/" + name
		want[name] = true
		data := noise(100, uint64(i))
		is, err := c.upload(t.Context(), name, data, storage.CreateOptions{})
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		c.holds(t, is, data)
	}
	for o, err := range c.List(t.Context(), "names/", true) {
		if err != nil || !want[o.Name] {
			t.Errorf("in the list: %q, %v", o.Name, err)
		}
		if is, err := c.Stat(t.Context(), o.Name); err != nil || o.Size != is.Size || o.Version != "" && o.Version != is.Version {
			t.Errorf("%+v in the list is %+v, %v", o, is, err)
		}
		delete(want, o.Name)
	}
	if len(want) > 0 {
		t.Errorf("not in the list: %v", want)
	}
	for _, name := range c.Names {
		if err := c.Remove(t.Context(), "names/"+name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for o, err := range c.List(t.Context(), "names/", true) {
		t.Errorf("still in the list: %q, %v", o.Name, err)
	}
}

func (c conformance) remove(t *testing.T) {
	c.must(t, "removed/a", []byte("a"))
	is := c.must(t, "removed/b", []byte("b"))
	for range 2 {
		if err := c.Remove(t.Context(), "removed/a"); err != nil {
			t.Error(err)
		}
	}
	c.gone(t, "removed/a")
	c.holds(t, is, []byte("b"))
	c.must(t, "removed/a", []byte("once more"))
}

func (c conformance) notThere(t *testing.T) {
	if _, err := c.Stat(t.Context(), "nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat: %v", err)
	}
	if _, _, err := c.Open(t.Context(), "nothing", "", 0, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open: %v", err)
	}
	if err := c.Remove(t.Context(), "nothing"); err != nil {
		t.Errorf("Remove: %v", err)
	}
	for o, err := range c.List(t.Context(), "nothing", true) {
		t.Errorf("List: %+v, %v", o, err)
	}
}

func (c conformance) list(t *testing.T) {
	n := max(c.Listed, 20)
	const workers = 8
	var work sync.WaitGroup
	for w := range workers {
		work.Go(func() {
			for i := w; i < n; i += workers {
				if _, err := storage.Put(t.Context(), c.Store, fmt.Sprintf("list/%d/%05d", i%2, i), nil, storage.CreateOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	var found []string
	for o, err := range c.List(t.Context(), "list/", true) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, o.Name)
	}
	if len(found) != n || !slices.IsSorted(found) {
		t.Errorf("%d of %d, sorted: %v", len(found), n, slices.IsSorted(found))
	}
	found = nil
	for o, err := range c.List(t.Context(), "list/", false) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, o.Name)
	}
	if !slices.Equal(found, []string{"list/0/", "list/1/"}) {
		t.Errorf("folders: %q", found)
	}
}

func (c conformance) ranges(t *testing.T) {
	data := noise(1000, 1)
	is := c.must(t, "ranges", data)
	for _, r := range []struct{ offset, length, end int64 }{{0, 1000, 1000}, {0, 10, 10}, {990, 10, 1000}, {500, 10_000, 1000}, {999, 1, 1000}} {
		body, of, err := c.Open(t.Context(), "ranges", is.Version, r.offset, r.length)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(body)
		body.Close()
		if err != nil || !bytes.Equal(got, data[r.offset:r.end]) || of.Size != 1000 || of.Version != is.Version {
			t.Errorf("%d bytes from %d: %d bytes, of %+v, %v", r.length, r.offset, len(got), of, err)
		}
	}
}

// unfinished leaves uploads as a process does that dies, and finds that none of the
// tests before has left any.
func (c conformance) unfinished(t *testing.T) {
	s, ok := c.Store.(storage.Unfinished)
	if !ok {
		t.Skip("the store does not tell of unfinished uploads")
	}
	var left []storage.Leftover
	look := func(prefix string) {
		left = nil
		for l, err := range s.Unfinished(t.Context(), prefix) {
			if err != nil {
				t.Fatal(err)
			}
			left = append(left, l)
		}
	}
	look("")
	if len(left) > 0 {
		t.Errorf("left by the other tests: %+v", left)
	}
	var uploads []storage.Upload
	for _, name := range []string{"left/a b%?#+", "left/a b%?#+", "left/c"} {
		u, err := c.Create(t.Context(), name, storage.CreateOptions{})
		if err == nil {
			_, err = u.Write(noise(c.Part+1, 1))
		}
		if err != nil {
			t.Fatal(err)
		}
		uploads = append(uploads, u)
	}
	look("right/")
	if len(left) > 0 {
		t.Errorf("of another prefix: %+v", left)
	}
	if c.UploadsOfAll {
		look("")
	} else {
		look("left/")
	}
	if len(left) != 3 || left[0].Name != "left/a b%?#+" || left[0].ID == left[1].ID || left[2].Name != "left/c" || left[0].Begun.IsZero() {
		t.Errorf("%+v", left)
	}
	for _, l := range slices.Concat(left, left) {
		if err := s.Discard(t.Context(), l); err != nil {
			t.Error(err)
		}
	}
	look("")
	if len(left) > 0 {
		t.Errorf("left after all were discarded: %+v", left)
	}
	if _, err := uploads[0].Commit(); err == nil {
		t.Error("an upload that was discarded was committed")
	}
	uploads[1].Abort()
	uploads[2].Abort()
	c.gone(t, "left/")
}
