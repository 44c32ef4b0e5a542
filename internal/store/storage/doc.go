// Package storage opens paths: local files or, for URLs such as s3://bucket/key, objects in a store
// whose scheme the build has registered. Paths of both kinds have directories, base names and
// globs. Local paths are passed to package os unchanged, without extra cost. To use a path several
// times, parse it once into a Location.
//
//	f, err := storage.Open(ctx, "s3://bucket/train.tfrecord")
//	defer f.Close()
//
// Each part uses those below it:
//
//	open.go, list.go    files and directories, local or in a store
//	object.go, ahead.go reads an object, ahead of its reader; refetch.go reads it again
//	upload.go           writes an object in parts
//	cache.go            keeps blocks of objects on a disk
//	retry.go, hedge.go  repeat requests; limiter.go lets them take turns
//	network.go, pace.go limits on silence and speed; quiet.go reports silent stores
//	store.go, sum.go    the interface of stores, their registry, checksums
//	location.go         parsed paths
//
// Paths flow in, bytes flow out. All bytes of an object are of one version, and are held to the
// checksum that the store states. A failed request is repeated here and nowhere above. URLs in
// errors never have credentials.
package storage
