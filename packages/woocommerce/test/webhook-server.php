<?php
/**
 * Receives webhooks over HTTP, on the stub: `php -S 127.0.0.1:PORT webhook-server.php`.
 *
 * @package Lunas_QRIS
 */

require __DIR__ . '/stub/shop.php';

$lunas_qris_request = new WP_REST_Request();
$lunas_qris_request->set_body( file_get_contents( 'php://input' ) );
$lunas_qris_request->set_header( 'x-service-signature', $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '' );
http_response_code( Lunas_QRIS_Webhook::receive( $lunas_qris_request )->get_status() );
