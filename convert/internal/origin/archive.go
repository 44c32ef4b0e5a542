package origin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/archive"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Archives is the origin of images that are members of one archive, or of the archives that a glob
// matches. Members are read in place. Members of compressed tars, which can only be read from the
// start, are copied to a temporary file that holds the images of the shards being made.
type Archives struct {
	Src      storage.Location // as given: an archive or a glob
	Archives []*archive.Archive
	Versions []Version        // of each archive, identifying its content on this machine
	Members  []Member         // by Image.Item
	PartsOf  map[int32][]Part // of a WebDataset's samples, by the item of their image; sorted

	spill imageSpill // of compressed archives
}

// Member is a member of one of the archives.
type Member struct {
	Position archive.Position
	Archive  int32
	Hash     [16]byte // of the content, in a compressed archive
}

func (a *Archives) of(p *Image) (*Member, *archive.Archive) {
	m := &a.Members[p.Item]
	return m, a.Archives[m.Archive]
}

func (a *Archives) Place() string { return Absolute(a.Src) }

func (a *Archives) Source(p *Image) string {
	_, in := a.of(p)
	return storage.Base(in.Path())
}

func (a *Archives) Enter(dir string) string {
	return fmt.Sprintf("make the archive of what is in it, as with tar -C %s", jsontext.Readable(dir))
}

// Remote implements origin. Images of compressed archives are on disk when they are read.
func (a *Archives) Remote() bool {
	return slices.ContainsFunc(a.Archives, func(in *archive.Archive) bool { return in.Remote() && in.Seekable() })
}

// Find implements origin: the listing has all images of an archive.
func (a *Archives) Find(context.Context, string) (*Image, string, error) {
	return nil, "", nil
}

// Files implements origin: with a glob, another archive in a directory is a change.
func (a *Archives) Files([]Image) iter.Seq[string] {
	return func(yield func(string) bool) {
		directory := ""
		for _, in := range a.Archives {
			if dir := storage.Dir(in.Path()); in.Path() != a.Src.Path() && dir != directory {
				if directory = dir; !yield(dir) {
					return
				}
			}
			if !yield(in.Path()) {
				return
			}
		}
	}
}

func (a *Archives) Hash(p *Image) string {
	m, in := a.of(p)
	if in.Seekable() {
		return ""
	}
	sum := m.Hash
	for _, part := range a.PartsOf[p.Item] {
		sum = withPart(sum, part.Key, a.Members[part.Item].Hash)
	}
	return hex.EncodeToString(sum[:])
}

func (a *Archives) Read(ctx context.Context, p *Image, buf []byte) ([]byte, setdir.Input, error) {
	_, in := a.of(p)
	if int64(cap(buf)) < p.Size {
		buf = make([]byte, p.Size)
	}
	buf = buf[:p.Size]
	err := a.readMember(ctx, in, p.Item, buf)
	rest := buf[a.Members[p.Item].Position.Size():]
	for _, part := range a.PartsOf[p.Item] {
		if err == nil {
			err = a.readMember(ctx, in, part.Item, rest)
		}
		rest = rest[a.Members[part.Item].Position.Size():]
	}
	if err != nil || !in.Seekable() || !isSettled(in) {
		return buf, setdir.Input{}, err
	}
	return buf, setdir.Input{Key: setdir.InputKey(p.Path), Size: p.Size, Version: p.Version.Text()}, nil
}

// readMember reads a member to the start of dst, which has room for it.
func (a *Archives) readMember(ctx context.Context, in *archive.Archive, item int32, dst []byte) error {
	at := a.Members[item].Position
	if !in.Seekable() {
		return a.spill.readAt(dst[:at.Size()], item)
	}
	_, err := in.Read(ctx, at, dst[:0:at.Size()])
	return err
}

func (a *Archives) Parts(p *Image, data []byte) (image []byte, rest Beside) {
	size := a.Members[p.Item].Position.Size()
	image, data = data[:size], data[size:]
	for _, part := range a.PartsOf[p.Item] {
		size := a.Members[part.Item].Position.Size()
		rest.Features = append(rest.Features, bytesFeature{part.Key, data[:size:size]})
		data = data[size:]
	}
	return image, rest
}

// isSettled reports whether an archive's version reveals a later change.
func isSettled(in *archive.Archive) bool {
	age := time.Since(in.ModTime())
	if in.Remote() {
		return age > 2*plan.Settled || !strings.HasPrefix(in.Version(), storage.Modified)
	}
	return age > plan.Settled
}

// VersionOf identifies the content of an archive: on disk by its size, time and storage.Change.
func VersionOf(in *archive.Archive) string {
	f := plan.NewFingerprint()
	if in.Remote() {
		f.Add(in.Path(), in.Version())
		return f.String()
	}
	f.Add(Absolute(storage.Parse(in.Path())), strconv.FormatInt(in.Size(), 10), strconv.FormatInt(in.ModTime().UnixNano(), 10))
	return archiveVersion(f.String(), in.Change())
}

// EndsRun implements Origin. The listing knows the unusable members, so later errors are errors of
// the archive.
func (a *Archives) EndsRun(error) bool { return true }

// Load implements origin: it copies the images that are in compressed archives to a temporary file.
func (a *Archives) Load(ctx context.Context, temp func() (*os.File, error), images iter.Seq[*Image]) error {
	a.spill.reset(len(a.Members))
	wanted := make([][]int32, len(a.Archives)) // items of each compressed archive
	any := false
	for p := range images {
		m, in := a.of(p)
		if in.Seekable() || !a.spill.want(p.Item) {
			continue
		}
		wanted[m.Archive] = append(wanted[m.Archive], p.Item)
		for _, part := range a.PartsOf[p.Item] {
			wanted[m.Archive] = append(wanted[m.Archive], part.Item)
		}
		any = true
	}
	if !any {
		return nil
	}
	if err := a.spill.open(temp); err != nil {
		return err
	}
	for n, items := range wanted {
		if len(items) == 0 {
			continue
		}
		if err := a.copyMembers(ctx, a.Archives[n], items); err != nil {
			return errors.Join(err, a.Unload())
		}
	}
	return nil
}

// copyMembers appends members of an archive to the temporary file.
func (a *Archives) copyMembers(ctx context.Context, in *archive.Archive, items []int32) error {
	return storage.Reread(ctx, in.Path(), func(ctx context.Context) error { return a.tryCopy(ctx, in, items) })
}

// tryCopy is copyMembers, once.
func (a *Archives) tryCopy(ctx context.Context, in *archive.Archive, items []int32) error {
	byPosition := make(map[archive.Position]int32, len(items))
	for _, item := range items {
		byPosition[a.Members[item].Position] = item
	}
	err := in.Walk(ctx, func(m *archive.Member) error {
		item, ok := byPosition[m.Position]
		if !ok || m.Kind != archive.File {
			return nil
		}
		delete(byPosition, m.Position)
		content, err := m.Content()
		if err != nil {
			return err
		}
		return a.spill.add(item, content)
	})
	if err == nil && len(byPosition) > 0 {
		err = fmt.Errorf("%s: members are not where they were listed: the archive changed while it was read", in.Path())
	}
	return err
}

func (a *Archives) Unload() error { return a.spill.close() }

// Part is a member of a sample other than its image.
type Part struct {
	Key  string // of the feature: the member's extension
	Item int32  // in Archives.Members
}
