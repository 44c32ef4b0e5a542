package stats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

func measureFiles(t testing.TB, o Options, paths ...string) *Report {
	t.Helper()
	st, err := Measure(context.Background(), paths, o)
	check(t, err)
	return st
}

// asJSON formats v as `tfrec stats --json` does.
func asJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	check(t, err)
	return string(data)
}

// judgeNumbers compares Numbers with the result of sorting all numbers.
func judgeNumbers(t *testing.T, key string, got *Numbers, all []float64) {
	t.Helper()
	if got == nil || got.Count != int64(len(all)) {
		t.Fatalf("%s: %+v of %d numbers", key, got, len(all))
	}
	sorted := slices.Sorted(slices.Values(all))
	var sum, squares float64
	distinct := map[float64]int64{}
	for _, x := range all {
		sum += x
		distinct[x]++
	}
	mean := sum / float64(len(all))
	for _, x := range all {
		squares += (x - mean) * (x - mean)
	}
	std := math.Sqrt(squares / float64(len(all)))
	if near := 1e-9 * (math.Abs(mean) + std); math.Abs(got.Mean-mean) > near || math.Abs(got.Std-std) > near {
		t.Errorf("%s: mean %v, std %v, want %v, %v", key, got.Mean, got.Std, mean, std)
	}
	low, _ := got.Min.Float64()
	high, _ := got.Max.Float64()
	// Min and Max are formatted as float32s; parsing gives the same float32.
	if float32(low) != float32(sorted[0]) || float32(high) != float32(sorted[len(sorted)-1]) {
		t.Errorf("%s: from %v to %v, want %v to %v", key, got.Min, got.Max, sorted[0], sorted[len(sorted)-1])
	}
	if exact := len(distinct) <= tallySize; got.Exact != exact {
		t.Errorf("%s: exact %v with %d distinct numbers", key, got.Exact, len(distinct))
	}
	allowed, spare := 0.0, 0.0
	if !got.Exact {
		allowed, spare = RankError, 4*DistinctError
	}
	for _, q := range got.Quantiles {
		if off := rankError(sorted, q); off > allowed {
			t.Errorf("%s: quantile %v is %v, which is off by %v of the numbers", key, q.Share, q.Value, off)
		}
	}
	if n := float64(len(distinct)); math.Abs(float64(got.Distinct)-n) > spare*n {
		t.Errorf("%s: %d distinct, want %v", key, got.Distinct, n)
	}
	judgeHistogram(t, key, got.Histogram, sorted)
	for _, top := range got.Top {
		x, _ := strconv.ParseFloat(top.Value.String(), 64)
		n, ok := distinct[x]
		if !ok { // formatted as float32s
			n = distinct[float64(float32(x))]
		}
		if top.Count > n || n > top.Count+got.TopError {
			t.Errorf("%s: %v counted %d times and %d more, but came %d times", key, top.Value, top.Count, got.TopError, n)
		}
	}
}

// rankError returns the rank error of a quantile of sorted numbers, as a share of them.
func rankError(sorted []float64, q Quantile) float64 {
	n := float64(len(sorted))
	below, _ := slices.BinarySearch(sorted, q.Value)
	upTo, _ := slices.BinarySearch(sorted, math.Nextafter(q.Value, math.Inf(1)))
	// Its rank is that of any equal number; there must be one.
	if below == upTo {
		return math.Inf(1)
	}
	rank := math.Ceil(q.Share * n)
	return max(0, float64(below+1)-rank, rank-float64(upTo)) / n
}

