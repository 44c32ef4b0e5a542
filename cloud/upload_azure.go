package cloud

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azblobblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// azureSender uploads an object to Azure: with Put Blob, or with blocks and a list of them. The
// store deletes blocks that are in no list after a week, or when an object of their name is made;
// it does not list them, and cannot delete them sooner.
type azureSender struct {
	target
	store  *bucket
	client *blockblob.Client

	blocks int   // sent, or on their way
	size   int64 // of all
}

// condition is that there be nothing.
func (s *azureSender) condition() *azblobblob.AccessConditions {
	if s.replace {
		return nil
	}
	anything := azcore.ETagAny
	return &azblobblob.AccessConditions{ModifiedAccessConditions: &azblobblob.ModifiedAccessConditions{IfNoneMatch: &anything}}
}

func (s *azureSender) metadata() map[string]*string { return map[string]*string{markName: &s.mark} }

func (s *azureSender) headers() *azblobblob.HTTPHeaders {
	t := contentType
	return &azblobblob.HTTPHeaders{BlobContentType: &t}
}

func (s *azureSender) Put(ctx context.Context, data *storage.Payload) (storage.Object, error) {
	size := data.Len()
	out, err := s.client.Upload(s.store.asked(ctx), data, &blockblob.UploadOptions{HTTPHeaders: s.headers(), Metadata: s.metadata(), AccessConditions: s.condition()})
	if err != nil {
		return storage.Object{}, s.store.refused(err, s.target)
	}
	return storage.Object{Name: s.name, Size: size, ModTime: *out.LastModified, Version: string(*out.ETag)}, nil
}

func (s *azureSender) Begin(context.Context) error { return nil }

// block names a block. The names of all blocks of an object are of the same length.
func (s *azureSender) block(n int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s-%05d", s.mark, n))
}

func (s *azureSender) Part(ctx context.Context, n int, offset int64, data *storage.Payload, last bool) error {
	if last {
		s.blocks, s.size = n+1, offset+data.Len()
	}
	if _, err := s.client.StageBlock(s.store.asked(ctx), s.block(n), data, nil); err != nil {
		return s.store.refused(err, s.target)
	}
	return nil
}

func (s *azureSender) Finish(ctx context.Context) (storage.Object, error) {
	blocks := make([]string, s.blocks)
	for n := range blocks {
		blocks[n] = s.block(n)
	}
	out, err := s.client.CommitBlockList(s.store.asked(ctx), blocks, &blockblob.CommitBlockListOptions{HTTPHeaders: s.headers(), Metadata: s.metadata(), AccessConditions: s.condition()})
	if err != nil {
		return storage.Object{}, s.store.refused(err, s.target)
	}
	return storage.Object{Name: s.name, Size: s.size, ModTime: *out.LastModified, Version: string(*out.ETag)}, nil
}

func (s *azureSender) Discard(context.Context) error { return nil }

func (s *azureSender) FindOwn(ctx context.Context) (storage.Object, error) {
	return s.store.made(ctx, s.target)
}
