package reader

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// sameBatches compares batches by what their users see.
var sameBatches = cmp.Options{
	cmpopts.IgnoreUnexported(ColumnBatch{}, ImageBatch{}, PackedBatch[int64]{}), cmp.AllowUnexported(columns.Column{}),
	cmp.Comparer(bytes.Equal),
}

// epochsIn returns copies of the elements of n epochs.
func epochsIn[T any](t *testing.T, f Flow[T], n int, clone func(T) T) (all [][]T) {
	t.Helper()
	s := startedFlow(t, f)
	defer s.Close()
	for len(all) < n {
		if len(all) > 0 {
			if err := s.NextEpoch(); err != nil {
				t.Fatal(err)
			}
		}
		epoch := []T{}
		for v, err := range s.All() {
			if err != nil {
				t.Fatal(err)
			}
			epoch = append(epoch, clone(v))
		}
		all = append(all, epoch)
	}
	return all
}

// startedFlow starts a flow, which the test closes.
func startedFlow[T any](t *testing.T, f Flow[T]) *Stream[T] {
	t.Helper()
	s, err := f.Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// countOf returns the count of elements of a stage of a flow.
func countOf[T any](s *Stream[T], name string) (n int64) {
	for _, stage := range s.Stats() {
		if stage.Name == name {
			n += stage.Elements
		}
	}
	return n
}

// checkCached compares epochs 0 to 2 of a cached flow, in memory and on disk, with epoch 0 of the
// flow, whose elements are moved to another epoch by later.
func checkCached[T any](t *testing.T, f Flow[T], clone func(T) T, later func(v T, epoch int32)) {
	t.Helper()
	want := epochsIn(t, f, 1, clone)[0]
	if len(want) < 2 {
		t.Fatalf("only %d elements", len(want))
	}
	for name, o := range caches(t) {
		got := epochsIn(t, f.Cache(o), 3, clone)
		if o.Dir != "" {
			got = append(got, epochsIn(t, f.Cache(o), 1, clone)...) // of another run
		}
		for i, epoch := range got {
			expected := make([]T, len(want))
			for k := range want {
				expected[k] = clone(want[k])
				later(expected[k], int32(i%3))
			}
			if diff := cmp.Diff(expected, epoch, sameBatches); diff != "" {
				t.Fatalf("%T, %s, epoch %d: (-want +got)\n%.2000s", f, name, i, diff)
			}
		}
		checkResume(t, f.Cache(o), func(v T) string {
			text, err := json.Marshal(v) // without the mark of a batch
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		})
	}
}

func laterRecords(rs []Record, epoch int32) {
	for i := range rs {
		rs[i].Epoch += epoch
	}
}

// All batches, and lists and copies of them, are the same from a cache; only their Epoch is that of
// the epoch.
func TestFlowCacheOfEverything(t *testing.T) {
	p := imageSet(t, 11, nil).Interleave(2, 1).Shuffle(5)
	checkCached(t, Batch(p, 5, BatchOptions{}), cloneRecords, func(b []Record, epoch int32) {
		laterRecords(b, epoch)
	})
	checkCached(t, ParseColumns(p, ColumnSpec{Batch: 4}), (*ColumnBatch).Clone, func(b *ColumnBatch, epoch int32) { b.Epoch += epoch })
	ragged := columns.Schema{{Key: "boxes", Kind: tfrecord.KindFloat, Ragged: true}, {Key: "tags", Kind: tfrecord.KindInt64, Steps: columns.FlatSteps, Length: columns.Longest}}
	detections := detectionSet(t, Options{}, 17, nil, nil).Records()
	checkCached(t, ParseColumns(detections, ColumnSpec{Batch: 3, Schema: ragged}), (*ColumnBatch).Clone, func(b *ColumnBatch, epoch int32) { b.Epoch += epoch })
	policy, err := augment.ParsePolicy("random_resized_crop:12|hflip")
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []ImageSpec{
		{Size: 8, Batch: 6, Policy: policy},
		{Size: 8, Batch: 6, DType: Float32, Classes: 200, Mix: augment.Mix{CutMix: 1}, NCHW: true},
		{Size: 8, Batch: 6, DType: BFloat16, NoLabels: true, Columns: columns.Schema{{Key: DefaultLabelKey, Kind: tfrecord.KindInt64}}},
	} {
		checkCached(t, Images(p, spec), (*ImageBatch).Clone, func(b *ImageBatch, epoch int32) { b.Epoch += epoch })
	}
	boxed := boxedSet(t, 8, 2).Records()
	for most := range 2 {
		spec := ImageSpec{Size: 8, Batch: 3, Mix: augment.Mix{MixUp: 1}, Objects: &columns.ObjectSpec{MaxBoxes: most}}
		checkCached(t, Images(boxed, spec), (*ImageBatch).Clone, func(b *ImageBatch, epoch int32) { b.Epoch += epoch })
	}
	tokens := Map(p, func(r Record) ([]int64, error) { return slices.Repeat([]int64{r.Number}, int(r.Number)), nil }, MapOptions{})
	checkCached(t, Pack(tokens, PackOptions{Length: 16}), (*PackedBatch[int64]).Clone, func(b *PackedBatch[int64], epoch int32) { b.Epoch += epoch })
	record := func(r Record) (Record, error) { return r, nil }
	lists := BucketByLength(Map(p, record, MapOptions{}), func(r Record) int { return len(r.Data) }, BucketOptions{Boundaries: []int{2500}, BatchSizes: []int{3, 2}})
	checkCached(t, lists, cloneRecords, laterRecords)
	checkCached(t, Enumerate(tokens), func(v Indexed[[]int64]) Indexed[[]int64] {
		return Indexed[[]int64]{Index: v.Index, Value: slices.Clone(v.Value)}
	}, func(Indexed[[]int64], int32) {})
}

// Once a cache is complete, the files are not needed, and no function is called; a complete one on
// disk needs none from the start.
func TestFlowCacheSavesTheWork(t *testing.T) {
	for name, o := range caches(t) {
		dir := readertest.WriteShards(t, tfrecord.CompressionNone, 700, 1, 600)
		var calls atomic.Int64
		flow := func() Flow[[]int] {
			f := Map(open(t, dir, Options{Seed: 5}).Interleave(2, 3).Shuffle(50), func(r Record) (int, error) {
				calls.Add(1)
				return idOf(r), nil
			}, MapOptions{})
			return Batch(f, 10, BatchOptions{}).Prefetch(3).Cache(o).Prefetch(2)
		}
		want := slices.Sorted(slices.Values(readertest.InOrder(700, 1, 600)))
		s := startedFlow(t, flow())
		for epoch := range 4 {
			got := []int{}
			for ids, err := range s.All() {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, ids...)
			}
			if slices.Sort(got); !slices.Equal(got, want) || calls.Load() != 1301 {
				t.Fatalf("%s, epoch %d: %d elements, %d calls", name, epoch, len(got), calls.Load())
			}
			if epoch == 0 && o.Dir == "" {
				os.RemoveAll(dir)
			}
			if err := s.NextEpoch(); err != nil {
				t.Fatal(err)
			}
		}
		s.Close()
		if o.Dir == "" {
			continue
		}
		again := startedFlow(t, flow())
		if _, err := collect(again); err != nil || countOf(again, "read") != 0 || calls.Load() != 1301 {
			t.Errorf("another run: %v, %d records read, %d calls", err, countOf(again, "read"), calls.Load())
		}
		if names := namesIn(o.Dir); len(names) != 2 {
			t.Errorf("the directory holds %q", names)
		}
	}
}

