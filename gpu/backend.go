package gpu

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/gpu/internal/cuda"
	"github.com/tfrec/tfrec/gpu/internal/nvjpeg"
	"github.com/tfrec/tfrec/internal/codec/lower"
	"github.com/tfrec/tfrec/internal/codec/raster"
	"github.com/tfrec/tfrec/internal/codec/render"
)

// Errors of Open, for errors.Is.
var (
	// ErrNotBuilt means that the program was built without the tag cuda.
	ErrNotBuilt = cuda.ErrNotBuilt
	// ErrNoDriver means that no NVIDIA driver is installed, or that it does not start.
	ErrNoDriver = cuda.ErrNoDriver
	// ErrNoDevice means that the driver finds no GPU, or no usable one with that number.
	ErrNoDevice = cuda.ErrNoDevice
	// ErrOldDriver means that the driver is too old.
	ErrOldDriver = cuda.ErrOldDriver
	// ErrOutOfMemory means that GPU memory, or pinned memory, is exhausted.
	ErrOutOfMemory = cuda.ErrOutOfMemory
	// ErrFailed means that the GPU failed while it was working.
	ErrFailed = cuda.ErrLaunch
)

// ErrClosed is the error of Render after Close.
var ErrClosed = errors.New("the GPU was closed")

// Options configure a [Backend]. The zero value uses the first GPU, and the CPU if it fails.
type Options struct {
	// Device is the GPU's number, from 0.
	Device int
	// Streams is the number of batches in flight: while one is computed others are copied to the
	// GPU and back. Default: 3, at most 16.
	Streams int
	// Decode lets nvJPEG decode the JPEGs of tasks ([augment.Task.ReadJPEG]) to other pixels than
	// the CPU's; see [Backend.Decoder]. Open fails without nvJPEG.
	Decode bool
	// Batch is the number of images that [Backend.Batch] returns. Default: 32, or 64 with Decode.
	Batch int
	// Memory is the maximum GPU memory of a batch, in bytes; larger batches are halved. Default: a
	// share of the free memory, at most 1 GiB.
	Memory int64
	// Required makes [Backend.Render] fail if the GPU fails, or has too little memory for a JPEG
	// that it should decode. Otherwise the CPU takes over, and nothing is lost.
	Required bool
	// Note, if not nil, is called once, if the CPU takes over, with the reason; and by Open, with
	// Decode, if a backend of nvJPEG fails to start while another does.
	Note func(sentence string)
}

// Backend executes tasks on a GPU, with the bytes of [augment.CPU] except for JPEGs that it
// decodes. Images that the GPU has no kernel or no memory for are done on the CPU. It is safe for
// concurrent use.
type Backend struct {
	options Options
	device  *cuda.Device
	library *nvjpeg.Library // nil without Options.Decode
	decoder string
	kernels [raster.Kinds]*cuda.Function
	jobs    chan *job
	streams sync.WaitGroup
	free    sync.Pool // of jobs
	pinned  pinned

	using  sync.RWMutex // held for reading by each Render, for writing by Close
	closed bool

	mu      sync.Mutex
	stats   Stats
	failure atomic.Pointer[error] // what ended the use of the GPU
}

// Stats counts the work that a backend did so far.
type Stats struct {
	// GPU and CPU are the numbers of images processed on each.
	GPU, CPU int64
	// Lacking counts the images on the CPU without a kernel on the GPU, by the name of a step, or a
	// word for the unusual property of the image.
	Lacking map[string]int64
	// NoRoom counts the images on the CPU because GPU memory was exhausted, Halved the batches that
	// were halved for the same reason.
	NoRoom, Halved int64
	// Decoded counts the JPEGs that nvJPEG decoded, by its backend: "hardware", "GPU" or "hybrid".
	// Refused counts the JPEGs that nvJPEG did not accept and the CPU decoded, by nvJPEG's reason.
	Decoded, Refused map[string]int64
	// Skipped counts how often nvJPEG reported success but did not write an image, which was then
	// decoded again, if necessary by the next backend.
	Skipped int64
	// FellBack counts the JPEGs that the CPU had to decode because the GPU failed or had no memory
	// for them: [augment.Task.FellBack].
	FellBack int64
	// Pinned is the memory of AllocHost that is not freed, in bytes; Unpinned counts the requests
	// that failed.
	Pinned, Unpinned int64
	// Failure is the error that ended the use of the GPU; nil while it works.
	Failure error
}

