package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/internal/optname"
)

// remedy has the ways to speed a stage up: the field that sets its number of workers, if it has
// several, and all others.
type remedy struct {
	workers *optname.Name
	others  optname.Text
}

// remedies are keyed by the first word of a stage's name.
var remedies = map[string]remedy{
	"read":        {&optname.OptionsParallelism, optname.Textf("faster storage, or larger records")},
	"interleave":  {nil, optname.Textf("a longer block length")},
	"shuffle_all": {&optname.OptionsReaders, optname.Textf("a larger ShuffleAllOptions.Block, or faster storage")},
	"sample":      {&optname.OptionsReaders, optname.Textf("a Sampler that keeps neighbours together, or faster storage")},
	"cache":       {nil, optname.Textf("a cache in memory, or faster storage")},
	"shuffle":     {nil, optname.Textf("a smaller buffer (%s) that fits into the processor's caches, or the global order, which needs none", optname.ShuffleOptionsBuffer)},
	"filter":      {nil, optname.Textf("a cheaper function, or filtering once with %s", optname.ReshapeFilter)},
	"map":         {&optname.MapOptionsWorkers, optname.Textf("a cheaper function")},
	"parse":       {&optname.ColumnSpecWorkers, optname.Textf("a Schema of fewer features")},
	"pictures":    {&optname.ImageSpecWorkers, optname.Textf("a smaller size (%s), or converting to that size once (%s)", optname.ImageSpecResize, optname.ConvertImages.With(optname.ImageOptionsResize))},
	"batch":       {nil, optname.Textf("a larger batch (%s)", optname.BatchN)},
}

// remedyOf returns the remedy for a stage. Workers that are tuned are as many as the processor
// budget allows.
func remedyOf(s StageStats) remedy {
	r, known := remedies[stageWord(s.Name)]
	if !known {
		return remedy{others: optname.Textf("its own settings")}
	}
	if s.Auto && r.workers != nil {
		r.workers = &optname.OptionsParallelism
	}
	return r
}

// faster returns the remedies while processors are idle.
func (r remedy) faster() string {
	if r.workers == nil {
		return r.others.String()
	}
	return fmt.Sprintf("%s, %s", r.workers, orAlso(r.others.String()))
}

// cheaper returns the remedies while all processors are busy.
func (r remedy) cheaper() string {
	if r.workers == nil {
		return r.others.String()
	}
	return fmt.Sprintf("%s; a larger %s would not", r.others, r.workers)
}

// shorterWaits returns the remedies for a stage whose function waits. More workers than cores are
// known to wait.
func (r remedy) shorterWaits(s StageStats, cores int) string {
	switch {
	case stageWord(s.Name) != "map":
		return fmt.Sprintf("%s, or waiting in a map before it, for many records at a time (%s)", r.others, optname.MapOptionsWaits)
	case s.Auto && s.Workers <= cores:
		return fmt.Sprintf("%s, or a function that waits less", optname.MapOptionsWaits)
	}
	return fmt.Sprintf("%s, or a function that waits less", optname.MapOptionsWorkers)
}

// orAlso continues a list with others, which may be a list itself.
func orAlso(others string) string {
	if strings.Contains(others, ", or ") {
		return others
	}
	return "or " + others
}

// largerBatch returns the setting of the size of the batches that stats make.
func largerBatch(stats []StageStats) string {
	setting := optname.BatchN
	for _, s := range stats {
		switch stageWord(s.Name) {
		case "parse":
			setting = optname.ColumnSpecBatch
		case "pictures":
			setting = optname.ImageSpecBatch
		}
	}
	return fmt.Sprintf("a larger batch (%s)", setting)
}

// stageWord returns the name of a stage without its settings.
func stageWord(name string) string {
	word, _, _ := strings.Cut(name, "(")
	return word
}

// Usage describes the processor time that a pipeline and other processes took.
type Usage struct {
	Elapsed time.Duration
	Cores   int // that this process may use
	// Processor is the processor time of this process; 0 if unknown. Delayed is the sum of its
	// threads' waits for a processor, below 0 if unknown.
	Processor, Delayed time.Duration
	// Others are the processors that other processes kept busy, on average; 0 if unknown.
	Others float64
}

// share is the share of the processors that this process kept busy, given the time that stages
// worked: a function that waits works in that sense, but takes no processor.
func (u Usage) share(worked time.Duration) float64 {
	took := worked
	if u.Processor > 0 {
		took = u.Processor
	}
	return min(float64(took)/float64(u.Elapsed)/float64(max(u.Cores, 1)), 1)
}