// judgeHistogram compares a histogram with the sorted numbers: each must be counted, in the right
// bucket.
func judgeHistogram(t *testing.T, key string, list []Bucket, sorted []float64) {
	t.Helper()
	if len(list) == 0 || len(list) > mostBuckets || list[0].From > sorted[0] || list[len(list)-1].To < sorted[len(sorted)-1] {
		t.Fatalf("%s: buckets %v for %v to %v", key, list, sorted[0], sorted[len(sorted)-1])
	}
	counted := int64(0)
	for i, b := range list {
		if i > 0 && b.From != list[i-1].To {
			t.Errorf("%s: bucket %d begins at %v, where none ends", key, i, b.From)
		}
		from, _ := slices.BinarySearch(sorted, b.From)
		to, _ := slices.BinarySearch(sorted, b.To)
		if i == len(list)-1 {
			to = len(sorted)
		}
		if b.Count != int64(to-from) {
			t.Errorf("%s: %d from %v to %v, want %d", key, b.Count, b.From, b.To, to-from)
		}
		counted += b.Count
	}
	if counted != int64(len(sorted)) {
		t.Errorf("%s: %d numbers in the histogram of %d", key, counted, len(sorted))
	}
}

// TestMeasureAgainstAModel spreads records of all kinds of distributions over files, and compares
// every figure with one computed from all values at once.
func TestMeasureAgainstAModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	want := map[string][]float64{}
	var words []string
	nans, infinities, missing := int64(0), int64(0), int64(0)
	for file := range 5 {
		var data []byte
		for range 1500 {
			var b tfrecord.Builder
			add := func(key string, x float32) {
				b.Float(key, x)
				want[key] = append(want[key], float64(x))
			}
			addInt := func(key string, x ...int64) {
				b.Int64(key, x...)
				for _, x := range x {
					want[key] = append(want[key], float64(x))
				}
			}
			add("normal", float32(rnd.NormFloat64()))
			add("far", float32(1e6+rnd.Float64()))
			add("lognormal", float32(math.Exp(8*rnd.NormFloat64())))
			add("half", float32(rnd.IntN(2))-0.5)
			addInt("dice", 1+rnd.Int64N(6))
			addInt("wide", rnd.Int64()-rnd.Int64())
			addInt("zipf", int64(math.Min(1e15, math.Pow(rnd.Float64(), -2))))
			addInt("several", make([]int64, rnd.IntN(4))...)
			switch rnd.IntN(20) {
			case 0:
				b.Float("odd", float32(math.NaN()))
				nans++
			case 1:
				b.Float("odd", float32(math.Inf(1-2*rnd.IntN(2))))
				infinities++
			case 2:
				missing++
			default:
				add("odd", float32(rnd.IntN(5))-2)
			}
			word := fmt.Sprint("word ", rnd.IntN(3))
			words = append(words, word)
			b.String("word", word)
			data = tfrecord.AppendFrame(data, b.Append(nil))
		}
		check(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.tfrecord", file)), data, 0o644))
	}
	st := measureFiles(t, Options{}, dir)
	if st.Records != 7500 || len(st.Features) != len(want)+1 || len(st.Files) != 5 {
		t.Fatalf("%d records, %d features, %d files", st.Records, len(st.Features), len(st.Files))
	}
	for key, all := range want {
		f := st.Feature(key)
		numbers := f.Numbers()
		judgeNumbers(t, key, numbers, all)
		if key != "odd" && (f.Missing != 0 || f.Records != 7500) {
			t.Errorf("%s: in %d, missing in %d", key, f.Records, f.Missing)
		}
	}
	if f := st.Feature("odd"); f.NaNs != nans || f.Infinities != infinities || f.Missing != missing || nans*infinities*missing == 0 {
		t.Errorf("%d NaNs, %d infinite, missing in %d; want %d, %d, %d", f.NaNs, f.Infinities, f.Missing, nans, infinities, missing)
	}
	if f := st.Feature("several"); f.Values.Min != 0 || f.Values.Max != 3 || f.Values.Mean != float64(len(want["several"]))/7500 {
		t.Errorf("several: %+v", f.Values)
	}
	f := st.Feature("word")
	counts := map[string]int64{}
	for _, word := range words {
		counts[word]++
	}
	for _, top := range f.Texts.Top {
		if top.Count != counts[top.Value] {
			t.Errorf("%q: %d, want %d", top.Value, top.Count, counts[top.Value])
		}
	}
	if !f.Text || len(f.Texts.Top) != 3 || !f.Texts.Exact || f.Lengths.Min != "6" {
		t.Errorf("word: %+v %+v", f.Texts, f.Lengths)
	}
}