// job is tasks for the GPU, and their results.
type job struct {
	tasks    []*augment.Task
	programs []*raster.Program
	cpu      []*augment.Task
	noRoom   []int // of the tasks
	lacks    error // the memory error of the last of these
	failed   int   // tasks that were not to be decoded
	refused  []int // of the tasks, by nvJPEG
	reasons  []string
	err      error
	done     chan struct{}
}

// Open opens a GPU. Errors wrap ErrNotBuilt, ErrNoDriver, ErrNoDevice, ErrOldDriver, ErrOutOfMemory
// or ErrNoNVJPEG, and are one sentence each.
func Open(o Options) (*Backend, error) {
	if o.Streams == 0 {
		o.Streams = 3
	}
	if o.Batch == 0 {
		o.Batch = 32
		if o.Decode {
			o.Batch = 64
		}
	}
	if o.Streams < 1 || o.Streams > 16 || o.Batch < 1 || o.Memory < 0 || o.Device < 0 {
		return nil, fmt.Errorf("gpu: device %d, %d streams, batches of %d, %d bytes: want 1 to 16 streams, 1 or more in a batch and nothing negative", o.Device, o.Streams, o.Batch, o.Memory)
	}
	device, err := cuda.Open(o.Device)
	if err != nil {
		return nil, err
	}
	b := &Backend{options: o, device: device, jobs: make(chan *job)}
	b.stats.Lacking, b.stats.Decoded, b.stats.Refused = map[string]int64{}, map[string]int64{}, map[string]int64{}
	if err := b.start(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// start loads the kernels and begins to serve.
func (b *Backend) start() error {
	if b.options.Memory == 0 {
		free, _, err := b.device.Memory()
		if err != nil {
			return err
		}
		b.options.Memory = min(free/int64(2*b.options.Streams), 1<<30)
	}
	module, err := b.device.Load(ptx)
	if err != nil {
		return err
	}
	for k := range raster.Kinds {
		if b.kernels[k], err = module.Function("tfrec_" + k.String()); err != nil {
			return err
		}
	}
	if b.options.Decode {
		if b.library, err = openNVJPEG(b.device); err != nil {
			return err
		}
	}
	opened := make(chan error)
	for range b.options.Streams {
		b.streams.Go(func() { b.serve(opened) })
		if err := <-opened; err != nil {
			return err
		}
	}
	return nil
}

// Close waits for running Renders and releases the GPU, once the memory of AllocHost is freed.
// Render then returns ErrClosed; Stats and Device still work. Closing again does nothing.
func (b *Backend) Close() error {
	b.using.Lock()
	defer b.using.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	close(b.jobs)
	b.streams.Wait()
	return b.pinned.close(b.device)
}

// Device describes the GPU.
func (b *Backend) Device() Info { return b.device.Info() }

// Decoder names everything that the pixels of JPEGs depend on: nvJPEG's version, the kind of GPU
// and the backends of nvJPEG that it has, such as "nvjpeg 12.2.2 sm_90 hardware+GPU+hybrid"; ""
// without [Options.Decode].
func (b *Backend) Decoder() string { return b.decoder }

// Batch is [augment.Backend.Batch].
func (b *Backend) Batch() int { return b.options.Batch }

// Stats returns the counts so far.
func (b *Backend) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.stats
	s.Lacking, s.Decoded, s.Refused = maps.Clone(s.Lacking), maps.Clone(s.Decoded), maps.Clone(s.Refused)
	s.Pinned, s.Unpinned = b.pinned.counts()
	if err := b.failure.Load(); err != nil {
		s.Failure = *err
	}
	return s
}

// Render implements [augment.Backend]. It fails after Close, and with [Options.Required] if the GPU
// failed; the tasks are then not done. JPEGs that nvJPEG rejects, or whose header is unusual
// ([augment.Info]), are decoded by their codec; so are all without [Options.Decode].
func (b *Backend) Render(tasks []*augment.Task) error {
	b.using.RLock()
	defer b.using.RUnlock()
	if b.closed {
		return ErrClosed
	}
	j := b.job()
	defer b.putJob(j)
	if b.failure.Load() == nil {
		b.lower(j, tasks)
	} else {
		j.cpu = append(j.cpu, tasks...)
		b.strand(tasks)
	}
	if len(j.tasks) > 0 {
		b.jobs <- j
	}
	err := b.usable()
	early := len(j.cpu)
	if err == nil {
		err = augment.CPU{}.Render(j.cpu)
	}
	if len(j.tasks) > 0 {
		<-j.done
	}
	if err != nil {
		return err
	}
	if j.err != nil {
		b.fail(j.err)
		if err := b.usable(); err != nil {
			return err
		}
		j.cpu = append(j.cpu, j.tasks...)
		b.strand(j.tasks)
		j.noRoom = j.noRoom[:0]
	} else {
		if err := b.settle(j); err != nil {
			return err
		}
		for _, i := range slices.Concat(j.noRoom, j.refused) {
			j.cpu = append(j.cpu, j.tasks[i])
		}
	}
	b.mu.Lock()
	b.stats.CPU += int64(len(j.cpu))
	b.stats.GPU += int64(len(tasks) - len(j.cpu) - j.failed)
	b.stats.NoRoom += int64(len(j.noRoom))
	b.mu.Unlock()
	return augment.CPU{}.Render(j.cpu[early:])
}

// lower sorts out which tasks are for the GPU.
func (b *Backend) lower(j *job, tasks []*augment.Task) {
	for _, t := range tasks {
		t.FellBack = false
		if !b.asks(t) {
			if t.Err = render.Decode(t); t.Err != nil {
				j.failed++
				continue
			}
		}
		n := len(j.programs)
		if n == cap(j.programs) {
			j.programs = append(j.programs, new(raster.Program))
		} else if j.programs = j.programs[:n+1]; j.programs[n] == nil {
			j.programs[n] = new(raster.Program)
		}
		err := lower.Task(j.programs[n], t)
		if err == nil {
			t.Err = nil
			watch(j.programs[n])
			j.tasks = append(j.tasks, t)
			continue
		}
		j.programs[n].Reset() // lets the image go
		j.programs = j.programs[:n]
		j.cpu = append(j.cpu, t)
		var lacks *lower.NotLoweredError
		if errors.As(err, &lacks) {
			b.mu.Lock()
			b.stats.Lacking[lacks.What]++
			b.mu.Unlock()
		}
	}
}

// usable is the failure of a GPU that is required.
func (b *Backend) usable() error {
	if err := b.failure.Load(); err != nil && b.options.Required {
		return *err
	}
	return nil
}

// fail ends the use of the GPU.
func (b *Backend) fail(err error) {
	if b.failure.CompareAndSwap(nil, &err) && !b.options.Required && b.options.Note != nil {
		b.options.Note(fmt.Sprintf("%v: continuing on the CPU", err))
	}
}

func (b *Backend) job() *job {
	if j, ok := b.free.Get().(*job); ok {
		return j
	}
	return &job{done: make(chan struct{}, 1)}
}

// putJob keeps a job for its memory, without the images.
func (b *Backend) putJob(j *job) {
	for _, p := range j.programs {
		p.Reset()
	}
	clear(j.tasks)
	clear(j.cpu)
	j.tasks, j.programs, j.cpu = j.tasks[:0], j.programs[:0], j.cpu[:0]
	j.noRoom, j.refused, j.reasons, j.lacks, j.failed, j.err = j.noRoom[:0], j.refused[:0], j.reasons[:0], nil, 0, nil
	b.free.Put(j)
}
