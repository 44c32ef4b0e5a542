package setdir_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// site is the location of a test's directory, with direct access to its files.
type site struct {
	out   string
	read  func(name string) []byte // nil if missing
	put   func(name string, data []byte)
	drop  func(name string)
	later func(name string) // makes the file's modification time or version newer
	left  func() []string   // files that never got a name
}

// inBothPlaces runs a test in a local directory and in one of an object store.
func inBothPlaces(t *testing.T, test func(t *testing.T, s site)) {
	t.Run("disk", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "deep", "out")
		at := func(name string) string { return filepath.Join(out, filepath.FromSlash(name)) }
		test(t, site{
			out: out,
			read: func(name string) []byte {
				data, err := os.ReadFile(at(name))
				if err != nil {
					return nil
				}
				return append([]byte{}, data...)
			},
			put:  func(name string, data []byte) { settest.Check(t, os.WriteFile(at(name), data, 0o644)) },
			drop: func(name string) { settest.Check(t, os.Remove(at(name))) },
			later: func(name string) {
				then := time.Now().Add(time.Hour)
				settest.Check(t, os.Chtimes(at(name), then, then))
			},
			left: func() []string {
				names, err := filepath.Glob(at(shard.StateDir + "/tmp/*"))
				settest.Check(t, err)
				return names
			},
		})
	})
	t.Run("store", func(t *testing.T) {
		store, url := settest.StoreOf(t)
		at := func(name string) string { return "deep/out/" + name }
		test(t, site{
			out:   url + "/deep/out",
			read:  func(name string) []byte { return store.Get(at(name)) },
			put:   func(name string, data []byte) { store.Put(at(name), data) },
			drop:  func(name string) { settest.Check(t, store.Remove(t.Context(), at(name))) },
			later: func(name string) { store.Put(at(name), store.Get(at(name))) },
			left:  func() []string { return settest.Uploads(store) },
		})
	})
}

