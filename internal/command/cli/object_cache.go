package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// objectCacheFlags are the flags that only a build with object storage has.
var objectCacheFlags = []string{"cache-dir", "cache-size"}

// AddObjectCache adds --cache-dir and --cache-size to all verbs where there is object
// storage. The cache is in use while the verb runs.
func AddObjectCache(root *cobra.Command) {
	if !storage.HasStores() {
		return
	}
	var dir string
	var most int64
	fs := root.PersistentFlags()
	fs.StringVar(&dir, "cache-dir", "", "cache what is read from s3://, gs:// and azblob:// in `DIR` for the next run")
	TextVar(fs, "cache-size", "10GiB", "SIZE", "how much --cache-dir may hold", func(s string) (err error) {
		if most, err = size.Parse(s); err == nil && most < storage.MinCacheSize {
			err = fmt.Errorf("%s is too small for a cache: the minimum is 4MiB", s)
		}
		return err
	})
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		var note func(string)
		if !QuietFlag(cmd) {
			note = NotesTo(cmd.ErrOrStderr())
			after(cmd, storage.NoteHarm(note))
		}
		if dir == "" {
			if cmd.Flags().Changed("cache-size") || cmd.Flags().Changed("cache-dir") {
				return UsageError("--cache-size: give --cache-dir, too")
			}
			return nil
		}
		stop, err := storage.UseCache(storage.CacheOptions{Dir: dir, Size: most, Note: note})
		if err != nil {
			return err
		}
		after(cmd, stop)
		return nil
	}
}

// after has done called at the end of the verb.
func after(cmd *cobra.Command, done func()) {
	run := cmd.RunE
	if run == nil {
		return // cobra's own, such as help
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		defer done()
		return run(cmd, args)
	}
}
