package pipeline

import (
	"strings"
	"testing"
	"time"
)

func TestBottleneck(t *testing.T) {
	second := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	stages := func(read, waited, shuffle, parse float64) []StageStats {
		return []StageStats{
			{Name: "read", Busy: second(read), WaitInput: second(waited), Workers: 4},
			{Name: "shuffle(buffer=9,seed=0)", Busy: second(shuffle), Workers: 1},
			{Name: "parse", Busy: second(parse), Workers: 4},
		}
	}
	queued := func(awaited float64, s []StageStats) []StageStats {
		s[len(s)-1].Elements, s[len(s)-1].QueueSize, s[len(s)-1].Awaited = 100, 4, second(awaited)
		return s
	}
	cases := map[string]struct {
		stats []StageStats
		use   Usage
		says  []string
	}{
		"slow consumer":       {queued(0.1, stages(1, 30, 1, 1)), Usage{}, []string{"the consumer: it waits for parse only 1%"}},
		"slow storage":        {queued(9, stages(1, 30, 1, 1)), Usage{}, []string{"storage: read waits for files 75%"}},
		"slow in between":     {append(queued(0.1, stages(1, 3, 1, 1)), StageStats{Name: "batch", Busy: second(9), Workers: 1}), Usage{}, []string{"batch: "}},
		"processors":          {stages(8, 1, 4, 27), Usage{}, []string{"processors: ", "in parse", "ColumnSpec.Workers"}},
		"one worker":          {stages(1, 1, 9, 2), Usage{}, []string{"shuffle(buffer=9,seed=0): ", "ShuffleOptions.Buffer"}},
		"storage":             {stages(1, 30, 1, 1), Usage{}, []string{"storage: read waits for files 75%", "Options.Parallelism"}},
		"consumer":            {stages(1, 1, 1, 1), Usage{}, []string{"the consumer: ", "ColumnSpec.Batch"}},
		"too few workers":     {[]StageStats{{Name: "pictures", Busy: second(9), Workers: 1}}, Usage{}, []string{"pictures: ", "help: ImageSpec.Workers, a smaller size (ImageSpec.Resize), or"}},
		"tuned workers":       {[]StageStats{{Name: "parse", Busy: second(9), Workers: 1, Auto: true}}, Usage{}, []string{"help: Options.Parallelism, or a Schema"}},
		"no spare core":       {[]StageStats{{Name: "map", Busy: second(39), Workers: 4}}, Usage{}, []string{"processors: ", "more of them, or a cheaper function; a larger MapOptions.Workers would not"}},
		"images":              {queued(0.1, []StageStats{{Name: "pictures", Busy: second(1), Workers: 1}}), Usage{}, []string{"the consumer: ", "a larger batch (ImageSpec.Batch)"}},
		"records":             {queued(0.1, []StageStats{{Name: "prefetch", Workers: 1}}), Usage{}, []string{"a larger batch (reader.Batch.n)"}},
		"waiting function":    {[]StageStats{{Name: "map(call)", Busy: second(40), Workers: 4, Auto: true}}, Usage{Processor: second(1)}, []string{"map(call): ", "mostly wait", "help: MapOptions.Waits, or"}},
		"waiting workers":     {[]StageStats{{Name: "map(call)", Busy: second(40), Workers: 4}}, Usage{Processor: second(1)}, []string{"mostly wait", "help: MapOptions.Workers, or"}},
		"waiting filter":      {[]StageStats{{Name: "filter", Busy: second(10), Workers: 1}}, Usage{Processor: second(1)}, []string{"filter: ", "mostly wait", "MapOptions.Waits"}},
		"computing function":  {[]StageStats{{Name: "map(call)", Busy: second(40), Workers: 4, Auto: true}}, Usage{Processor: second(39)}, []string{"processors: 98% of 4 are busy"}},
		"crowded machine":     {[]StageStats{{Name: "map(call)", Busy: second(40), Workers: 4, Auto: true}}, Usage{Processor: second(19), Delayed: second(20), Others: 2}, []string{"the machine: other processes keep 2.0 of 4 processors busy"}},
		"waits, crowded":      {[]StageStats{{Name: "map(call)", Busy: second(40), Workers: 4, Auto: true}}, Usage{Processor: second(0.3), Delayed: second(2), Others: 3.9}, []string{"map(call): ", "mostly wait"}},
		"delays not known":    {[]StageStats{{Name: "map(call)", Busy: second(40), Workers: 4, Auto: true}}, Usage{Processor: second(2), Delayed: -1, Others: 3.8}, []string{"the machine: other processes keep 3.8 of 4"}},
		"many that wait":      {[]StageStats{{Name: "map(call)", Busy: second(60), Awaited: second(9.9), Workers: 64, Auto: true}}, Usage{Processor: second(0.6), Delayed: second(0.1), Others: 3.9}, []string{"map(call): others wait for it 99%", "help: MapOptions.Workers, or"}},
		"other work, no load": {[]StageStats{{Name: "map(call)", Busy: second(10), Workers: 1}}, Usage{Processor: second(9), Others: 0.5}, []string{"map(call): ", "others wait for them"}},
		"nothing":             {nil, Usage{}, []string{"nothing ran yet"}},
	}
	for name, c := range cases {
		c.use.Elapsed, c.use.Cores = second(10), 4
		got := Bottleneck(c.stats, c.use)
		for _, says := range c.says {
			if !strings.Contains(got, says) {
				t.Errorf("%s: %q; want %q in it", name, got, says)
			}
		}
	}
}
