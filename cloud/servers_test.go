package cloud

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob/azureblob"

	"github.com/tfrec/tfrec/internal/dev/freeport"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// serversIn names the directory that `make servers` builds the servers into.
const serversIn = "TFREC_SERVERS"

// server finds a server's program. Without one, the test is skipped.
func server(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv(serversIn)
	if dir == "" {
		t.Skipf("%s is not set: `make cloud-test` builds the servers and sets it", serversIn)
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s has no %s: %v", serversIn, name, err)
	}
	return path
}

// lastServer is the process of the server that was started last.
var lastServer int

// start runs a server until the test ends, and waits until its port is open.
func start(t testing.TB, port int, program string, args ...string) {
	t.Helper()
	c := exec.Command(program, args...)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = log, log
	p := testwait.Start(t, c)
	lastServer = c.Process.Pid
	t.Cleanup(func() {
		p.Process.Kill()
		p.Wait()
		log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("what %s said:\n%.1500s", filepath.Base(program), text)
		}
	})
	testwait.Until(func() bool {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			conn.Close()
		}
		return err == nil || p.Ended()
	})
	if p.Ended() {
		t.Fatalf("%s does not listen: %v", filepath.Base(program), p.Wait())
	}
}

const (
	testKey    = "tfrec-test"
	testSecret = "not-a-secret-but-it-must-not-be-seen"
)

// s3Server runs an S3 server on the directory dir, whose directories are its buckets,
// and has the environment name it. It returns its address.
func s3Server(t testing.TB, dir string) string {
	t.Helper()
	port := freeport.Next(t)
	start(t, port, server(t, "versitygw"), "--access", testKey, "--secret", testSecret, "--region", "us-east-1",
		"--keep-alive", "--port", fmt.Sprintf("127.0.0.1:%d", port), "posix", dir)
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	useS3(t, address)
	return address
}

// onMinIO in the environment has MinIO serve S3's protocol where a test needs an empty bucket, and
// versitygw otherwise.
const onMinIO = "TFREC_TEST_MINIO"

// emptyS3Server runs an S3 server with an empty bucket.
func emptyS3Server(t testing.TB) string {
	t.Helper()
	if os.Getenv(onMinIO) == "" {
		return s3Server(t, bucketDirectory(t))
	}
	t.Setenv("MINIO_ROOT_USER", testKey)
	t.Setenv("MINIO_ROOT_PASSWORD", testSecret)
	port := freeport.Next(t)
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	start(t, port, server(t, "minio"), "server", "--quiet", "--address", fmt.Sprintf("127.0.0.1:%d", port), t.TempDir())
	useS3(t, address)
	client := s3.New(s3.Options{BaseEndpoint: &address, UsePathStyle: true, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider(testKey, testSecret, "")})
	if _, err := storage.Retry(t.Context(), func(ctx context.Context) (*s3.CreateBucketOutput, error) {
		return client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String("bucket")})
	}); err != nil {
		t.Fatal(err)
	}
	return address
}

// useS3 has the environment name an S3 server.
func useS3(t testing.TB, address string) {
	for name, value := range s3Environment(address) {
		t.Setenv(name, value)
	}
}

// s3Environment names an S3 server.
func s3Environment(address string) map[string]string {
	return map[string]string{
		"AWS_ENDPOINT_URL": address, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": testKey, "AWS_SECRET_ACCESS_KEY": testSecret,
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	}
}

// gcsServer runs a server of Google's protocol on the directory dir.
func gcsServer(t testing.TB, dir string) string {
	t.Helper()
	port := freeport.Next(t)
	start(t, port, server(t, "fake-gcs-server"), "-scheme", "http", "-host", "127.0.0.1", "-port", fmt.Sprint(port),
		"-public-host", fmt.Sprintf("127.0.0.1:%d", port), "-backend", "memory", "-data", dir)
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	useGCS(t, address)
	return address
}

// useGCS has the environment name a server of Google's protocol.
func useGCS(t testing.TB, address string) {
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(address, "http://"))
}

// azureServer runs Azurite, a server of Azure's protocol, with an empty container.
func azureServer(t testing.TB, container string) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Azurite needs node, which is not there")
	}
	if dir := os.Getenv(serversIn); dir != "" {
		if _, err := os.Stat(filepath.Join(dir, "azurite")); err != nil {
			t.Skip("Azurite is not installed: `make cloud-test` installs it where npm is there")
		}
	}
	program := server(t, filepath.Join("azurite", "node_modules", "azurite", "dist", "src", "blob", "main.js"))
	t.Setenv("AZURITE_ACCOUNTS", testAccount+":"+testAccountKey)
	port := freeport.Next(t)
	start(t, port, node, program, "--blobHost", "127.0.0.1", "--blobPort", fmt.Sprint(port), "--location", t.TempDir(), "--silent", "--disableTelemetry", "--skipApiVersionCheck")
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	useAzure(t, address)
	client, err := azureblob.NewDefaultClient(azureblob.ServiceURL(address+"/"+testAccount), azureblob.ContainerName(container))
	if err == nil {
		_, err = client.Create(t.Context(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// azureServerOf is azureServer with what is in the directory bucket in dir.
func azureServerOf(t testing.TB, dir string) string {
	t.Helper()
	address := azureServer(t, "bucket")
	store := opened(t, "azblob://bucket")
	for name, data := range files(t, filepath.Join(dir, "bucket")) {
		if _, err := storage.Put(t.Context(), store, strings.TrimPrefix(name, "/"), []byte(data), storage.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return address
}

const testAccount = "tfrectest"

var testAccountKey = base64.StdEncoding.EncodeToString([]byte(testSecret))

// useAzure has the environment name a server of Azure's protocol.
func useAzure(t testing.TB, address string) {
	for name, value := range map[string]string{
		"AZURE_STORAGE_ACCOUNT": testAccount, "AZURE_STORAGE_KEY": testAccountKey, "AZURE_STORAGE_PROTOCOL": "http",
		"AZURE_STORAGE_DOMAIN":            strings.TrimPrefix(address, "http://"),
		"AZURE_STORAGE_CONNECTION_STRING": "", "AZURE_STORAGE_SAS_TOKEN": "",
	} {
		t.Setenv(name, value)
	}
}
