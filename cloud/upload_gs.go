package cloud

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"google.golang.org/api/googleapi"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// gsSender carries an object into Google Cloud Storage: by one multipart request, or by a
// resumable upload, whose parts go in order
// (https://cloud.google.com/storage/docs/json_api/v1/how-tos/upload). Google's own client
// is not used for it: what it repeats, and how long, is its own affair.
type gsSender struct {
	target
	store  *bucket
	client *http.Client
	server string
	bucket string

	session string // the URL that parts are sent to
	crc     uint32 // CRC-32C of the parts so far
	made    storage.Object
	// unsure is the store's response to the last part if it did not describe the object.
	unsure error
}

// gsObject is the store's description of an object.
type gsObject struct {
	Size       int64     `json:"size,string"`
	Generation string    `json:"generation"`
	Updated    time.Time `json:"updated"`
}

// gsMetadata is the metadata of an object.
type gsMetadata struct {
	Name        string            `json:"name"`
	ContentType string            `json:"contentType"`
	CRC32C      string            `json:"crc32c,omitempty"`
	Metadata    map[string]string `json:"metadata"`
}

func (s *gsSender) metadata() gsMetadata {
	return gsMetadata{Name: gsName(s.name), ContentType: contentType, Metadata: map[string]string{markName: s.mark}}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// written is a CRC-32C as the store has them.
func written(crc uint32) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc))
}

// gsEndpoint returns the server that the environment names.
func gsEndpoint() string {
	emulator := os.Getenv("STORAGE_EMULATOR_HOST")
	switch {
	case emulator == "":
		return "https://storage.googleapis.com"
	case strings.Contains(emulator, "://"):
		return strings.TrimSuffix(emulator, "/")
	}
	return "http://" + emulator
}

// beginning is the URL that an upload of a kind begins at.
func (s *gsSender) beginning(kind string) string {
	query := url.Values{"uploadType": {kind}, "name": {gsName(s.name)}}
	if !s.replace {
		query.Set("ifGenerationMatch", "0")
	}
	return s.server + "/upload/storage/v1/b/" + url.PathEscape(s.bucket) + "/o?" + query.Encode()
}

// ask makes a request and returns the answer, whose body has been read.
func (s *gsSender) ask(ctx context.Context, method, to string, header map[string]string, body io.Reader, length int64) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, to, body)
	if err != nil {
		return nil, nil, err
	}
	r.ContentLength = length
	for name, value := range header {
		r.Header.Set(name, value)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		if e := (*url.Error)(nil); errors.As(err, &e) {
			err = e.Err // without the URL, which for a session is as good as a password
		}
		return nil, nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return nil, nil, err
	}
	if answer.StatusCode != http.StatusPermanentRedirect { // which says here that a part has come
		err = googleapi.CheckResponseWithBody(answer, data)
	}
	return answer, data, err
}

// object parses the store's description of the object that was made.
func (s *gsSender) object(data []byte) (storage.Object, error) {
	var o gsObject
	if err := json.Unmarshal(data, &o); err != nil || o.Generation == "" {
		return storage.Object{}, fmt.Errorf("the server says of the object that was written %.100q", data)
	}
	return storage.Object{Name: s.name, Size: o.Size, ModTime: o.Updated, Version: o.Generation}, nil
}

func (s *gsSender) Put(ctx context.Context, data *storage.Payload) (storage.Object, error) {
	m := s.metadata()
	m.CRC32C = written(crc32.Checksum(data.Bytes(), castagnoli))
	about, err := json.Marshal(m)
	if err != nil {
		return storage.Object{}, err
	}
	boundary := "tfrec-" + s.mark
	head := fmt.Appendf(nil, "--%s\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n%s\r\n--%s\r\nContent-Type: %s\r\n\r\n", boundary, about, boundary, contentType)
	tail := fmt.Appendf(nil, "\r\n--%s--\r\n", boundary)
	body := io.MultiReader(bytes.NewReader(head), data, bytes.NewReader(tail))
	_, answer, err := s.ask(ctx, http.MethodPost, s.beginning("multipart"), map[string]string{"Content-Type": "multipart/related; boundary=" + boundary},
		body, int64(len(head))+data.Len()+int64(len(tail)))
	if err != nil {
		return storage.Object{}, s.store.refused(err, s.target)
	}
	return s.object(answer)
}

func (s *gsSender) Begin(ctx context.Context) error {
	about, err := json.Marshal(s.metadata())
	if err != nil {
		return err
	}
	answer, _, err := s.ask(ctx, http.MethodPost, s.beginning("resumable"), map[string]string{
		"Content-Type": "application/json; charset=UTF-8", "X-Upload-Content-Type": contentType,
	}, bytes.NewReader(about), int64(len(about)))
	if err != nil {
		return s.store.refused(err, s.target)
	}
	if s.session = answer.Header.Get("Location"); s.session == "" {
		return errors.New("the server began a resumable upload without a place for it")
	}
	return nil
}

func (s *gsSender) Part(ctx context.Context, _ int, offset int64, data *storage.Payload, last bool) error {
	end := offset + data.Len()
	total := "*"
	if last {
		total = fmt.Sprint(end)
	}
	crc := crc32.Update(s.crc, castagnoli, data.Bytes())
	header := map[string]string{"Content-Type": contentType, "Content-Range": fmt.Sprintf("bytes %d-%d/%s", offset, end-1, total)}
	if last {
		header["X-Goog-Hash"] = "crc32c=" + written(crc)
	}
	answer, text, err := s.ask(ctx, http.MethodPut, s.session, header, data, data.Len())
	if err != nil {
		err = s.refused(err)
		if last && (errors.Is(err, storage.ErrGone) || errors.Is(err, fs.ErrExist)) {
			s.unsure, err = err, nil // a request before may have made the object: Finish looks
		}
		return err
	}
	if last {
		s.made, err = s.object(text)
		return err
	}
	if took := "bytes=0-" + fmt.Sprint(end-1); answer.Header.Get("Range") != took {
		return fmt.Errorf("the server has of an upload %q, and not %q", answer.Header.Get("Range"), took)
	}
	s.crc = crc
	return nil
}

// refused is an error of a request that sends a part.
func (s *gsSender) refused(err error) error {
	if status := s.store.status(err); status == http.StatusNotFound || status == http.StatusGone {
		return storage.ErrGone
	}
	return s.store.refused(err, s.target)
}

func (s *gsSender) Finish(ctx context.Context) (storage.Object, error) {
	if s.unsure == nil {
		return s.made, nil
	}
	is, err := s.FindOwn(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		err = s.unsure
	}
	return is, err
}

func (s *gsSender) Discard(ctx context.Context) error {
	_, _, err := s.ask(ctx, http.MethodDelete, s.session, nil, http.NoBody, 0)
	if err == nil || s.store.status(err) == statusClosed {
		return nil
	}
	if err = s.refused(err); errors.Is(err, storage.ErrGone) {
		return nil
	}
	return err
}

// statusClosed is the status of requests to an upload that has been cancelled.
const statusClosed = 499

func (s *gsSender) FindOwn(ctx context.Context) (storage.Object, error) {
	return s.store.made(ctx, s.target)
}
