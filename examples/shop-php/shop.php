<?php
// A shop with one product: it creates a payment, redirects to the checkout page, and ships once.
// For WooCommerce there is a plugin: docs/woocommerce.md.
// php -S 127.0.0.1:4000 shop.php

const PRICE_RUPIAH = 50_000;
const TOLERANCE_SECONDS = 300;
const ATTEMPTS = 4;

/** Your database: a file with the orders, which this process locks while it changes them. */
function change_orders(callable $change): mixed
{
    $file = fopen(getenv('ORDERS_FILE') ?: __DIR__ . '/orders.json', 'c+');
    flock($file, LOCK_EX);
    $orders = json_decode(stream_get_contents($file) ?: '{}', true, flags: JSON_THROW_ON_ERROR);
    $result = $change($orders);
    ftruncate($file, 0);
    rewind($file);
    fwrite($file, json_encode($orders, JSON_FORCE_OBJECT | JSON_THROW_ON_ERROR));
    fclose($file);
    return $result;
}

/** Returns the address of the checkout page. The idempotency key names the attempt, so a repeat is safe. */
function create_payment(string $orderId): string
{
    $request = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => [
            'Authorization: Bearer ' . getenv('LUNAS_KEY'),
            'Content-Type: application/json',
            "Idempotency-Key: $orderId-1",
        ],
        'content' => json_encode(['amount' => PRICE_RUPIAH, 'merchant_reference_id' => $orderId]),
        'timeout' => 15,
        'ignore_errors' => true,
    ]]);
    for ($attempt = 1; $attempt <= ATTEMPTS; $attempt++) {
        $body = @file_get_contents(getenv('LUNAS_URL') . '/payments', false, $request);
        $headers = $body === false ? [] : $http_response_header;
        $status = (int) (explode(' ', $headers[0] ?? ' 0')[1]);
        $delay = 2 ** $attempt;
        foreach ($headers as $header) {
            if ($status === 201 && preg_match('/^Link: <([^>]+)>; rel="payment"/i', $header, $match)) return $match[1];
            if (preg_match('/^Retry-After: (\d+)/i', $header, $match)) $delay = (int) $match[1];
        }
        if ($status !== 0 && $status !== 429 && $status < 500) break;
        sleep($delay);
    }
    throw new RuntimeException("The payment was not created: $status");
}

function is_genuine(string $header, string $rawBody): bool
{
    $timestamp = '';
    $signatures = [];
    foreach (explode(',', $header) as $part) {
        [$name, $value] = array_pad(explode('=', $part, 2), 2, '');
        if ($name === 't') $timestamp = $value;
        if ($name === 'v1') $signatures[] = $value;
    }
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) return false;
    $expected = hash_hmac('sha256', "$timestamp.$rawBody", getenv('WEBHOOK_SECRET'));
    foreach ($signatures as $signature) {
        if (hash_equals($expected, $signature)) return true;
    }
    return false;
}

/** In one transaction of your database. A webhook can arrive twice, and `settled` can overtake `paid`. */
function record(array $event): void
{
    change_orders(function (array &$orders) use ($event): void {
        $id = $event['merchant_reference_id'];
        if (!isset($orders[$id]) || $event['updated_at'] < $orders[$id]['updatedAt']) return;
        $orders[$id]['status'] = $event['status'];
        $orders[$id]['updatedAt'] = $event['updated_at'];
        $isPaid = in_array($event['status'], ['paid', 'settled'], true);
        if ($isPaid && $orders[$id]['shipped'] === 0) $orders[$id]['shipped'] += 1;
    });
}

function buy(): void
{
    $id = 'ORDER-' . bin2hex(random_bytes(16));
    change_orders(function (array &$orders) use ($id): void {
        $orders[$id] = ['status' => 'new', 'updatedAt' => '', 'shipped' => 0];
    });
    header('Location: ' . create_payment($id), true, 303);
}

function receive(): void
{
    $rawBody = file_get_contents('php://input');
    if (!is_genuine($_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '', $rawBody)) {
        http_response_code(401);
        return;
    }
    $event = json_decode($rawBody, true, flags: JSON_THROW_ON_ERROR);
    if ($event['event'] !== 'ping') record($event);
}

function show_order(string $id): void
{
    $order = change_orders(fn (array $orders) => $orders[$id] ?? null);
    if ($order === null) http_response_code(404);
    header('Content-Type: application/json');
    echo json_encode($order);
}

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
match (true) {
    $path === '/' => print '<form method="post" action="/orders"><button>Buy coffee for Rp 50.000</button></form>',
    $path === '/orders' => buy(),
    $path === '/webhooks' => receive(),
    str_starts_with($path, '/orders/') => show_order(substr($path, strlen('/orders/'))),
    default => http_response_code(404),
};