// TestMeasureExactIntegers uses integers that a float64 cannot represent.
func TestMeasureExactIntegers(t *testing.T) {
	path := writeExamples(t, filepath.Join(t.TempDir(), "x.tfrecord"),
		func(b *tfrecord.Builder) { b.Int64("x", math.MinInt64, math.MaxInt64, 1<<53+1, 1<<53+1) })
	n := measureFiles(t, Options{}, path).Feature("x").Int64
	if n.Min != "-9223372036854775808" || n.Max != "9223372036854775807" || n.Distinct != 3 || n.Top[0].Value != "9007199254740993" || n.Top[0].Count != 2 {
		t.Errorf("%+v", n)
	}
	judgeHistogram(t, "x", n.Histogram, []float64{math.MinInt64, 1<<53 + 1, 1<<53 + 1, math.MaxInt64})
}

// fakeImage returns a gray image with that many pixels, in the format of fakeHeader and
// fakePixels.
func fakeImage(gray byte, pixels int) []byte {
	return append([]byte("\xff\xd8\xff"), bytes.Repeat([]byte{gray}, pixels)...)
}

func fakeHeader(data []byte) (ImageHeader, error) {
	if len(data) == 3 {
		return ImageHeader{}, errors.New("cut off")
	}
	return ImageHeader{Width: len(data) - 3, Height: 2, Channels: 3}, nil
}

func fakePixels(data []byte) (PixelSums, error) {
	if data[3] == 255 {
		return PixelSums{}, errors.New("damaged")
	}
	n, gray := uint64(len(data)-3), uint64(data[3])
	return PixelSums{Pixels: int64(n), Sum: [3]uint64{n * gray, 0, n}, Squares: [3]uint64{n * gray * gray, 0, n}}, nil
}

// TestMeasureIsTheSameForAnyWorkers uses limits that cut in the middle, a sample of images, groups,
// and features that first appear late.
func TestMeasureIsTheSameForAnyWorkers(t *testing.T) {
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(3, 4))
	for i := range 13 {
		var examples []func(b *tfrecord.Builder)
		for k := range 40 + rnd.IntN(400) {
			gray, pixels, x := byte(rnd.Uint32()), 1+rnd.IntN(50), rnd.NormFloat64()
			examples = append(examples, func(b *tfrecord.Builder) {
				b.Float("x", float32(x))
				b.Int64(fmt.Sprintf("f%d", (i*7+k)%20), int64(k))
				b.Int64("label", int64((i*3+k)%11))
				b.String("name", fmt.Sprint("name", x))
				b.Bytes("picture", fakeImage(gray, pixels))
			})
		}
		writeExamples(t, filepath.Join(dir, fmt.Sprintf("%02d.tfrecord", i)), examples...)
	}
	o := Options{
		Workers: 1, By: "label", MaxFeatures: 12, MaxGroups: 7, MaxLabels: 6,
		Header: fakeHeader, Pixels: fakePixels, SamplePixels: 30, Seed: 5,
	}
	st := measureFiles(t, o, dir)
	if len(st.Features) != 12 || st.FeaturesOmitted == 0 || len(st.Groups) != 7 || st.UngroupedRecords == 0 || len(st.Labels[0].Counts) != 6 || st.Labels[0].Omitted == 0 {
		t.Fatalf("limits do not cut: %d features, %d omitted, %d groups, %+v", len(st.Features), st.FeaturesOmitted, len(st.Groups), st.Labels)
	}
	if p := st.Feature("picture").Images.Pixels; p == nil || !p.Sampled || p.Images < 30 || p.Images > 40 {
		t.Fatalf("pixels %+v", p)
	}
	want := asJSON(t, st)
	for _, workers := range []int{2, 8} {
		o.Workers = workers
		if got := asJSON(t, measureFiles(t, o, dir)); got != want {
			t.Errorf("%d workers: differs from one:\n%s", workers, cmp.Diff(want, got))
		}
	}
	o.Seed++
	if got := measureFiles(t, o, dir).Feature("picture").Images.Pixels; *got == *st.Feature("picture").Images.Pixels {
		t.Error("another seed, the same sample")
	}
}