func open(t *testing.T, s site) *setdir.Dir {
	t.Helper()
	d, err := setdir.Open(t.Context(), s.out, setdir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func write(t *testing.T, d *setdir.Dir, file string, o setdir.WriterOptions, records ...string) manifest.Shard {
	t.Helper()
	w, err := d.Create(file, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.WriteRecord([]byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	info, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestOneProcessAtATime(t *testing.T) {
	inBothPlaces(t, func(t *testing.T, s site) {
		d := open(t, s)
		if _, err := setdir.Open(t.Context(), d.Path(), setdir.Options{}); !errors.Is(err, shard.ErrBusy) {
			t.Errorf("a second opening: %v, want ErrBusy", err)
		}
		d.Close()
		again, err := setdir.Open(t.Context(), d.Path(), setdir.Options{})
		if err != nil {
			t.Fatalf("after closing: %v", err)
		}
		again.Close()
	})
}

func TestWriterPutsAShardInPlaceWhole(t *testing.T) {
	inBothPlaces(t, func(t *testing.T, s site) {
		d := open(t, s)
		const file = "a-train.tfrecord-00000-of-00001"
		w, err := d.Create(file, setdir.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []string{"one", "", "three"} {
			if err := w.WriteRecord([]byte(r)); err != nil {
				t.Fatal(err)
			}
		}
		frames := tfrecord.AppendFrame(tfrecord.AppendFrame(nil, []byte("four")), []byte("5"))
		if err := w.WriteFrames(frames, []int{20, 17}); err != nil {
			t.Fatal(err)
		}
		if is, err := d.Exists(file); is || err != nil {
			t.Error("the shard has its name before Commit")
		}
		info, err := w.Commit()
		if err != nil {
			t.Fatal(err)
		}
		data := s.read(file)
		if info.Records != 5 || info.Bytes != int64(len(data)) || !d.Shards().HasContent(info) {
			t.Errorf("info %+v of %d bytes", info, len(data))
		}
		index := s.read("index/" + file + ".idx")
		if want := "0 19\n19 16\n35 21\n56 20\n76 17\n"; string(index) != want {
			t.Errorf("index %q, want %q", index, want)
		}
		if left := s.left(); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
		w.Abort() // does nothing now
		if !d.Shards().HasContent(info) {
			t.Error("Abort after Commit harmed the shard")
		}
	})
}

func TestAbortLeavesNothing(t *testing.T) {
	inBothPlaces(t, func(t *testing.T, s site) {
		d := open(t, s)
		w, err := d.Create("a-train.tfrecord-00000-of-00001", setdir.WriterOptions{Compression: tfrecord.CompressionZstd})
		if err != nil {
			t.Fatal(err)
		}
		w.WriteRecord([]byte("x"))
		w.Abort()
		is, err := d.Exists("a-train.tfrecord-00000-of-00001")
		if left := s.left(); len(left) > 0 || is || err != nil {
			t.Errorf("left: %q, %v, %v", left, is, err)
		}
	})
}

func TestCompressedShardsHaveNoIndex(t *testing.T) {
	inBothPlaces(t, func(t *testing.T, s site) {
		d := open(t, s)
		const file = "a-train.tfrecord-00000-of-00001"
		write(t, d, file, setdir.WriterOptions{}, "plain")
		for _, c := range []tfrecord.Compression{tfrecord.CompressionGzip, tfrecord.CompressionZlib, tfrecord.CompressionZstd} {
			first := write(t, d, file, setdir.WriterOptions{Compression: c}, "a", "b")
			second := write(t, d, file, setdir.WriterOptions{Compression: c}, "a", "b")
			if !cmp.Equal(first, second) {
				t.Errorf("%s does not repeat: %+v, %+v", c, first, second)
			}
			if first.Records != 2 {
				t.Errorf("%s: %+v", c, first)
			}
		}
	})
}

func TestCreateRefusesPaths(t *testing.T) {
	inBothPlaces(t, func(t *testing.T, s site) {
		d := open(t, s)
		for _, name := range []string{"", ".", "..", "a/b", `a\b`, "/abs"} {
			if _, err := d.Create(name, setdir.WriterOptions{}); err == nil {
				t.Errorf("Create(%q) succeeded", name)
			}
		}
	})
}

func TestRemoveStaysInside(t *testing.T) {
	d, err := setdir.Open(t.Context(), filepath.Join(t.TempDir(), "out"), setdir.Options{})
	settest.Check(t, err)
	defer d.Close()
	outside := filepath.Join(filepath.Dir(d.Path()), "precious")
	os.WriteFile(outside, []byte("x"), 0o644)
	for _, name := range []string{"../precious", outside, "index/../../precious"} {
		if err := d.Remove(name); err == nil {
			t.Errorf("Remove(%q) succeeded", name)
		}
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error("a file outside is gone")
	}
}

func TestStateOfAShard(t *testing.T) {
	inBothPlaces(t, func(t *testing.T, s site) {
		d := open(t, s)
		const file = "a-train.tfrecord-00000-of-00001"
		info := write(t, d, file, setdir.WriterOptions{}, "one")
		info.Fingerprint = "f"
		want := &setdir.Done{Shard: info, Source: "/src", Samples: 2, Bad: []setdir.BadSample{{Key: "k", Source: "s", Line: 3, Stage: "read", Reason: "r"}},
			Inputs: []setdir.Input{{Key: "a/b.jpg", Size: 1, ModTime: 2, Hash: "h"}, {Key: "\xff\x00", Hash: "i"}, {Key: "\x00x", Hash: "j"}}}
		if err := d.Shards().PutDone(want); err != nil {
			t.Fatal(err)
		}
		if got := d.Shards().Done(file, false); !cmp.Equal(got, want) {
			t.Errorf("read back: %s", cmp.Diff(want, got))
		}
		var keys []setdir.InputKey
		d.Shards().Remembered("/src", func(in *setdir.RecordedInput) { keys = append(keys, setdir.InputKey(in.Key)) })
		if !cmp.Equal(keys, []setdir.InputKey{"a/b.jpg", "\xff\x00", "\x00x"}) {
			t.Errorf("remembered %q", keys)
		}

		s.later(file)
		if d.Shards().Done(file, false) == nil {
			t.Error("another time, the same content: should be known")
		}
		data := bytes.Clone(s.read(file))
		data[13] ^= 1
		s.put(file, data)
		if d.Shards().Done(file, false) != nil {
			t.Error("another content should not be known")
		}
		s.drop(file)
		if d.Shards().Done(file, false) != nil {
			t.Error("a lost shard should not be known")
		}
		if err := d.Shards().Forget(nil); err != nil {
			t.Fatal(err)
		}
		d.Shards().Remembered("/src", func(in *setdir.RecordedInput) { t.Errorf("still remembered: %v", in.Input()) })
	})
}

func TestUselessStateIsNoError(t *testing.T) {
	inBothPlaces(t, func(t *testing.T, s site) {
		d := open(t, s)
		for _, data := range []string{"", "{", "null", `{"format":"tfrec.run","version":99}`, `{"format":"other"}`} {
			s.put(setdir.RunFile, []byte(data))
			if r, err := d.State().Run(); r != nil || err != nil {
				t.Errorf("%q was read as %+v, %v", data, r, err)
			}
		}
	})
}

func TestManifestRoundTrip(t *testing.T) {
	inBothPlaces(t, func(t *testing.T, s site) {
		d := open(t, s)
		if m, err := d.Manifest(); m != nil || err != nil {
			t.Errorf("no manifest: %v, %v", m, err)
		}
		want := &manifest.Manifest{Format: manifest.Format, Version: manifest.Version, Tool: "t", Name: "n", Labels: []string{"a<b", "ü"},
			Splits: []manifest.Split{{Name: "train", Records: 1, Shards: []manifest.Shard{{File: "n-train.tfrecord-00000-of-00001", Records: 1, Labels: map[string]int64{"a": 1}}}}}}
		data, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasSuffix(data, []byte("}\n")) || !bytes.Contains(data, []byte("a<b")) {
			t.Errorf("encoded %s", data)
		}
		if err := d.Put(manifest.File, data); err != nil {
			t.Fatal(err)
		}
		got, err := d.Manifest()
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%v %s", err, cmp.Diff(want, got))
		}
	})
}

func TestManifestsOfOthersAreRefused(t *testing.T) {
	for data, want := range map[string]string{
		"":               "not a manifest",
		"[]":             "not a manifest",
		`{"format":"x"}`: "format",
		`{"format":"tfrec.manifest","version":2}`:                                         "version 2",
		`{"format":"tfrec.manifest","version":1,"splits":[{"shards":[{"file":"../x"}]}]}`: "outside",
		`{"format":"tfrec.manifest","version":1,"splits":[{"shards":[{"file":""}]}]}`:     "outside",
	} {
		p := filepath.Join(t.TempDir(), manifest.File)
		os.WriteFile(p, []byte(data), 0o644)
		if _, err := manifest.Read(t.Context(), p); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), p) {
			t.Errorf("%s: %v, want %q", data, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	n := shard.Name{Dataset: "birds", Split: "train", Index: 3, Count: 16}
	if got := n.String(); got != "birds-train.tfrecord-00003-of-00016" {
		t.Errorf("got %s", got)
	}
	if got, ok := shard.ParseName(n.String()); !ok || got != n {
		t.Errorf("parsed %+v, %v", got, ok)
	}
	for _, bad := range []string{"", "x", "birds-train.tfrecord-00016-of-00016", "birds-train.tfrecord-3-of-16", "birds-train.tfrecord-000003-of-00016",
		"birds.tfrecord-00000-of-00001", "-train.tfrecord-00000-of-00001", "a-b.tfrecord-00000-of-00001.idx", "a-b.tfrecord-00000-of-99999999999999999999"} {
		if got, ok := shard.ParseName(bad); ok {
			t.Errorf("ParseName(%q) = %+v", bad, got)
		}
	}
	if got := manifest.IndexPath(filepath.Join("out", "s")); got != filepath.Join("out", "index", "s.idx") {
		t.Errorf("index at %s", got)
	}
	if got := jsontext.Readable("a\xffb\\ü"); got != `a\xffb\ü` {
		t.Errorf("readable %q", got)
	}
}
