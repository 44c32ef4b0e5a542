package card

import "encoding/json"

// conformsTo is the specification that croissant.json follows.
const conformsTo = "http://mlcommons.org/croissant/1.1"

// jsonldContext is the context of Croissant 1.1: the terms of the specification's appendix and the
// few more that mlcroissant expects, with schema.org's names under https as mlcroissant requires.
var jsonldContext = json.RawMessage(`{
  "@language": "en",
  "@vocab": "https://schema.org/",
  "annotation": "cr:annotation",
  "arrayShape": "cr:arrayShape",
  "citeAs": "cr:citeAs",
  "column": "cr:column",
  "conformsTo": "dct:conformsTo",
  "containedIn": "cr:containedIn",
  "cr": "http://mlcommons.org/croissant/",
  "data": {"@id": "cr:data", "@type": "@json"},
  "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
  "dct": "http://purl.org/dc/terms/",
  "description": {"@container": "@language"},
  "equivalentProperty": "cr:equivalentProperty",
  "examples": {"@id": "cr:examples", "@type": "@json"},
  "excludes": "cr:excludes",
  "extract": "cr:extract",
  "field": "cr:field",
  "fileObject": "cr:fileObject",
  "fileProperty": "cr:fileProperty",
  "fileSet": "cr:fileSet",
  "format": "cr:format",
  "includes": "cr:includes",
  "isArray": "cr:isArray",
  "isLiveDataset": "cr:isLiveDataset",
  "jsonPath": "cr:jsonPath",
  "key": "cr:key",
  "md5": "cr:md5",
  "name": {"@container": "@language"},
  "parentField": "cr:parentField",
  "path": "cr:path",
  "rai": "http://mlcommons.org/croissant/RAI/",
  "readLines": "cr:readLines",
  "recordSet": "cr:recordSet",
  "references": "cr:references",
  "regex": "cr:regex",
  "repeated": "cr:repeated",
  "replace": "cr:replace",
  "samplingRate": "cr:samplingRate",
  "sc": "https://schema.org/",
  "sdVersion": "cr:sdVersion",
  "separator": "cr:separator",
  "source": "cr:source",
  "subField": "cr:subField",
  "transform": "cr:transform",
  "unArchive": "cr:unArchive",
  "value": "cr:value"
}`)

// The objects of Croissant, as far as cards have them.
type (
	dataset struct {
		Context       json.RawMessage `json:"@context"`
		Type          string          `json:"@type"`
		ConformsTo    string          `json:"conformsTo"`
		Name          string          `json:"name"`
		Description   string          `json:"description"`
		License       string          `json:"license,omitempty"`
		URL           string          `json:"url,omitempty"`
		Creator       *agent          `json:"creator,omitempty"`
		DatePublished string          `json:"datePublished,omitempty"`
		Version       string          `json:"version"`
		CiteAs        string          `json:"citeAs,omitempty"`
		IsBasedOn     string          `json:"isBasedOn,omitempty"`
		Distribution  []resource      `json:"distribution"`
		RecordSets    []recordSet     `json:"recordSet,omitempty"`
	}
	agent struct {
		Type string `json:"@type"`
		Name string `json:"name"`
	}
	// resource is a FileObject or a FileSet.
	resource struct {
		Type           string   `json:"@type"`
		ID             string   `json:"@id"`
		Name           string   `json:"name"`
		Description    string   `json:"description,omitempty"`
		ContentURL     string   `json:"contentUrl,omitempty"`
		ContentSize    string   `json:"contentSize,omitempty"`
		EncodingFormat string   `json:"encodingFormat"`
		SHA256         string   `json:"sha256,omitempty"`
		Includes       []string `json:"includes,omitempty"`
	}
	recordSet struct {
		Type        string           `json:"@type"`
		ID          string           `json:"@id"`
		Name        string           `json:"name"`
		Description string           `json:"description,omitempty"`
		DataType    string           `json:"dataType,omitempty"`
		Key         *reference       `json:"key,omitempty"`
		Fields      []field          `json:"field"`
		Data        []map[string]any `json:"data,omitempty"`
	}
	field struct {
		Type       string      `json:"@type"`
		ID         string      `json:"@id"`
		Name       string      `json:"name"`
		DataType   string      `json:"dataType"`
		IsArray    bool        `json:"isArray,omitempty"`
		ArrayShape string      `json:"arrayShape,omitempty"`
		References *fieldLink  `json:"references,omitempty"`
		Source     *dataSource `json:"source,omitempty"`
	}
	reference struct {
		ID string `json:"@id"`
	}
	fieldLink struct {
		Field reference `json:"field"`
	}
	dataSource struct {
		FileObject reference `json:"fileObject"`
		Extract    extract   `json:"extract"`
	}
	extract struct {
		Column string `json:"column"`
	}
)
