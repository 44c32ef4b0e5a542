package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
)

// Task is one of Count tasks of an array job. It makes the shards whose number in the plan is Index
// modulo Count; Finalize makes a set of what all tasks made. Tasks need the same input, options and
// output directory, and are otherwise independent: they may run in any order, concurrently,
// repeatedly, on other machines, and with a different Count than before.
type Task struct {
	Index int `json:"index"` // from 0
	Count int `json:"count"`
}

func (t *Task) check() error {
	if t.Count < 1 {
		return OptionErrorf(optname.TaskCount, "%d is below 1", t.Count)
	}
	if t.Index < 0 || t.Index >= t.Count {
		return OptionErrorf(optname.TaskIndex, "%d is not between 0 and %d, with %s", t.Index, t.Count-1, plural.Of(t.Count, "task"))
	}
	return nil
}

// scheduler describes the variables in which a scheduler gives tasks the index in their array job.
type scheduler struct {
	name  string
	index string // variable of the index
	none  string // its value outside of array jobs
	// first and step are the start and increment of indices: a variable, and the value without it.
	first, step               string
	firstDefault, stepDefault int
	count                     string // variable of the number of tasks
	last                      string // variable of the last index
}

// schedulers as documented in their manuals: sbatch(1) of Slurm, Kubernetes' Indexed Jobs, AWS
// Batch's and Google Batch's job environment, Cloud Run jobs' container contract, qsub(1) of PBS
// and of Grid Engine, LSF's job arrays.
var schedulers = []scheduler{
	{name: "Slurm", index: "SLURM_ARRAY_TASK_ID", first: "SLURM_ARRAY_TASK_MIN", step: "SLURM_ARRAY_TASK_STEP", stepDefault: 1, count: "SLURM_ARRAY_TASK_COUNT"},
	{name: "a Kubernetes Indexed Job", index: "JOB_COMPLETION_INDEX", stepDefault: 1},
	{name: "AWS Batch", index: "AWS_BATCH_JOB_ARRAY_INDEX", stepDefault: 1, count: "AWS_BATCH_JOB_ARRAY_SIZE"},
	{name: "Cloud Run jobs", index: "CLOUD_RUN_TASK_INDEX", stepDefault: 1, count: "CLOUD_RUN_TASK_COUNT"},
	{name: "Google Batch", index: "BATCH_TASK_INDEX", stepDefault: 1, count: "BATCH_TASK_COUNT"},
	{name: "PBS", index: "PBS_ARRAY_INDEX", stepDefault: 1},
	{name: "LSF", index: "LSB_JOBINDEX", none: "0", firstDefault: 1, step: "LSB_JOBINDEX_STEP", stepDefault: 1},
	{name: "Grid Engine", index: "SGE_TASK_ID", none: "undefined", first: "SGE_TASK_FIRST", firstDefault: 1, step: "SGE_TASK_STEPSIZE", stepDefault: 1, last: "SGE_TASK_LAST"},
}

// TaskOf returns which of count tasks this process is, from the variables that an array job
// scheduler sets, and returns which one it used. The number of tasks is always the caller's: a
// different number from the scheduler is an error, because a job that resubmits a few of its tasks
// has other counts, and would assign the shards differently. Finding no scheduler, or several that
// disagree, is an error.
func TaskOf(count int, lookup func(string) (string, bool)) (task Task, from string, err error) {
	found := -1
	for i := range schedulers {
		s := &schedulers[i]
		value, ok := lookup(s.index)
		if !ok || value == "" || value == s.none {
			continue
		}
		t, how, err := s.task(count, value, lookup)
		if err != nil {
			return Task{}, "", err
		}
		if found >= 0 && t != task {
			return Task{}, "", OptionErrorf(optname.OptionsTask, "%s finds two array jobs that disagree: %s by %s, and task %d by %s; give %s a number", optname.ConvertTaskOf, from, schedulers[found].name, t.Index, s.name, optname.OptionsTask)
		}
		if found < 0 {
			found, task, from = i, t, how
		}
	}
	if found < 0 {
		var names []string
		for _, s := range schedulers {
			names = append(names, s.index)
		}
		return Task{}, "", OptionErrorf(optname.OptionsTask, "%s finds no array job: none of %s is set; give %s a number", optname.ConvertTaskOf, strings.Join(names, ", "), optname.OptionsTask)
	}
	return task, from, nil
}

// task computes the index, counted from 0.
func (s *scheduler) task(count int, value string, lookup func(string) (string, bool)) (Task, string, error) {
	number := func(name string, otherwise int) (int, error) {
		v, ok := lookup(name)
		if name == "" || !ok || v == "" || v == s.none {
			return otherwise, nil
		}
		n, err := strconv.Atoi(v)
		if err != nil {
			return 0, OptionErrorf(optname.OptionsTask, "%s: %s is %q, which is not a number", optname.ConvertTaskOf, name, v)
		}
		return n, nil
	}
	index, err := number(s.index, 0)
	if err != nil {
		return Task{}, "", err
	}
	first, err := number(s.first, s.firstDefault)
	if err != nil {
		return Task{}, "", err
	}
	step, err := number(s.step, s.stepDefault)
	if err != nil {
		return Task{}, "", err
	}
	said, err := number(s.count, count)
	if err != nil {
		return Task{}, "", err
	}
	if s.last != "" {
		last, err := number(s.last, first+(count-1)*step)
		if err != nil {
			return Task{}, "", err
		}
		said = (last-first)/max(step, 1) + 1
	}
	from := fmt.Sprintf("%s=%s", s.index, value)
	if said != count {
		return Task{}, "", OptionErrorf(optname.OptionsTask, "%s: %s says that there are %s, %s says %d; when only some tasks are run again, give their numbers (%s N, from 0) in place of %s", optname.ConvertTaskOf, s.name, plural.Of(said, "task"), optname.TaskCount, count, optname.OptionsTask, optname.ConvertTaskOf)
	}
	if step < 1 || index < first || (index-first)%step != 0 {
		return Task{}, "", OptionErrorf(optname.OptionsTask, "%s: %s is not among the indices that begin at %d in steps of %d", optname.ConvertTaskOf, from, first, step)
	}
	t := Task{Index: (index - first) / step, Count: count}
	if t.Index >= count {
		return Task{}, "", OptionErrorf(optname.OptionsTask, "%s: %s is task %d, and there are only %s (from 0); have the array's indices begin at %d", optname.ConvertTaskOf, from, t.Index, plural.Of(count, "task"), first)
	}
	return t, from, nil
}