// What a receiver changes is not in the cache.
func TestFlowCacheGivesCopies(t *testing.T) {
	p := imageSet(t, 4, nil).Records()
	for name, o := range caches(t) {
		s := startedFlow(t, Images(p, ImageSpec{Size: 4, Batch: 3}).Cache(o))
		var first []byte
		for epoch := range 3 {
			var all []byte
			for b, err := range s.All() {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, b.Bytes...)
				clear(b.Bytes)
				b.Labels = b.Labels[:0]
			}
			if epoch == 0 {
				first = all
			}
			if !bytes.Equal(all, first) {
				t.Errorf("%s: epoch %d has other images", name, epoch)
			}
			if err := s.NextEpoch(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// blobs describes elements of the sizes of records: 0 bytes, 5 MB and others.
func blobs(t *testing.T) Flow[[]byte] {
	t.Helper()
	p := writeRecords(t, Options{Memory: 1 << 20}, 1, func(int) (records [][]byte) {
		for i, size := range []int{0, 5_000_000, 1, 0, 300_000, 5_000_001, 70_000} {
			records = append(records, bytes.Repeat([]byte{byte(i + 1)}, size))
		}
		return records
	}).Records()
	return Map(p, func(r Record) ([]byte, error) { return r.Data, nil }, MapOptions{})
}

func TestFlowCacheOfAnySize(t *testing.T) {
	f := blobs(t)
	for name, o := range caches(t) {
		want := epochsIn(t, f, 1, bytes.Clone)[0]
		for epoch, got := range epochsIn(t, f.Cache(o).Prefetch(2), 3, bytes.Clone) {
			if !slices.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("%s, epoch %d: other elements", name, epoch)
			}
		}
		o.Limit = 8_000_000
		if o.Dir != "" {
			o.Dir = t.TempDir()
		}
		s := startedFlow(t, f.Cache(o))
		var err error
		n := 0
		for ; err == nil; n++ {
			_, err = s.Next()
		}
		if !errors.Is(err, ErrCacheFull) || n != 6 || !strings.Contains(err.Error(), "5 elements") || strings.Contains(err.Error(), "Partial") {
			t.Errorf("%s: %v after %d elements", name, err, n-1)
		}
		if s.Close(); len(namesIn(o.Dir)) > 0 {
			t.Errorf("left: %q", namesIn(o.Dir))
		}
		for _, got := range epochsIn(t, f.Skip(100).Cache(o), 3, bytes.Clone) {
			if len(got) > 0 {
				t.Errorf("%s: %d elements of none", name, len(got))
			}
		}
	}
}

// An epoch that is left early leaves no cache, no goroutine and no file, and the next one has the
// same elements.
func TestFlowCacheLeftEarly(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 90, 90)
	for name, o := range caches(t) {
		leavesNothing(t, func() {
			f := Map(open(t, dir, Options{}).Records().Shuffle(20), func(r Record) (int64, error) { return int64(idOf(r)), nil }, MapOptions{})
			f = Map(f.Prefetch(4), func(id int64) (int64, error) { return id, nil }, MapOptions{}).Cache(o)
			want := epochsIn(t, f.Take(100), 1, func(id int64) int64 { return id })[0]
			if o.Dir != "" && len(namesIn(o.Dir)) > 0 {
				t.Errorf("left: %q", namesIn(o.Dir))
			}
			for i, got := range epochsIn(t, Map(f, func(id int64) (int64, error) { return id, nil }, MapOptions{}).Take(100), 3, func(id int64) int64 { return id }) {
				if !slices.Equal(got, want) {
					t.Errorf("%s, epoch %d: %d", name, i, got)
				}
			}
			s := startedFlow(t, f)
			for range 7 {
				if _, err := s.Next(); err != nil {
					t.Fatal(err)
				}
			}
			s.Close()
			if _, err := s.Next(); err == nil || err == io.EOF {
				t.Errorf("%s, after Close: %v", name, err)
			}
			s, err := f.Start(t.Context(), From{Epoch: 3})
			if err != nil {
				t.Fatal(err)
			}
			if id, err := s.Next(); err != nil || id != want[0] {
				t.Errorf("%s, epoch 3 begins with %d, %v; want %d", name, id, err, want[0])
			}
			s.Close()
		})
	}
}

// Each attempt to fill a cache may skip as much as an epoch.
func TestFlowCacheCountsSkipsOnce(t *testing.T) {
	set := writeSet(t, Options{SkipBad: SkipBad{Count: 3}}, 50)
	f := Map(set.Records(), func(r Record) (int, error) {
		if r.Number%20 == 5 {
			return 0, errBadRecord
		}
		return int(r.Number), nil
	}, MapOptions{}).Cache(CacheOptions{})
	s := startedFlow(t, f)
	for _, n := range []int{46, 47, 30, 47, 47} {
		for range n {
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.NextEpoch(); err != nil {
			t.Fatal(err)
		}
	}
}

// Runs that share nothing but the directory.
func TestFlowCacheByManyAtOnce(t *testing.T) {
	dir, cache := readertest.WriteShards(t, tfrecord.CompressionNone, 300, 40), filepath.Join(t.TempDir(), "cache")
	var wait sync.WaitGroup
	for range 6 {
		wait.Go(func() {
			set, err := Open(t.Context(), dir, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			s, err := numbersOf(Batch(set.Records(), 7, BatchOptions{})).Cache(CacheOptions{Dir: cache, Version: "1"}).Start(t.Context(), From{})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for range 3 {
				got, err := collect(s)
				if err != nil || !slices.Equal(slices.Concat(got...), readertest.InOrder(300, 40)) {
					t.Errorf("%d elements, %v", len(got), err)
				}
				if err := s.NextEpoch(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if names := namesIn(cache); len(names) != 2 {
		t.Errorf("the directory holds %q", names)
	}
}

// A damaged cache is found, with its path, and with Replace made again, from any State.
func TestDamagedFlowCache(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 300, 300)
	f := func(o CacheOptions) Flow[[]int] {
		return numbersOf(Batch(open(t, dir, Options{}).Records(), 1, BatchOptions{})).Cache(o)
	}
	for name, damage := range map[string]func(data, header []byte) ([]byte, []byte){
		"data":   func(d, h []byte) ([]byte, []byte) { d[len(d)/2] ^= 1; return d, h },
		"end":    func(d, h []byte) ([]byte, []byte) { d[len(d)-1] ^= 1; return d, h },
		"cut":    func(d, h []byte) ([]byte, []byte) { return d[:len(d)-5], h },
		"longer": func(d, h []byte) ([]byte, []byte) { return append(d, 0), h },
		"header": func(d, h []byte) ([]byte, []byte) { return d, h[:len(h)/2] },
		"count":  func(d, h []byte) ([]byte, []byte) { return d, bytes.Replace(h, []byte(":600"), []byte(":599"), 1) },
	} {
		o := CacheOptions{Dir: t.TempDir(), Version: "1"}
		s := startedFlow(t, f(o))
		if _, err := collect(s); err != nil {
			t.Fatal(err)
		}
		s.Close()
		names := namesIn(o.Dir)
		data, header := filepath.Join(o.Dir, names[0]), filepath.Join(o.Dir, names[1])
		var d, h []byte
		readertest.Change(t, header, func(p []byte) []byte { h = p; return p })
		readertest.Change(t, data, func(p []byte) []byte { d, h = damage(p, h); return d })
		readertest.Change(t, header, func([]byte) []byte { return h })
		s, err := f(o).Start(t.Context(), From{})
		if err == nil {
			_, err = collect(s)
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), o.Dir) || !strings.Contains(err.Error(), "Replace") {
			t.Errorf("%s: %v", name, err)
		}
		told := 0
		o.Replace, o.OnDiscard = true, func(error) { told++ }
		s = startedFlow(t, f(o))
		for range 2 {
			if got, err := collect(s); err != nil || !slices.Equal(slices.Concat(got...), readertest.InOrder(300, 300)) {
				t.Errorf("%s, replaced: %d elements, %v", name, len(got), err)
			}
			if err := s.NextEpoch(); err != nil {
				t.Fatal(err)
			}
		}
		if told != 1 {
			t.Errorf("%s: told %d times", name, told)
		}
	}
}

// A cache on disk is not used for other elements, as far as these are known.
func TestOtherFlowCacheIsRefused(t *testing.T) {
	set := imageSet(t, 5, nil)
	within := open(t, filepath.Dir(set.Path(Record{})), Options{Seed: 5, BatchWithinEpoch: true})
	p, o := set.Records(), CacheOptions{Dir: t.TempDir()}
	spec := ImageSpec{Size: 8, Batch: 2}
	begin := func(f Flow[*ImageBatch]) error {
		s, err := f.Start(t.Context(), From{})
		if err == nil {
			defer s.Close()
			for _, err = range s.All() {
				if err != nil {
					break
				}
			}
		}
		return err
	}
	if err := begin(Images(p, spec).Cache(o)); err != nil {
		t.Fatal(err)
	}
	large, mixed, workers, behind, few, backend, two := spec, spec, spec, spec, spec, spec, o
	large.Size, mixed.Mix.MixUp, workers.Workers, two.Version = 9, 1, 2, "2"
	behind.Codec, few.Codec = newCodec(t, augment.CodecOptions{Background: &[3]uint8{1, 2, 3}}), newCodec(t, augment.CodecOptions{MaxPixels: 1000})
	backend.Backend = &testBackend{size: 2}
	for name, f := range map[string]Flow[*ImageBatch]{
		"size": Images(p, large).Cache(o), "mix": Images(p, mixed).Cache(o), "stages": Images(p.Take(9), spec).Cache(o),
		"flow": Images(p, spec).Take(9).Cache(o), "version": Images(p, spec).Cache(two),
		"background": Images(p, behind).Cache(o), "limit": Images(p, few).Cache(o),
		"end of batches": Images(within.Records(), spec).Cache(o),
		"dataset":        Images(imageSet(t, 6, nil).Records(), spec).Cache(o),
	} {
		if err := begin(f); !errors.Is(err, ErrOtherCache) || !strings.Contains(err.Error(), o.Dir) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	for name, start := range map[string]func() error{
		"elements": func() error { _, err := ParseColumns(p, ColumnSpec{}).Cache(o).Start(t.Context(), From{}); return err },
		"records":  func() error { _, err := p.Cache(o).Start(t.Context(), From{}); return err },
	} {
		if err := start(); !errors.Is(err, ErrOtherCache) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, same := range map[string]ImageSpec{"other Workers": workers, "a backend that does not decode": backend} {
		if err := begin(Images(p, same).Cache(o)); err != nil {
			t.Errorf("with %s: %v", name, err)
		}
	}
}

// A State of a cache is refused where it does not belong.
func TestFlowCacheStates(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 9, 9)
	of := func(o Options) Flow[int] {
		return Map(open(t, dir, o).Records(), func(r Record) (int, error) { return idOf(r), nil }, MapOptions{})
	}
	s := startedFlow(t, of(Options{}).Skip(1).Cache(CacheOptions{}))
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	state := s.State()
	if _, err := MergeStates([]State{state}); !errors.Is(err, ErrState) {
		t.Errorf("merged: %v", err)
	}
	far, moved, odd := pipeline.CloneState(&state), pipeline.CloneState(&state), pipeline.CloneState(&state)
	far.Flow[1].At[0], moved.Skip, odd.Flow[0].At[0] = 18, 1, 3
	for name, start := range map[string]func() error{
		"no cache": func() error { _, err := of(Options{}).Skip(1).Start(t.Context(), From{State: &state}); return err },
		"other stages": func() error {
			_, err := of(Options{}).Cache(CacheOptions{}).Start(t.Context(), From{State: &state})
			return err
		},
		"another worker": func() error {
			_, err := of(Options{Worker: 1, Workers: 2}).Skip(1).Cache(CacheOptions{}).Start(t.Context(), From{State: &state})
			return err
		},
		"moved": func() error {
			_, err := of(Options{}).Skip(1).Cache(CacheOptions{}).Start(t.Context(), From{State: &moved})
			return err
		},
		"within": func() error {
			_, err := of(Options{}).Skip(1).Cache(CacheOptions{}).Start(t.Context(), From{State: &odd})
			return err
		},
		"past the end": func() error {
			s, err := of(Options{}).Skip(1).Cache(CacheOptions{}).Start(t.Context(), From{State: &far})
			if err == nil {
				defer s.Close()
				_, err = s.Next()
			}
			return err
		},
	} {
		if err := start(); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// BenchmarkCachedImages compares an epoch of images from a cache with decoding them:
//
//	go test ./reader -run '^$' -bench CachedImages -benchmem
func BenchmarkCachedImages(b *testing.B) {
	const n, size = 256, 224
	im := &augment.Image{}
	im.Reset(500, 375, 3)
	for i := range im.Pix {
		im.Pix[i] = uint8(i/3%500/2 + i/1500/3 + int(binary.LittleEndian.Uint16([]byte{byte(i * 7), 0}))%8)
	}
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		b.Fatal(err)
	}
	data, err := codec.AppendJPEG(nil, im, 90, "420")
	if err != nil {
		b.Fatal(err)
	}
	set := writeRecords(b, Options{}, 1, func(int) [][]byte {
		var x tfrecord.Builder
		x.Bytes(DefaultImageKey, data)
		x.Int64(DefaultLabelKey, 1)
		return slices.Repeat([][]byte{x.Append(nil)}, n)
	})
	images := Images(set.Records(), ImageSpec{Size: size, Batch: 32})
	for name, f := range map[string]Flow[*ImageBatch]{
		"decoded": images, "memory": images.Cache(CacheOptions{}), "disk": images.Cache(CacheOptions{Dir: b.TempDir()}),
	} {
		b.Run(name, func(b *testing.B) {
			s, err := f.Start(b.Context(), From{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			epoch := func() {
				for _, err := range s.All() {
					if err != nil {
						b.Fatal(err)
					}
				}
				if err := s.NextEpoch(); err != nil {
					b.Fatal(err)
				}
			}
			epoch() // which fills the cache
			b.SetBytes(n * size * size * 3)
			for b.Loop() {
				epoch()
			}
			b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "images/s")
		})
	}
}

// numbersOf describes the numbers of the records of batches.
func numbersOf(f Flow[[]Record]) Flow[[]int] {
	return Map(f, func(b []Record) (ids []int, err error) {
		for _, r := range b {
			ids = append(ids, idOf(r))
		}
		return ids, nil
	}, MapOptions{})
}

func newCodec(t *testing.T, o augment.CodecOptions) *augment.Codec {
	t.Helper()
	codec, err := augment.NewCodec(o)
	if err != nil {
		t.Fatal(err)
	}
	return codec
}

// A struct with an embedded batch has the methods of the batch, and is no batch: it is new each
// time, by value or pointer, and with a nil batch.
func TestFlowCacheOfEmbeddedBatches(t *testing.T) {
	type sample struct {
		*ColumnBatch
		Weights []int64
	}
	of := func(b Indexed[*ColumnBatch]) sample {
		if b.Index%2 == 1 {
			return sample{nil, []int64{b.Index}}
		}
		return sample{b.Value.Clone(), []int64{b.Index}}
	}
	batches := Enumerate(ParseColumns(imageSet(t, 9, nil).Records(), ColumnSpec{Batch: 2}))
	values := Map(batches, func(b Indexed[*ColumnBatch]) (sample, error) { return of(b), nil }, MapOptions{})
	pointers := Map(batches, func(b Indexed[*ColumnBatch]) (*sample, error) { s := of(b); return &s, nil }, MapOptions{})
	want, got := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8}, []int64{}
	for x, err := range values.Cache(CacheOptions{}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, x.Weights...)
	}
	var kept []*sample
	for x, err := range pointers.Cache(CacheOptions{}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, x)
	}
	again := []int64{}
	for _, x := range kept {
		again = append(again, x.Weights...)
	}
	if !slices.Equal(got, want) || !slices.Equal(again, want) {
		t.Errorf("values %v, pointers that were kept %v", got, again)
	}
}

// refused returns the error of caching values of a type.
func refused[T any](t *testing.T) string {
	t.Helper()
	f := Map(writeSet(t, Options{}, 1).Records(), func(Record) (v T, err error) { return v, nil }, MapOptions{})
	s, err := f.Cache(CacheOptions{}).Start(context.Background(), From{})
	if err == nil {
		s.Close()
		return ""
	}
	return err.Error()
}

func TestTypesThatCannotBeCached(t *testing.T) {
	type list struct{ Next *list }
	type hidden struct{ n int }
	for want, err := range map[string]string{
		"map[string]int is not a":           refused[map[string]int](t),
		"interface {} is not a":             refused[any](t),
		"chan int is not a":                 refused[[]chan int](t),
		"field F of ":                       refused[struct{ F func() }](t),
		"field neg of big.Int is not":       refused[*big.Int](t),
		"reader.list is recursive":          refused[list](t),
		"uintptr is not a":                  refused[uintptr](t),
		"field n of reader.hidden is not e": refused[*hidden](t),
	} {
		if !strings.Contains(err, want) || !strings.Contains(err, "MarshalBinary") {
			t.Errorf("want %q: %s", want, err)
		}
	}
	if err := refused[*netip.Addr](t); err != "" {
		t.Error(err)
	}
	_ = hidden{}.n
}