// crowded reports whether other processes keep processors busy that this one could use: it waited for
// them a quarter of the time in which it was ready to run, which is half a processor at least.
func (u Usage) crowded(share float64) bool {
	others := u.Others / float64(max(u.Cores, 1))
	if u.Delayed < 0 {
		return others >= 0.3 && share+others >= 0.85
	}
	ready := u.Processor + u.Delayed
	return others >= 0.3 && u.Delayed >= ready/4 && ready >= u.Elapsed/2
}

// waits reports whether stages worked for much longer than they had processors, or waited for one: they
// wait for something else, such as a service.
func (u Usage) waits(worked time.Duration, share float64) bool {
	if u.Processor == 0 || u.Delayed < 0 && u.crowded(share) {
		return false
	}
	return u.Processor+max(u.Delayed, 0) < worked/2
}

// Bottleneck returns a sentence that names the slowest stage of a pipeline, and the setting that
// would speed it up.
func Bottleneck(stats []StageStats, u Usage) string {
	if len(stats) == 0 || u.Elapsed <= 0 {
		return "nothing ran yet"
	}
	var worked time.Duration
	top, load := 0, -1.0
	for i, s := range stats {
		worked += s.Busy
		if l := float64(s.Busy) / float64(max(s.Workers, 1)); l > load {
			top, load = i, l
		}
	}
	slowest, share := stats[top], u.share(worked)
	busy := 100 * min(load/float64(u.Elapsed), 1)
	help := remedyOf(slowest)
	switch {
	case !waitedFor(stats, u.Elapsed):
		last := stats[lastQueue(stats)]
		return fmt.Sprintf("the consumer: it waits for %s only %.0f%% of the time; what would help: a cheaper step there, or %s",
			last.Name, 100*float64(last.Awaited)/float64(u.Elapsed), largerBatch(stats))
	case share >= 0.8:
		return fmt.Sprintf("processors: %.0f%% of %d are busy, %.0f%% of that in %s; what would help: more of them, or %s",
			100*share, u.Cores, 100*float64(slowest.Busy)/float64(max(worked, 1)), slowest.Name, help.cheaper())
	case busy >= 70 && u.waits(worked, share):
		return fmt.Sprintf("%s: its workers (%d) are busy %.0f%% of the time, and mostly wait, without a processor; what would help: %s",
			slowest.Name, slowest.Workers, busy, help.shorterWaits(slowest, u.Cores))
	case u.crowded(share):
		return fmt.Sprintf("the machine: other processes keep %.1f of %d processors busy; what would help: fewer of them, or %s",
			u.Others, u.Cores, help.cheaper())
	case busy >= 70:
		return fmt.Sprintf("%s: its workers (%d) are busy %.0f%% of the time, and others wait for them; what would help: %s",
			slowest.Name, slowest.Workers, busy, help.faster())
	case stats[0].WaitInput > u.Elapsed/2:
		return fmt.Sprintf("storage: %s waits for files %.0f%% of the time; what would help: %s",
			stats[0].Name, 100*min(float64(stats[0].WaitInput)/float64(u.Elapsed)/float64(max(stats[0].Workers, 1)), 1), remedyOf(stats[0]).faster())
	case awaited(stats, u.Elapsed) >= 0:
		s := stats[awaited(stats, u.Elapsed)]
		help := remedyOf(s).faster()
		if u.waits(worked, share) {
			help = remedyOf(s).shorterWaits(s, u.Cores)
		}
		return fmt.Sprintf("%s: others wait for it %.0f%% of the time; what would help: %s", s.Name, 100*float64(s.Awaited)/float64(u.Elapsed), help)
	default:
		return fmt.Sprintf("the consumer: processors are busy %.0f%% of the time, and most of that in %s; a cheaper step there, or %s",
			100*share, slowest.Name, largerBatch(stats))
	}
}

// awaited returns the index of the first stage for which others wait most of the time; -1 if there is
// none. Those after it may only wait for it.
func awaited(stats []StageStats, elapsed time.Duration) int {
	return slices.IndexFunc(stats, func(s StageStats) bool { return s.Awaited > elapsed/2 })
}

// lastQueue returns the index of the last stage that has elements ready; -1 if none has.
func lastQueue(stats []StageStats) int {
	i := len(stats) - 1
	for i >= 0 && stats[i].QueueSize == 0 {
		i--
	}
	return i
}

// waitedFor reports whether the consumer waits for the pipeline. It returns true if that is
// unknown: without a queue, or if stages after the last queue take time themselves.
func waitedFor(stats []StageStats, elapsed time.Duration) bool {
	last := lastQueue(stats)
	if last < 0 || stats[last].Elements == 0 || stats[last].Awaited > elapsed/20 {
		return true
	}
	var behind time.Duration
	for _, s := range stats[last+1:] {
		behind += s.Busy
	}
	return behind > elapsed/4
}