func TestMeasureGroups(t *testing.T) {
	path := writeExamples(t, filepath.Join(t.TempDir(), "x.tfrecord"),
		func(b *tfrecord.Builder) { b.Int64("label", 10); b.String("text", "ten"); b.Float("x", 1) },
		func(b *tfrecord.Builder) { b.Int64("label", 9); b.String("text", "nine"); b.Float("x", 2) },
		func(b *tfrecord.Builder) { b.Int64("label", 10); b.Float("x", 5) },
		func(b *tfrecord.Builder) { b.String("label", "ten"); b.Float("x", 7) },
		func(b *tfrecord.Builder) { b.Int64("label", 9, 9); b.Float("x", 7) },
		func(b *tfrecord.Builder) { b.Float("label", float32(math.NaN())); b.Float("x", 7) },
		func(b *tfrecord.Builder) { b.Float("x", 7) })
	st := measureFiles(t, Options{By: "label"}, path)
	var got []string
	for _, g := range st.Groups {
		got = append(got, fmt.Sprintf("%s %q %d %v", g.Value, g.Name, g.Records, g.Feature("x").Float.Mean))
	}
	if diff := cmp.Diff([]string{`9 "nine" 1 2`, `10 "ten" 2 3`, `ten "" 1 7`}, got); diff != "" || st.UngroupedRecords != 3 {
		t.Errorf("%d in no group\n%s", st.UngroupedRecords, diff)
	}
	if m := st.Groups[1].Feature("text").Missing; m != 1 {
		t.Errorf("text is missing in %d of the records with 10", m)
	}
}

func TestMeasureOthersFiles(t *testing.T) {
	st := measureFiles(t, Options{}, filepath.Join(others, "torchdata-sequence_example.tfrecord"))
	if len(st.FeatureLists) != 3 || st.FeatureLists[2].Key != "x_int_seq" || st.FeatureLists[2].Int64.Max != "390" || st.FeatureLists[2].Steps.Max != 9 {
		t.Errorf("%+v", st.FeatureLists)
	}
	st = measureFiles(t, Options{}, others+"/[a-z]*")
	sum := inspect(t, InspectOptions{}, others+"/[a-z]*")
	if diff := cmp.Diff(sum.Messages, st.Messages) + cmp.Diff(sum.Compression, st.Compression) + cmp.Diff(sum.Labels, st.Labels); diff != "" {
		t.Errorf("Inspect says otherwise: %s", diff)
	}
	for i, f := range sum.Features {
		g := st.Features[i]
		if f.Key != g.Key || f.Records != g.Records || f.Missing != g.Missing || f.Values != (Range{g.Values.Min, g.Values.Max}) {
			t.Errorf("Inspect says %+v, Measure %+v", f, g)
		}
	}
}

func TestMeasureDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	var data []byte
	for range 4 {
		data = tfrecord.AppendFrame(data, nil)
	}
	data[12]++
	check(t, os.WriteFile(path, data[:len(data)-1], 0o644))
	st := measureFiles(t, Options{}, path)
	if st.Records != 2 || len(st.Faults) != 2 || st.Faults[0].Record != 0 || st.Faults[1].Record != 3 {
		t.Errorf("%+v", st)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if st, err := Measure(ctx, []string{path}, Options{}); !errors.Is(err, context.Canceled) || st != nil {
		t.Errorf("canceled: %v", err)
	}
	if _, err := Measure(context.Background(), []string{t.TempDir()}, Options{}); !errors.Is(err, shard.ErrNoRecords) {
		t.Errorf("no files: %v", err)
	}
}

// TestMeasureProgress: the counters end at the size of the files.
func TestMeasureProgress(t *testing.T) {
	dir := t.TempDir()
	m := writeSet(t, dir, 3, words(false))
	var want int64
	for _, info := range m.Splits[0].Shards {
		want += info.Bytes
	}
	p := new(shard.ReadProgress)
	measureFiles(t, Options{Progress: p}, dir)
	if planned, done := p.Planned.Load(), p.Done.Load(); planned != want || done != want || want == 0 {
		t.Errorf("%d planned and %d done of %d bytes", planned, done, want)
	}
}
