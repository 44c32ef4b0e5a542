package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

// Random conversions, with random options and any number of workers or tasks: the set verifies, the
// same command has nothing to do, and after changes of the input, a cancelled run, or one with
// other options, the set is what a fresh run makes. A run that fails leaves the set unchanged.
func TestRandomConversions(t *testing.T) {
	for _, seed := range torture.Sample(t, 30, torture.Seeds(60, 1000)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 12))
			if seed%3 == 2 {
				newTableTrial(t, r).run()
			} else {
				newImageTrial(t, r).run()
			}
		})
	}
}

// conversionTrial is an input that changes, and runs over it.
type conversionTrial struct {
	t       *testing.T
	r       *rand.Rand
	src     string
	out     string
	clock   time.Time // of the next file
	options Options
	// change changes the input, reoption the options, and convert runs.
	change   func()
	reoption func()
	convert  func(ctx context.Context, out string, o Options) (*Summary, error)
	check    func(s *Summary) // a set that is complete; nil: nothing more
	said     []string         // log of steps
}

func (c *conversionTrial) run() {
	t := c.t
	defer func() {
		if t.Failed() {
			t.Logf("what was done:\n%s", strings.Join(c.said, "\n"))
		}
	}()
	for range 3 + c.r.IntN(8) {
		c.change()
	}
	c.step()
	for range 2 + c.r.IntN(3) {
		if t.Failed() {
			return
		}
		for range 1 + c.r.IntN(3) {
			c.change()
		}
		if c.r.IntN(6) == 0 {
			c.reoption()
			c.options.Overwrite = true
		}
		if c.step() {
			c.options.Overwrite = false
		}
	}
}

