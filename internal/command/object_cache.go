package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/storage"
)

// objectCacheFlags are the flags that only a build with object storage has.
var objectCacheFlags = []string{"cache-dir", "cache-size"}

// addObjectCache adds --cache-dir and --cache-size to all verbs where there is object
// storage. The cache is in use while the verb runs.
func addObjectCache(root *cobra.Command) {
	if !storage.HasStores() {
		return
	}
	var dir string
	var size int64
	fs := root.PersistentFlags()
	fs.StringVar(&dir, "cache-dir", "", "cache what is read from s3://, gs:// and azblob:// in `DIR` for the next run")
	textVar(fs, "cache-size", "10GiB", "SIZE", "how much --cache-dir may hold", func(s string) (err error) {
		if size, err = parseSize(s); err == nil && size < storage.MinCacheSize {
			err = fmt.Errorf("%s is too small for a cache: the minimum is 4MiB", s)
		}
		return err
	})
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if dir == "" {
			if cmd.Flags().Changed("cache-size") || cmd.Flags().Changed("cache-dir") {
				return usageError("--cache-size: give --cache-dir, too")
			}
			return nil
		}
		o := storage.CacheOptions{Dir: dir, Size: size}
		if !quietFlag(cmd) {
			stderr := cmd.ErrOrStderr()
			o.Note = notesTo(stderr)
		}
		stop, err := storage.UseCache(o)
		if err != nil {
			return err
		}
		run := cmd.RunE
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			defer stop()
			return run(cmd, args)
		}
		return nil
	}
}
