package command

import (
	"context"
	"errors"
	"io"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/command/conversion"
)

// JoinJob plans the conversion of Work.Args once more, in another process, and returns it as a job
// that makes shards of it, with Work.Job's numbers. The caller must close it. Note is called with
// sentences for the user, from one goroutine at a time.
func JoinJob(ctx context.Context, args []string, note func(sentence string)) (*convert.Job, error) {
	var job *convert.Job
	root := newRootCommand(&Engine{Name: "tfrec", Joined: func(j *convert.Job) { job = j }, Note: note})
	root.SetArgs(args)
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	err := root.ExecuteContext(ctx)
	if err == nil && job == nil {
		err = errors.New("the arguments name no conversion")
	}
	return job, err
}

// Engine makes the shards of conversions, and of a reshard, in place of this process.
type Engine = conversion.Engine

// Work is a conversion for an Engine.
type Work = conversion.Work
