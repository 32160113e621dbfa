// A shop with one product: it creates a payment, redirects to the checkout page, and ships once.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	priceRupiah = 50_000
	tolerance   = 300 * time.Second
	attempts    = 4
)

var (
	lunasURL = os.Getenv("LUNAS_URL")
	apiKey   = os.Getenv("LUNAS_KEY")
	secret   = []byte(os.Getenv("WEBHOOK_SECRET"))
	client   = &http.Client{Timeout: 15 * time.Second}
	checkout = regexp.MustCompile(`<([^>]+)>; rel="payment"`)
)

type order struct {
	Status    string `json:"status"`
	UpdatedAt string `json:"updatedAt"`
	Shipped   int    `json:"shipped"`
}

// Your database: the orders by their ids.
var (
	lock   sync.Mutex
	orders = map[string]*order{}
)

// createPayment returns the address of the checkout page. The idempotency key names the attempt, so a repeat is safe.
func createPayment(orderID string) (string, error) {
	var last error
	for attempt := 1; attempt <= attempts; attempt++ {
		body, _ := json.Marshal(map[string]any{"amount": priceRupiah, "merchant_reference_id": orderID})
		request, err := http.NewRequest("POST", lunasURL+"/payments", bytes.NewReader(body))
		if err != nil {
			return "", err
		}
		request.Header.Set("Authorization", "Bearer "+apiKey)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", orderID+"-1")
		delay := time.Duration(attempt) * time.Second
		response, err := client.Do(request)
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
		switch {
		case err != nil:
			last = err
		case response.StatusCode == http.StatusCreated:
			return checkout.FindStringSubmatch(response.Header.Get("Link"))[1], nil
		case response.StatusCode != http.StatusTooManyRequests && response.StatusCode < 500:
			return "", errors.New(response.Status)
		default:
			last = errors.New(response.Status)
			if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
				delay = time.Duration(seconds) * time.Second
			}
		}
		time.Sleep(delay)
	}
	return "", last
}

func isGenuine(header string, rawBody []byte) bool {
	timestamp := ""
	var signatures []string
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "t":
			timestamp = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	expected := mac.Sum(nil)
	for _, signature := range signatures {
		given, err := hex.DecodeString(signature)
		if err == nil && hmac.Equal(given, expected) {
			return true
		}
	}
	return false
}

type event struct {
	Event               string `json:"event"`
	MerchantReferenceID string `json:"merchant_reference_id"`
	Status              string `json:"status"`
	UpdatedAt           string `json:"updated_at"`
}

// record runs in one transaction of your database. A webhook can arrive twice, and `settled` can overtake `paid`.
func record(received event) {
	lock.Lock()
	defer lock.Unlock()
	known := orders[received.MerchantReferenceID]
	if known == nil || received.UpdatedAt < known.UpdatedAt {
		return
	}
	known.Status, known.UpdatedAt = received.Status, received.UpdatedAt
	if (received.Status == "paid" || received.Status == "settled") && known.Shipped == 0 {
		known.Shipped++
	}
}

func buy(w http.ResponseWriter, r *http.Request) {
	random := make([]byte, 16)
	rand.Read(random)
	id := fmt.Sprintf("ORDER-%x", random)
	lock.Lock()
	orders[id] = &order{Status: "new"}
	lock.Unlock()
	address, err := createPayment(id)
	if err != nil {
		http.Error(w, "The payment was not created. Please try again later.", http.StatusBadGateway)
		return
	}
	http.Redirect(w, r, address, http.StatusSeeOther)
}

func showOrder(w http.ResponseWriter, r *http.Request) {
	lock.Lock()
	defer lock.Unlock()
	known := orders[strings.TrimPrefix(r.URL.Path, "/orders/")]
	if known == nil {
		http.NotFound(w, r)
		return
	}
	json.NewEncoder(w).Encode(known)
}

func receive(w http.ResponseWriter, r *http.Request) {
	rawBody, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil || !isGenuine(r.Header.Get("X-Service-Signature"), rawBody) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var received event
	if err := json.Unmarshal(rawBody, &received); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	record(received)
}

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<form method="post" action="/orders"><button>Buy coffee for Rp 50.000</button></form>`)
	})
	http.HandleFunc("/orders", buy)
	http.HandleFunc("/orders/", showOrder)
	http.HandleFunc("/webhooks", receive)
	port := os.Getenv("PORT")
	if port == "" {
		port = "4000"
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}
