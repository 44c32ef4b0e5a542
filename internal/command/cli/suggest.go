package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/topic"
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
	"readme": "card", "croissant": "card", "datasheet": "card", "license": "card",
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
	"cuda": "gpu", "nvidia": "gpu", "transform": "augment", "man": "help", "usage": "help", "about": "version", "guess": "init", "detect": "init", "sniff": "init", "propose": "init",
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
	return nearest(word, names)
}

// nearest returns the name that is most similar to a misspelt word; "" if none is similar.
func nearest(word string, names []string) string {
	best, least := "", maxSlips+1
	for _, name := range names {
		if d := spelling.Distance(name, word); d < least && d < len(word) {
			best, least = name, d
		}
	}
	return best
}

// starts are the first verbs to know, by task.
var starts = []struct {
	task string
	rows []row
}{
	{"Make", []row{
		{"init SRC", "say what your data holds, and propose a command"},
		{"convert images DIR OUT", "convert a directory of images to shards"},
		{"convert table FILE OUT", "convert a table: CSV, JSON lines, Parquet"},
	}},
	{"Look", []row{
		{"inspect OUT", "see what is in them"},
		{"preview OUT PAGE.html", "look at them in a browser"},
	}},
	{"Check", []row{
		{"verify OUT", "check every record"},
		{"repair OUT SAVED", "save the intact records of damaged files"},
	}},
	{"Change", []row{
		{"reshard OUT OTHER", "rewrite them as other shards"},
		{"merge OUT MORE BOTH", "join sets"},
	}},
	{"Use", []row{
		{"export OUT FILE --format csv", "write them as files that other programs read"},
		{"doctor OUT", "measure what bounds training on them"},
	}},
}

// StartText shows the first verbs to know, by task, in lines of width columns.
func StartText(root string, width int) string {
	p := &printer{width: width}
	var rows []row
	for _, s := range starts {
		for _, r := range s.rows {
			rows = append(rows, row{"  " + root + " " + r.term, r.text})
		}
	}
	column := p.column(rows)
	for _, s := range starts {
		p.b.WriteString(s.task + ":\n")
		p.table(rows[:len(s.rows)], column)
		rows = rows[len(s.rows):]
	}
	p.text(fmt.Sprintf("'%[1]s --help' lists all verbs, '%[1]s VERB --help' describes one, and '%[1]s help TOPIC' explains: %[2]s.",
		root, strings.Join(topic.Names(), ", ")))
	return p.b.String()
}

// UnknownVerb is the error for a word that is not a verb of cmd.
func UnknownVerb(cmd *cobra.Command, word string) error {
	if near := Suggest(cmd, word); near != "" {
		return UsageError("unknown verb %q; did you mean %s?", word, near)
	}
	if cmd.HasParent() {
		return UsageError("unknown verb %q; there are: %s", word, strings.Join(Verbs(cmd), ", "))
	}
	return &wrongUsage{err: fmt.Errorf("unknown verb %q", word), help: "The first verbs to know:\n\n" + StartText(cmd.Name(), DefaultWidth)}
}

// UnknownHelp is the error for words after help that are neither a verb nor a topic. Words that lead to
// a flag of a verb get that flag.
func UnknownHelp(cmd *cobra.Command, words []string) error {
	last := words[len(words)-1]
	if near := nearest(last, topic.Names()); near != "" {
		return UsageError("unknown topic %q; did you mean %s?", last, near)
	}
	if !cmd.HasParent() {
		word := strings.TrimLeft(strings.Join(words, "-"), "-")
		for _, verb := range []string{"convert images", "convert table", "reshard"} {
			c, _, err := cmd.Find(strings.Fields(verb))
			if err != nil {
				continue
			}
			if flag := SuggestFlag(c.Flags(), word); flag != "" {
				return UsageError("unknown verb %q; did you mean %s %s?", strings.Join(words, " "), verb, flag)
			}
		}
	}
	return UnknownVerb(cmd, last)
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
