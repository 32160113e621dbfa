// Reads manifests in YAML, decodes those of Kubernetes itself into its Go types, and prints all of them as JSON, one a
// line. A field that a type does not have is an error.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	sigsyaml "sigs.k8s.io/yaml"
)

func main() {
	decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	documents := yaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = print(decoder, document)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func print(decoder runtime.Decoder, document []byte) error {
	json, err := sigsyaml.YAMLToJSONStrict(document)
	if err != nil || string(json) == "null" {
		return err
	}
	if _, _, err := decoder.Decode(document, nil, nil); err != nil && !runtime.IsNotRegisteredError(err) {
		return fmt.Errorf("%w in\n%s", err, document)
	}
	fmt.Println(string(json))
	return nil
}
