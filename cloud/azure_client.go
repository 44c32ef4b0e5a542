package cloud

import (
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

// azureClient returns a client of a container. Credentials come from where gocloud.dev/blob/azureblob
// takes them; its own client cannot be given policies.
func azureClient(service, name string) (*container.Client, error) {
	o := new(container.ClientOptions)
	o.Transport = &http.Client{Transport: ownTransport()}
	o.PerCallPolicies = []policy.Policy{azureLists{}, azureAnswers{}, azureAround{}, new(azureSums)}
	if anonymous() {
		service, _, _ = strings.Cut(service, "?") // after it may be a token
	}
	at, err := url.JoinPath(service, name)
	if err != nil {
		return nil, err
	}
	account, key := os.Getenv("AZURE_STORAGE_ACCOUNT"), os.Getenv("AZURE_STORAGE_KEY")
	connection := os.Getenv("AZURE_STORAGE_CONNECTION_STRING")
	if connection == "" {
		connection = os.Getenv("AZURE_STORAGEBLOB_CONNECTIONSTRING")
	}
	switch {
	case anonymous():
		return container.NewClientWithNoCredential(at, o)
	case account != "" && key != "":
		shared, err := container.NewSharedKeyCredential(account, key)
		if err != nil {
			return nil, err
		}
		return container.NewClientWithSharedKeyCredential(at, shared, o)
	case os.Getenv("AZURE_STORAGE_SAS_TOKEN") != "":
		return container.NewClientWithNoCredential(at, o)
	case connection != "":
		return container.NewClientFromConnectionString(connection, name, o)
	}
	found, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	return container.NewClient(at, found, o)
}
