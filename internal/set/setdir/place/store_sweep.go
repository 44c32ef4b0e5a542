package place

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/tfrec/tfrec/internal/store/storage"
)

func (f *storeDirectory) Sweep(ours func(string) (bool, error)) error {
	if err := f.mayWrite(); err != nil {
		return f.failed("sweep", "", err)
	}
	store, _, err := f.at("")
	if err != nil {
		return f.failed("sweep", "", err)
	}
	uploads, err := f.unfinished(ours)
	if err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, errors.ErrUnsupported) { // a run does not depend on listing uploads
		return err
	}
	for _, u := range uploads {
		if err := store.(storage.Unfinished).Discard(f.ctx, u); err != nil {
			return f.failed("discard the upload of", u.Name, err)
		}
	}
	claims, err := f.deadClaims()
	if err != nil {
		return err
	}
	var names []string
	for _, c := range claims {
		names = append(names, f.relative(c.Name))
	}
	return f.Remove(names...)
}

// Leftovers implements directory. Dead claims on the directory itself were removed when it was
// claimed.
func (f *storeDirectory) Leftovers(ours func(string) (bool, error)) ([]Leftover, error) {
	uploads, err := f.unfinished(ours)
	if err != nil {
		return nil, err
	}
	claims, err := f.deadClaims()
	if err != nil {
		return nil, err
	}
	var left []Leftover
	for _, u := range uploads {
		left = append(left, Leftover{Kind: LeftUpload, Name: f.relative(u.Name), Begun: u.Begun})
	}
	for _, c := range append(f.claim.Cleared(), claims...) {
		left = append(left, Leftover{Kind: LeftClaim, Name: f.relative(c.Name), Bytes: c.Size, Begun: c.ModTime})
	}
	return left, nil
}

// unfinished returns our uploads that were neither committed nor aborted. As long as this process
// has exclusive use of the directory and uploads nothing itself, they will not be continued.
func (f *storeDirectory) unfinished(ours func(string) (bool, error)) ([]storage.Leftover, error) {
	store, at, err := f.at("")
	if err != nil {
		return nil, f.failed("list uploads in", "", err)
	}
	keeps, ok := store.(storage.Unfinished)
	if !ok {
		return nil, nil
	}
	var left []storage.Leftover
	for u, err := range keeps.Unfinished(f.ctx, prefixOf(at)) {
		if err != nil {
			return nil, f.failed("list uploads in", "", err)
		}
		is, err := ours(f.relative(u.Name))
		if err != nil {
			return nil, err
		}
		if is {
			left = append(left, u)
		}
	}
	return left, nil
}

// deadClaims returns the expired claims in TogetherDir.
func (f *storeDirectory) deadClaims() ([]storage.Object, error) {
	_, at, err := f.at(TogetherDir)
	if err != nil {
		return nil, f.failed("list", TogetherDir, err)
	}
	dead, err := f.claim.Dead(f.ctx, prefixOf(at))
	return dead, f.failed("list", TogetherDir, err)
}

// relative returns the name in this directory of an object of the store.
func (f *storeDirectory) relative(name string) string {
	_, at, err := f.at("")
	if err != nil {
		return name
	}
	return path.Clean(strings.TrimPrefix(name, prefixOf(at)))
}

// prefixOf returns the prefix of the names of all objects in a directory.
func prefixOf(directory string) string {
	if directory == "" {
		return ""
	}
	return directory + "/"
}
