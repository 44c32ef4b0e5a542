package survey

import (
	"context"
	"io"
	"path"
	"strings"

	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/textfile"
)

const (
	namesHead   = 64 << 10 // bytes of a text that are looked at
	mostDirs    = 50       // directories below that of the images
	mostLookups = 5000     // files that are looked for
)

// NamesImages reports whether the beginning of a text file, a table or JSON, has the name of an image that
// is in a local directory, or in one directly below it; the name may lack its extension. It makes at most
// a few thousand lookups, however large the directory is. For a directory in a store, it is true.
func NamesImages(ctx context.Context, file, dir string) bool {
	at := storage.Parse(dir)
	if at.Remote() {
		return true
	}
	dirs := []storage.Location{at}
	for e, err := range at.Entries(ctx) {
		if err != nil || len(dirs) > mostDirs {
			break
		}
		if e.IsDir() && !imagetree.Hidden(e.Name()) {
			dirs = append(dirs, at.Join(e.Name()))
		}
	}
	lookups := 0
	is := func(at storage.Location) bool {
		lookups++
		st, err := at.Stat(ctx)
		return err == nil && !st.IsDir()
	}
	for _, word := range words(ctx, file) {
		named := imagetree.IsImage(word)
		for _, dir := range dirs {
			if lookups > mostLookups || ctx.Err() != nil {
				return false
			}
			if named && is(dir.Join(word)) {
				return true
			}
			for _, ext := range imagetree.Extensions {
				if !named && is(dir.Join(word+ext)) {
					return true
				}
			}
		}
	}
	return false
}

// words returns what may be names of files in the beginning of a text, each once.
func words(ctx context.Context, file string) (words []string) {
	f, err := textfile.Open(ctx, file)
	if err != nil {
		return nil
	}
	in, err := f.Stream(ctx)
	if err != nil {
		return nil
	}
	defer in.Close()
	head := make([]byte, namesHead)
	n, _ := io.ReadFull(in, head)
	seen := map[string]bool{}
	for word := range strings.FieldsFuncSeq(string(head[:n]), func(r rune) bool { return strings.ContainsRune(",;\t|\"\r\n{}[]", r) }) {
		word = strings.TrimSpace(strings.ReplaceAll(word, `\`, "/"))
		if clean := path.Clean("/" + word)[1:]; word != "" && len(word) < 256 && !seen[word] && !strings.ContainsRune(word, 0) && clean == strings.TrimPrefix(word, "./") {
			seen[word] = true
			words = append(words, clean)
		}
	}
	return words
}
