<?php
/**
 * The calls to Lunas.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * Calls the configured Lunas, and nothing else. No call is repeated here.
 *
 * Every result is an array: `status` (0: no usable response), `payment` or `transactions` of the body, and of a
 * rejection `code`, `reason` and `message`.
 */
final class Lunas_QRIS_Client {

	const CREATE_SECONDS = 12;
	const EXPANSIONS     = 'refund,late_payment,expires_at,checkout_url';

	/**
	 * The seconds that a call other than a create may take.
	 *
	 * @var int
	 */
	private $seconds;

	/**
	 * Makes a client for one caller.
	 *
	 * @param int $seconds The limit of a call.
	 */
	public function __construct( $seconds = 8 ) {
		$this->seconds = $seconds;
	}

	/**
	 * Creates a payment, or finds the one that was created with the same key.
	 *
	 * @param string $body JSON.
	 * @param string $key  The idempotency key.
	 * @return array With `checkout_url`, and `payment` in its current status.
	 */
	public function create( $body, $key ) {
		$result = $this->call( 'POST', '/payments', self::CREATE_SECONDS, $body, array( 'Idempotency-Key' => $key ) );
		if ( 201 === $result['status'] && '' !== $result['current_status'] ) {
			$result['payment']['status'] = $result['current_status'];
		}
		return $result;
	}

	/**
	 * Reads a payment with its refund and its late payment.
	 *
	 * @param string $payment_id The id.
	 * @return array
	 */
	public function read( $payment_id ) {
		return $this->call( 'GET', $this->path( $payment_id ) . '?expand=' . self::EXPANSIONS, $this->seconds );
	}

	/**
	 * Lists the payments with this order id.
	 *
	 * @param int $order_id The order.
	 * @return array
	 */
	public function find( $order_id ) {
		$query = '?limit=100&expand=metadata,' . self::EXPANSIONS . '&merchant_reference_id=' . $order_id;
		return $this->call( 'GET', '/transactions' . $query, $this->seconds );
	}

	/**
	 * Cancels a payment that is not paid, or its refund that is still held.
	 *
	 * @param string $payment_id The id.
	 * @return array
	 */
	public function cancel( $payment_id ) {
		return $this->call( 'POST', $this->path( $payment_id ) . '/cancel', $this->seconds );
	}

	/**
	 * Requests the refund of the whole payment.
	 *
	 * @param string $payment_id The id.
	 * @return array
	 */
	public function refund( $payment_id ) {
		return $this->call( 'POST', $this->path( $payment_id ) . '/refund', $this->seconds );
	}

	/**
	 * Checks address and key.
	 *
	 * @return array
	 */
	public function check() {
		return $this->call( 'GET', '/transactions?limit=1', $this->seconds );
	}

	/**
	 * The path of a payment.
	 *
	 * @param string $payment_id The id.
	 * @return string
	 */
	private function path( $payment_id ) {
		return '/payments/' . rawurlencode( $payment_id );
	}

	/**
	 * Calls Lunas once.
	 *
	 * @param string      $method  GET or POST.
	 * @param string      $path    With its query.
	 * @param int         $seconds The limit.
	 * @param string|null $body    JSON.
	 * @param array       $headers More headers.
	 * @return array
	 */
	private function call( $method, $path, $seconds, $body = null, $headers = array() ) {
		$headers['Authorization'] = 'Bearer ' . Lunas_QRIS_Settings::get( 'secret_key' );
		if ( null !== $body ) {
			$headers['Content-Type'] = 'application/json';
		}
		$response = wp_remote_request(
			untrailingslashit( Lunas_QRIS_Settings::get( 'api_url' ) ) . $path,
			array(
				'method'      => $method,
				'timeout'     => $seconds,
				'redirection' => 0,
				'user-agent'  => 'Lunas-QRIS-WooCommerce/' . LUNAS_QRIS_VERSION,
				'headers'     => $headers,
				'body'        => $body,
			)
		);
		$result   = $this->result_of( $response );
		Lunas_QRIS_Notices::record_result( $result );
		return $result;
	}

	/**
	 * The content of a response. One that is not JSON of Lunas counts as none.
	 *
	 * @param array|WP_Error $response Of WordPress.
	 * @return array
	 */
	private function result_of( $response ) {
		$result = array(
			'status'         => 0,
			'payment'        => array(),
			'transactions'   => array(),
			'code'           => '',
			'reason'         => '',
			'message'        => '',
			'checkout_url'   => '',
			'current_status' => '',
		);
		if ( is_wp_error( $response ) ) {
			$result['message'] = $response->get_error_message();
			return $result;
		}
		$status = (int) wp_remote_retrieve_response_code( $response );
		$body   = json_decode( wp_remote_retrieve_body( $response ), true );
		if ( ! is_array( $body ) ) {
			$result['message'] = sprintf( 'HTTP %d', $status );
			return $result;
		}
		$result['status'] = $status;
		foreach ( array( 'payment', 'transactions' ) as $name ) {
			$result[ $name ] = isset( $body[ $name ] ) && is_array( $body[ $name ] ) ? $body[ $name ] : array();
		}
		foreach ( array( 'code', 'message' ) as $name ) {
			$result[ $name ] = isset( $body['error'][ $name ] ) ? (string) $body['error'][ $name ] : '';
		}
		$result['reason']         = (string) wp_remote_retrieve_header( $response, 'x-error-reason' );
		$result['current_status'] = (string) wp_remote_retrieve_header( $response, 'x-payment-status' );
		// Of several headers with this name WordPress has a list: a proxy may add its own.
		$link = implode( ', ', (array) wp_remote_retrieve_header( $response, 'link' ) );
		if ( preg_match( '/<([^>]+)>; rel="payment"/', $link, $match ) ) {
			$result['checkout_url'] = $match[1];
		}
		return $result;
	}
}
