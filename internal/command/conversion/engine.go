package conversion

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/shard/reshape"
)

// Engine makes the shards of conversions, and of a reshard, in place of this process, or has other
// processes make them. The command is the same otherwise: flags, summaries, exit codes.
type Engine struct {
	// Name of the command, such as tfrec-beam.
	Name string
	// Flags adds the engine's own flags to the flags of a verb that it carries out. Their names
	// must differ from those flags.
	Flags func(verb *pflag.FlagSet)
	// Check returns an error for wrong usage of the engine's flags, before anything is done. It may
	// be nil.
	Check func() error
	// Make makes all missing shards of Work's job, and returns when they are made or when ctx is
	// done. No work continues after that.
	Make func(ctx context.Context, w *Work) error
	// Reshard is called in place of reshape.Reshard, with the same contract, if it is not nil.
	Reshard func(ctx context.Context, in []string, out string, o reshape.ReshardOptions) (*reshape.Report, error)

	// Joined is called with the job of a process that only joins one, and Note with sentences for its
	// user. Args are the arguments of the process. The command sets them.
	Joined func(*convert.Job)
	Note   func(string)
	Args   []string
}

// Work is a conversion for an Engine.
type Work struct {
	Job *convert.Job
	// Args are the command's arguments from the verb on, without the engine's own:
	// what JoinJob takes. They hold no credentials; those are in the environment.
	Args []string
	// Note prints a sentence for the user. It must be called from one goroutine at a time.
	Note func(sentence string)
}

// ofEngine is the annotation of flags that are an engine's own.
const ofEngine = "engine"

// AddFlags adds the engine's flags to the flags of a verb.
func (e *Engine) AddFlags(fs *pflag.FlagSet) {
	if e == nil || e.Flags == nil {
		return
	}
	verbs := map[string]bool{}
	fs.VisitAll(func(f *pflag.Flag) { verbs[f.Name] = true })
	e.Flags(fs)
	fs.VisitAll(func(f *pflag.Flag) {
		if !verbs[f.Name] {
			f.Annotations = map[string][]string{ofEngine: nil}
		}
	})
	for _, name := range notForEngines {
		if f := fs.Lookup(name); f != nil {
			f.Hidden = true
		}
	}
	if f := fs.Lookup("retries"); f != nil {
		f.Usage, f.DefValue = "how often a worker retries failed shards before it reports them to the runner", "2"
	}
}

// notForEngines are flags of conversions that distribute shards themselves, or need resources that
// may be missing on an engine's machines.
var notForEngines = []string{"task", "tasks", "replan", "gpu", "gpu-decode"}

// Allows returns an error for flags that do not apply with an engine.
func (e *Engine) Allows(cmd *cobra.Command) error {
	for _, name := range notForEngines {
		if f := cmd.Flag(name); f != nil && f.Changed && f.Value.String() != f.DefValue {
			return cli.UsageError("--%s: is for tfrec; %s assigns shards to workers itself, and those have no GPU", name, e.Name)
		}
	}
	if e.Check != nil {
		if err := e.Check(); err != nil {
			return cli.UsageError("%w", err)
		}
	}
	return nil
}

// carryOut has the engine make the shards of a conversion.
func (e *Engine) carryOut(cmd *cobra.Command, c *conversion, note func(string)) (*convert.Summary, error) {
	ctx := cmd.Context()
	if e.Joined != nil {
		job, err := c.join(ctx)
		if err == nil {
			e.Joined(job)
		}
		return nil, err
	}
	job, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	args, err := e.forOthers(cmd)
	if err != nil {
		return nil, errors.Join(err, job.Close())
	}
	return job.Run(ctx, func(ctx context.Context) error {
		return e.Make(ctx, &Work{Job: job, Args: args, Note: note})
	})
}

// forOthers returns the arguments of a verb for JoinJob: without the engine's flags and the flags
// of all verbs, which concern this process.
func (e *Engine) forOthers(verb *cobra.Command) ([]string, error) {
	_, rest, err := verb.Root().Find(e.Args)
	if err != nil {
		return nil, err
	}
	args := []string{"convert", verb.Name()}
	err = verb.Flags().ParseAll(rest, func(f *pflag.Flag, value string) error {
		if _, own := f.Annotations[ofEngine]; !own && verb.Root().PersistentFlags().Lookup(f.Name) == nil {
			args = append(args, "--"+f.Name+"="+value)
		}
		return nil
	})
	return append(append(args, "--"), verb.Flags().Args()...), err
}
