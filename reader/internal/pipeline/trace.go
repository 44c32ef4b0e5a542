package pipeline

import (
	"context"
	"runtime/pprof"
	"runtime/trace"
)

// Profiles and execution traces show the stages of a pipeline. Goroutines that stages start have
// the pprof label tfrec_stage, with the name of the stage without its settings, in addition to the
// labels of the context of Start. While an execution trace is taken, every block and portion of a
// stage is a region named "tfrec " and the stage, and every wait of a consumer is "tfrec next", all
// in a task named "tfrec" for each run. The consumer's own goroutine keeps its labels.
const (
	StageLabel  = "tfrec_stage"
	TracePrefix = "tfrec "
)

// WithStage returns ctx with the pprof label of a stage.
func WithStage(ctx context.Context, name string) context.Context {
	return pprof.WithLabels(ctx, pprof.Labels(StageLabel, stageWord(name)))
}

// LabelGoroutine labels the calling goroutine, which a stage started, until it ends.
func LabelGoroutine(ctx context.Context, name string) { pprof.SetGoroutineLabels(WithStage(ctx, name)) }

// Region begins a region of the execution trace, if one is taken.
func (s *Counters) Region(ctx context.Context) *trace.Region {
	return trace.StartRegion(ctx, s.traced)
}

// Caller is the goroutine that calls a stage, if it is not the consumer's.
type Caller struct {
	Labels context.Context // to return to after a call; nil while the consumer's goroutine calls
}

type callerKey struct{}

// WithCaller returns the context to start stages with that a goroutine of another stage will call.
// Until its labels are set, the goroutine of the consumer calls them.
func WithCaller(ctx context.Context) (context.Context, *Caller) {
	c := &Caller{}
	return context.WithValue(ctx, callerKey{}, c), c
}
