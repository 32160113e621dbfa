<?php
const TOLERANCE_SECONDS = 300;

function is_genuine(string $header, string $rawBody, string $secret): bool
{
    $timestamp = '';
    $signatures = [];
    foreach (explode(',', $header) as $part) {
        [$name, $value] = array_pad(explode('=', $part, 2), 2, '');
        if ($name === 't') $timestamp = $value;
        if ($name === 'v1') $signatures[] = $value;
    }
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) return false;
    $expected = hash_hmac('sha256', "$timestamp.$rawBody", $secret);
    foreach ($signatures as $signature) {
        if (hash_equals($expected, $signature)) return true;
    }
    return false;
}

$rawBody = file_get_contents('php://input');
if (!is_genuine($_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '', $rawBody, getenv('WEBHOOK_SECRET'))) {
    http_response_code(401);
    exit;
}
$event = json_decode($rawBody, true, flags: JSON_THROW_ON_ERROR);
error_log("{$event['event']} " . ($event['id'] ?? ''));
http_response_code(200);
