// Input and output: see verify.mjs.
package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		headers := http.Header{}
		headers.Set("webhook-id", fields[1])
		headers.Set("webhook-timestamp", fields[2])
		headers.Set("webhook-signature", fields[3])
		body, err := base64.StdEncoding.DecodeString(fields[4])
		if err != nil {
			log.Fatal(err)
		}
		webhook, err := standardwebhooks.NewWebhook(fields[0])
		if err != nil {
			log.Fatal(err)
		}
		if webhook.Verify(body, headers) == nil {
			fmt.Println("genuine")
		} else {
			fmt.Println("forged")
		}
	}
}
