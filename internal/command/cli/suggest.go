package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/spelling"
)

// OtherNames maps other words to verbs: verbs of other tools, formats and tasks.
var OtherNames = map[string]string{
	"create": "convert", "make": "convert", "build": "convert", "write": "convert", "generate": "convert", "pack": "convert", "encode": "convert", "import": "convert", "ingest": "convert",
	"image": "convert images", "images": "convert images", "photo": "convert images", "photos": "convert images", "picture": "convert images", "pictures": "convert images", "folder": "convert images",
	"csv": "convert csv", "tsv": "convert csv", "table": "convert table", "tables": "convert table", "jsonl": "convert table", "ndjson": "convert table",
	"info": "inspect", "ls": "inspect", "list": "inspect", "show": "inspect", "describe": "inspect", "view": "inspect", "schema": "inspect", "count": "inspect", "wc": "inspect", "peek": "inspect", "summary": "inspect", "file": "inspect",
	"check": "verify", "validate": "verify", "test": "verify", "fsck": "verify", "lint": "verify", "checksum": "verify", "crc": "verify",
	"print": "cat", "dump": "cat", "read": "cat", "decode": "cat", "less": "cat", "json": "cat", "tail": "cat",
	"head": "take", "first": "take", "limit": "take",
	"histogram": "stats", "profile": "stats", "mean": "stats", "statistics": "stats",
	"html": "preview", "browse": "preview", "report": "preview", "page": "preview",
	"compare": "diff", "cmp": "diff",
	"fix": "repair", "recover": "repair", "restore": "repair", "salvage": "repair", "rescue": "repair",
	"shard": "reshard", "shuffle": "reshard", "sort": "reshard", "repartition": "reshard", "compress": "reshard", "decompress": "reshard", "copy": "reshard",
	"concat": "merge", "concatenate": "merge", "join": "merge", "combine": "merge", "union": "merge",
	"partition": "split", "subsample": "sample",
	"grep": "filter", "where": "filter", "query": "filter", "find": "filter",
	"uniq": "dedupe", "unique": "dedupe", "deduplicate": "dedupe", "distinct": "dedupe",
	"select": "features select", "drop": "features drop", "rename": "features rename", "columns": "features", "project": "features select",
	"add": "append", "insert": "append", "extend": "append", "update": "append",
	"extract": "export", "unpack": "export", "save": "export", "write-csv": "export", "parquet": "export", "webdataset": "export",
	"register": "adopt", "manifest": "adopt", "tfds": "adopt",
	"reindex": "index", "idx": "index", "tfrecord2idx": "index",
	"benchmark": "bench", "speed": "bench", "time": "bench",
	"gc": "clean", "prune": "clean", "cleanup": "clean",
	"finish": "finalize", "complete": "finalize", "commit": "finalize", "finalise": "finalize",
	"cuda": "gpu", "nvidia": "gpu", "transform": "augment", "man": "help", "usage": "help", "about": "version", "init": "config init",
}

// Suggest returns the verb below cmd that an unknown word may mean; "" if there is none.
func Suggest(cmd *cobra.Command, word string) string {
	word = strings.ToLower(word)
	other := OtherNames[word]
	if cmd.HasParent() { // only names below this verb count
		_, other, _ = strings.Cut(other, cmd.Name()+" ")
	}
	if other != "" {
		return other
	}
	names := Verbs(cmd)
	if i := slices.IndexFunc(names, func(name string) bool { return len(word) > 1 && strings.HasPrefix(name, word) }); i >= 0 {
		return names[i]
	}
	best, least := "", maxSlips+1
	for _, name := range names {
		if d := spelling.Distance(name, word); d < least && d < len(word) {
			best, least = name, d
		}
	}
	return best
}

// StartText shows the first verbs to know, by what they are for.
func StartText(root string) string {
	return strings.ReplaceAll(`  tfrec convert images DIR OUT    convert a directory of images to shards
  tfrec inspect OUT               see what is in them
  tfrec verify OUT                check every record
  tfrec reshard OUT OTHER         rewrite them as other shards
  tfrec preview OUT PAGE.html     look at them in a browser

'tfrec --help' lists all verbs, 'tfrec VERB --help' describes one.
`, "tfrec ", root+" ")
}

// UnknownVerb is the error for a word that is not a verb of cmd.
func UnknownVerb(cmd *cobra.Command, word string) error {
	if near := Suggest(cmd, word); near != "" {
		return UsageError("unknown verb %q; did you mean %s?", word, near)
	}
	if cmd.HasParent() {
		return UsageError("unknown verb %q; there are: %s", word, strings.Join(Verbs(cmd), ", "))
	}
	return &wrongUsage{err: fmt.Errorf("unknown verb %q", word), help: "The first verbs to know:\n\n" + StartText(cmd.Name())}
}

// Verbs returns the names of the commands below cmd.
func Verbs(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}
