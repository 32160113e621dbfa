<?php
/**
 * The receiver of webhooks.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * Receives the webhooks of Lunas. An event only names an order to read: its status is never used.
 */
final class Lunas_QRIS_Webhook {

	const NAMESPACE_NAME    = 'lunas-qris/v1';
	const LAST_EVENT        = 'lunas_qris_last_event';
	const MAX_BYTES         = 65536;
	const TOLERANCE_SECONDS = 300;
	// With the wait for the lock, a response takes less than 5 s.
	const CALL_SECONDS = 2;

	/**
	 * Adds the route.
	 */
	public static function register_route() {
		register_rest_route(
			self::NAMESPACE_NAME,
			'/webhook',
			array(
				'methods'             => 'POST',
				'callback'            => array( __CLASS__, 'receive' ),
				// The signature decides.
				'permission_callback' => '__return_true',
			)
		);
	}

	/**
	 * Receives one webhook.
	 *
	 * @param WP_REST_Request $request The request.
	 * @return WP_REST_Response
	 */
	public static function receive( $request ) {
		$body = (string) $request->get_body();
		if ( strlen( $body ) > self::MAX_BYTES ) {
			return self::respond( 413 );
		}
		if ( ! self::is_genuine( (string) $request->get_header( 'x-service-signature' ), $body ) ) {
			return self::respond( 401 );
		}
		update_option( self::LAST_EVENT, time(), false );
		$event = json_decode( $body, true );
		return self::respond( is_array( $event ) ? self::apply( $event ) : 200 );
	}

	/**
	 * Brings the order of an event to its payments.
	 *
	 * @param array $event The event.
	 * @return int The status of the response. After 503 Lunas sends the event again.
	 */
	private static function apply( $event ) {
		$order_id   = isset( $event['merchant_reference_id'] ) ? (string) $event['merchant_reference_id'] : '';
		$payment_id = isset( $event['payment_id'] ) ? $event['payment_id'] : ( isset( $event['id'] ) ? $event['id'] : '' );
		// Another shop of the merchant can have other order ids, or the same ones.
		if ( ! ctype_digit( $order_id ) || ! is_string( $payment_id ) || ! self::is_ours( (int) $order_id, $payment_id ) ) {
			return 200;
		}
		return Lunas_QRIS_Sync::run( (int) $order_id, self::CALL_SECONDS, $payment_id ) ? 200 : 503;
	}

	/**
	 * Whether a payment is, or may be, one of an order.
	 *
	 * @param int    $order_id   The order.
	 * @param string $payment_id The payment.
	 * @return bool
	 */
	private static function is_ours( $order_id, $payment_id ) {
		$order = wc_get_order( $order_id );
		if ( ! $order instanceof WC_Order ) {
			return false;
		}
		foreach ( Lunas_QRIS_Attempts::load( $order ) as $attempt ) {
			if ( '' === $attempt['payment_id'] || $payment_id === $attempt['payment_id'] ) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Whether Lunas signed the body within the last minutes. During a rotation there are two signatures.
	 *
	 * @param string $header Such as `t=1790000000,v1=0a…`.
	 * @param string $body   The raw body.
	 * @return bool
	 */
	private static function is_genuine( $header, $body ) {
		$time       = '';
		$signatures = array();
		foreach ( explode( ',', $header ) as $part ) {
			list( $name, $value ) = array_pad( explode( '=', $part, 2 ), 2, '' );
			if ( 't' === $name ) {
				$time = $value;
			} elseif ( 'v1' === $name ) {
				$signatures[] = $value;
			}
		}
		$secret = Lunas_QRIS_Settings::get( 'webhook_secret' );
		if ( '' === $secret || ! ctype_digit( $time ) || abs( time() - (int) $time ) > self::TOLERANCE_SECONDS ) {
			return false;
		}
		$expected = hash_hmac( 'sha256', $time . '.' . $body, $secret );
		foreach ( $signatures as $signature ) {
			if ( hash_equals( $expected, $signature ) ) {
				return true;
			}
		}
		return false;
	}

	/**
	 * A response without content.
	 *
	 * @param int $status The status.
	 * @return WP_REST_Response
	 */
	private static function respond( $status ) {
		return new WP_REST_Response( new stdClass(), $status );
	}
}
