package beam

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/command"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// TestNoCredentialTravels looks for the environment's credentials in everything that a runner is
// sent.
func TestNoCredentialTravels(t *testing.T) {
	const secret = "wJalrXUtnFEMIK7MDENGbPxRfiCY"
	for _, name := range []string{"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS"} {
		t.Setenv(name, secret)
	}
	initialise()
	fn := &shardMaker{Args: []string{"convert", "images", "--", "s3://pictures/flowers", "out"}, Dir: t.TempDir(), Plan: "p"}
	edges, _, err := pipeline(fn, []int{0, 1, 2}).Build()
	if err != nil {
		t.Fatal(err)
	}
	marshalled, err := graphx.Marshal(edges, &graphx.Options{Environment: &pipepb.Environment{}})
	if err != nil {
		t.Fatal(err)
	}
	told, err := proto.Marshal(marshalled)
	if err != nil {
		t.Fatal(err)
	}
	sdk.PipelineOptions.LoadOptionsFromFlags(nil)
	options, err := json.Marshal(sdk.PipelineOptions.Export())
	if err != nil {
		t.Fatal(err)
	}
	if len(told) == 0 || bytes.Contains(told, []byte(secret)) || bytes.Contains(options, []byte(secret)) {
		t.Errorf("%d bytes of pipeline and the options %s hold a credential, or nothing", len(told), options)
	}
}

// TestWorkersSayWhatTheyMiss has workers join what they cannot.
func TestWorkersSayWhatTheyMiss(t *testing.T) {
	dir := t.TempDir()
	photos, out := filepath.Join(demo(t), "photos"), filepath.Join(dir, "out")
	fn := &shardMaker{Args: []string{"convert", "images", "--", photos, out}, Dir: dir, Plan: "another"}
	t.Chdir(dir)
	if err := fn.Setup(t.Context()); err == nil || !strings.Contains(err.Error(), "no plan of a running conversion") {
		t.Errorf("without a plan: %v", err)
	}
}

// uncounted is a job server without metrics.
type uncounted struct{ jobpb.JobServiceClient }

func (uncounted) GetJobMetrics(context.Context, *jobpb.GetJobMetricsRequest, ...grpc.CallOption) (*jobpb.GetJobMetricsResponse, error) {
	return nil, errors.New("there are none")
}

// TestJobsEndWellWithoutCounters runs a job on a runner without counters.
func TestJobsEndWellWithoutCounters(t *testing.T) {
	initialise()
	*jobopts.EnvironmentType = "LOOPBACK"
	server, err := inProcess()
	if err != nil {
		t.Fatal(err)
	}
	p := sdk.NewPipeline()
	sdk.ParDo0(p.Root(), end, sdk.Create(p.Root(), "a", "b"))
	j := &submitted{server: uncounted{server}}
	if err := j.submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	defer j.stopWorkers()
	counts, err := j.follow(t.Context(), func(map[string]int64) {})
	if err != nil || counts != nil {
		t.Errorf("%v, %v", counts, err)
	}
}

// TestSetsInStores are those of directories here. A store in memory is this process's, and
// so are the workers.
func TestSetsInStores(t *testing.T) {
	photos, here, there := filepath.Join(demo(t), "photos"), filepath.Join(t.TempDir(), "out"), "mem://"+rand.Text()+"/flowers"
	o := convert.ImageOptions{Options: convert.Options{Shards: 5}}
	if _, err := convert.Images(t.Context(), photos, here, o); err != nil {
		t.Fatal(err)
	}
	for _, status := range []convert.Status{convert.Written, convert.UpToDate} {
		j, err := convert.BeginImages(t.Context(), photos, there, o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := j.Run(t.Context(), func(ctx context.Context) error {
			return makeShards(ctx, &command.Work{Job: j, Args: []string{"into", there}})
		})
		if err != nil || s.Status != status {
			t.Fatalf("%+v, %v, want %s", s, err, status)
		}
	}
	for name, data := range readSet(t, here) {
		if got, err := storage.ReadFile(t.Context(), storage.Join(there, name), 1<<30); err != nil || string(got) != data {
			t.Errorf("%s differs: %v", name, err)
		}
	}
}

// lines is a logger that keeps what is said.
type lines struct {
	mu   sync.Mutex
	said strings.Builder
}

func (l *lines) Log(_ context.Context, _ log.Severity, _ int, s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said.WriteString(s + "\n")
}