// step converts, and compares the result with that of a fresh run. It returns false if both fail.
func (c *conversionTrial) step() (converted bool) {
	t := c.t
	if c.r.IntN(5) == 0 {
		c.raced()
	}
	before := map[string]string{}
	if _, err := os.Stat(c.out); err == nil {
		before = contents(t, c.out)
	}
	_, whole := before[manifest.File]
	fresh := filepath.Join(t.TempDir(), "fresh")
	o := c.options
	o.Workers = 1 + c.r.IntN(4)
	like := o
	if whole { // an automatic number of shards stays while it is about right
		like.ShardsLike = shardCounts(t, c.out)
	}
	_, want := c.convert(t.Context(), fresh, like)
	if c.r.IntN(3) == 0 {
		c.stopped(whole, before)
	}
	o.Workers = 1 + c.r.IntN(4)
	err := c.anyhow(o)
	c.say("converted: %v (fresh: %v)", err, want)
	if (err == nil) != (want == nil) {
		t.Fatalf("got %v, a fresh run %v", err, want)
	}
	var bad *BadSamplesError
	switch {
	case err != nil && whole:
		sameSet(t, contents(t, c.out), before)
	case err != nil:
		if !errors.As(err, &bad) {
			c.say("%v", err)
		}
		os.RemoveAll(c.out) // the first run failed: start over
		return false
	default:
		sameSet(t, contents(t, c.out), contents(t, fresh))
	}
	if _, err := os.Stat(filepath.Join(c.out, manifest.File)); err != nil {
		t.Fatal(err)
	}
	report, verr := verify.Files(t.Context(), []string{c.out}, verify.Options{})
	if verr != nil || !report.OK {
		t.Fatalf("verify: %v, %+v", verr, report.Faults)
	}
	if err != nil {
		return false
	}
	o.Overwrite = false
	s, err := c.convert(t.Context(), c.out, o)
	if err != nil || s.Status != UpToDate || s.ShardsWritten > 0 {
		t.Fatalf("again: %v, %+v", err, s)
	}
	if c.check != nil {
		c.check(s)
	}
	left, err := os.ReadDir(filepath.Join(c.out, shard.StateDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if !slices.Contains([]string{"lock", "run.json", "shards", "finalized.json", "scan.json"}, e.Name()) {
			t.Errorf("left: %s", e.Name())
		}
	}
	return true
}

// shardCounts returns how many shards each split of a set has.
func shardCounts(t *testing.T, dir string) map[string]int {
	t.Helper()
	m, err := manifest.Read(t.Context(), filepath.Join(dir, manifest.File))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, s := range m.Splits {
		counts[s.Name] = len(s.Shards)
	}
	return counts
}

// anyhow converts in one run or by tasks.
func (c *conversionTrial) anyhow(o Options) error {
	if o.Overwrite || c.r.IntN(3) > 0 {
		_, err := c.convert(c.t.Context(), c.out, o)
		return err
	}
	tasks := 1 + c.r.IntN(4)
	c.say("by %d tasks", tasks)
	for _, i := range c.r.Perm(tasks) {
		o.Task = &Task{Index: i, Count: tasks}
		o.Replan = true
		if _, err := c.convert(c.t.Context(), c.out, o); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(c.out, setdir.ArrayPlanFile)); err != nil {
		o.Task, o.Replan = nil, false // all were up to date: the metadata may not be
		_, err := c.convert(c.t.Context(), c.out, o)
		return err
	}
	_, err := Finalize(c.t.Context(), c.out, FinalizeOptions{})
	return err
}

// stopped begins a run that is cancelled at a random time.
func (c *conversionTrial) stopped(whole bool, before map[string]string) {
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	o := c.options
	o.Progress = new(Progress)
	done := make(chan error, 1)
	go func() {
		_, err := c.convert(ctx, c.out, o)
		done <- err
	}()
	shards := int64(c.r.IntN(3))
	for o.Progress.Finished.Load() < shards {
		select {
		case err := <-done:
			done <- err
			shards = 0
		case <-time.After(100 * time.Microsecond):
		}
	}
	cancel()
	err := <-done
	c.say("stopped after %d shards: %v", o.Progress.Finished.Load(), err)
	if err != nil && whole {
		sameSet(c.t, contents(c.t, c.out), before)
	}
}

// raced converts while the input changes. Whatever the outcome, a complete set stays complete, and
// the next run makes what a fresh one does.
func (c *conversionTrial) raced() {
	manifest := filepath.Join(c.out, manifest.File)
	_, missing := os.Stat(manifest)
	done := make(chan error, 1)
	o := c.options
	go func() {
		_, err := c.convert(c.t.Context(), c.out, o)
		done <- err
	}()
	for range 1 + c.r.IntN(6) {
		c.change()
	}
	err := <-done
	c.say("converted meanwhile: %v", err)
	if err == nil || missing == nil {
		report, err := verify.Files(c.t.Context(), []string{c.out}, verify.Options{})
		if err != nil || !report.OK {
			c.t.Errorf("a source that changed meanwhile: %v, %+v", err, report.Faults)
		}
	}
	if _, missing := os.Stat(manifest); missing != nil {
		os.RemoveAll(c.out) // its options may have been changed since
	} else {
		c.options.Overwrite = o.Overwrite && err != nil
	}
}

func (c *conversionTrial) say(format string, args ...any) {
	c.said = append(c.said, fmt.Sprintf(format, args...))
}

func newTrial(t *testing.T, r *rand.Rand) *conversionTrial {
	c := &conversionTrial{t: t, r: r, src: filepath.Join(t.TempDir(), "src"), out: filepath.Join(t.TempDir(), "out"), clock: old}
	c.options = Options{Name: "trial", Seed: uint64(r.IntN(3)), Shards: []int{0, 1, 3, 7}[r.IntN(4)], MaxErrors: Tolerance{Share: []float64{0, 0.3, 1}[r.IntN(3)]}}
	c.options.AllowShrink = true // a few changes may remove more than half of a small set
	c.options.Splits = drawSplits(t, r)
	if r.IntN(4) == 0 {
		c.options.Compression = tfrecord.CompressionGzip
	}
	if r.IntN(4) == 0 {
		c.options.Limit = int64(1 + r.IntN(30))
	}
	return c
}

func drawSplits(t *testing.T, r *rand.Rand) []shard.SplitShare {
	splits, err := ParseSplits([]string{"train=1", "train=0.8,val=0.2", "train=0.5,val=0.3,test=0.2"}[r.IntN(3)])
	if err != nil {
		t.Fatal(err)
	}
	return splits
}

// write writes an input file with a unique time.
func (c *conversionTrial) write(name string, data []byte) {
	put(c.t, c.src, name, data)
	c.clock = c.clock.Add(time.Second)
	if err := os.Chtimes(filepath.Join(c.src, filepath.FromSlash(name)), c.clock, c.clock); err != nil {
		c.t.Fatal(err)
	}
}

func newImageTrial(t *testing.T, r *rand.Rand) *conversionTrial {
	c := newTrial(t, r)
	o := ImageOptions{Encode: EncodeSpec{Format: []Encoding{"", Keep, PNG, JPEG, Raw}[r.IntN(5)]}}
	switch r.IntN(3) {
	case 0:
		o.Resize = augment.ResizeSpec{Width: 8, Height: 9}
	case 1:
		o.Resize = augment.ResizeSpec{Square: 7}
	}
	if r.IntN(4) == 0 && o.Encode.Format != Keep {
		policy, err := augment.ParsePolicy("hflip:0.5")
		if err != nil {
			t.Fatal(err)
		}
		o.Augment.Policy, o.Augment.Copies, o.Augment.KeepOriginal = policy, 1+r.IntN(2), r.IntN(2) == 0
	}
	c.convert = func(ctx context.Context, out string, common Options) (*Summary, error) {
		o := o
		o.Options = common
		return Images(ctx, c.src, out, o)
	}
	c.reoption = func() {
		o.Resize = augment.ResizeSpec{Square: 3 + r.IntN(9), NoAntialias: true}
		o.Encode.Format = PNG
		c.options.Shards = r.IntN(5)
		c.options.Splits = drawSplits(t, r)
	}
	classes := []string{"a", "b", "7", "10", "train/x", "val/x"}[:4]
	files := map[string]bool{}
	c.change = func() {
		name := fmt.Sprintf("%s/%d.%s", classes[r.IntN(len(classes))], r.IntN(25), []string{"png", "jpg"}[r.IntN(2)])
		if known := slices.Sorted(maps.Keys(files)); len(known) > 3 && r.IntN(3) == 0 {
			name = known[r.IntN(len(known))]
			if r.IntN(2) == 0 {
				delete(files, name)
				c.say("remove %s", name)
				if err := os.Remove(filepath.Join(c.src, filepath.FromSlash(name))); err != nil {
					t.Fatal(err)
				}
				return
			}
		}
		files[name] = true
		data := imageOf(r, name)
		if r.IntN(12) == 0 {
			data = data[:r.IntN(len(data))]
			c.say("cut %s", name)
		} else {
			c.say("write %s", name)
		}
		c.write(name, data)
	}
	return c
}

// imageOf draws an image in the format of a name.
func imageOf(r *rand.Rand, name string) []byte {
	n := r.IntN(1 << 16)
	if strings.HasSuffix(name, ".png") {
		if n%4 == 0 {
			return deepPNG(n)
		}
		return pngOf(n)
	}
	im := image.NewRGBA(image.Rect(0, 0, 1+r.IntN(40), 1+r.IntN(30)))
	for i := range im.Pix {
		im.Pix[i] = uint8(i*n>>3) | 1
	}
	im.Set(0, 0, color.White)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, im, nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func newTableTrial(t *testing.T, r *rand.Rand) *conversionTrial {
	c := newTrial(t, r)
	o := CSVOptions{Shuffle: r.IntN(2) == 0, Memory: 1 << 20, Vocab: r.IntN(2) == 0}
	if o.Vocab {
		o.Label = "c"
	}
	files := 1 + r.IntN(3)
	c.convert = func(ctx context.Context, out string, common Options) (*Summary, error) {
		o := o
		o.Options = common
		srcs, err := filepath.Glob(filepath.Join(c.src, "*.csv"))
		if err != nil {
			return nil, err
		}
		return CSV(ctx, srcs, out, o)
	}
	c.reoption = func() {
		o.Shuffle = !o.Shuffle
		c.options.Shards = r.IntN(5)
		c.options.Splits = drawSplits(t, r)
	}
	c.change = func() {
		name := fmt.Sprintf("%d.csv", r.IntN(files))
		var b strings.Builder
		b.WriteString("a,b,c\n")
		for range 1 + r.IntN(1<<r.IntN(10)) {
			switch r.IntN(40) {
			case 0:
				b.WriteString("too,few\n")
			case 1:
				b.WriteString("1,,x\n")
			default:
				fmt.Fprintf(&b, "%d,%g,\"c%d\"\n", r.IntN(1000), r.Float64(), r.IntN(5))
			}
		}
		c.say("write %s, %d bytes", name, b.Len())
		c.write(name, []byte(b.String()))
	}
	return c
}
