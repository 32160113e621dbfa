<?php
/**
 * Lunas for the scenarios.
 *
 * @package Lunas_QRIS
 */

/**
 * Responds as docs/contract.md has it, from a file that several processes share. A scenario decides what happens to a
 * payment. The test with the real Lunas is test/slow/documents/woocommerce.test.ts.
 */
final class Fake_Lunas {

	const URL    = 'https://lunas.example';
	const KEY    = 'sk_test_1';
	const SECRET = 'whsec_dGVzdA';

	/**
	 * The payments and calls.
	 *
	 * @var Test_Store
	 */
	private $store;

	/**
	 * Opens the file.
	 *
	 * @param string $directory Its directory.
	 */
	public function __construct( $directory ) {
		$this->store = new Test_Store( $directory . '/lunas.json' );
	}

	/**
	 * Responds instead of the network.
	 */
	public function connect() {
		add_filter( 'pre_http_request', array( $this, 'intercept' ), 10, 3 );
	}

	/**
	 * Forgets everything.
	 */
	public function reset() {
		$this->store->change(
			static function ( &$content ) {
				$content = array(
					'payments' => array(),
					'calls'    => array(),
					'faults'   => array(),
				);
			}
		);
	}

	/**
	 * Changes a payment.
	 *
	 * @param string $payment_id Its id.
	 * @param array  $changes    Its members.
	 */
	public function set( $payment_id, $changes ) {
		$this->store->change(
			static function ( &$content ) use ( $payment_id, $changes ) {
				$content['payments'][ $payment_id ] = array_merge( $content['payments'][ $payment_id ], $changes );
			}
		);
	}

	/**
	 * Takes a payment to a status.
	 *
	 * @param string $payment_id Its id.
	 * @param string $status     The status.
	 */
	public function to( $payment_id, $status ) {
		$changes = array( 'status' => $status );
		if ( in_array( $status, array( 'paid', 'settled', 'refund_processing', 'refund_failed', 'refunded' ), true ) ) {
			$changes['paid_at'] = gmdate( 'c' );
		}
		$this->set( $payment_id, $changes );
	}

	/**
	 * Makes the next calls of a kind fail.
	 *
	 * @param string $call  The first letters, such as `POST /payments`; or the last ones, such as `/refund`.
	 * @param string $kind  As in intercept: lost_request, http_404, kill_after, and others; else a reason of 400.
	 * @param int    $times How many.
	 */
	public function fail( $call, $kind, $times = 1 ) {
		$this->store->change(
			static function ( &$content ) use ( $call, $kind, $times ) {
				$content['faults'][] = array( $call, $kind, $times );
			}
		);
	}

	/**
	 * Ends all faults.
	 */
	public function recover() {
		$this->store->change(
			static function ( &$content ) {
				$content['faults'] = array();
			}
		);
	}

	/**
	 * The payments, the oldest first.
	 *
	 * @return array[]
	 */
	public function payments() {
		return array_values( (array) $this->store->get( 'payments' ) );
	}

	/**
	 * The calls since the last reset.
	 *
	 * @param string $start The first letters of those that count.
	 * @return array[] Method with path, body and key.
	 */
	public function calls( $start = '' ) {
		return array_values(
			array_filter(
				(array) $this->store->get( 'calls' ),
				static function ( $call ) use ( $start ) {
					return '' === $start || 0 === strpos( $call[0], $start );
				}
			)
		);
	}

	/**
	 * Responds to a request of WordPress.
	 *
	 * @param mixed  $early Of other filters.
	 * @param array  $args  The arguments of the request.
	 * @param string $url   The address.
	 * @return mixed
	 */
	public function intercept( $early, $args, $url ) {
		if ( 0 !== strpos( $url, self::URL . '/' ) ) {
			return $early;
		}
		$path  = substr( $url, strlen( self::URL ) );
		$call  = array( $args['method'] . ' ' . $path, (string) $args['body'] );
		$fault = $this->next_fault( $call[0] );
		if ( 'kill_before' === $fault ) {
			posix_kill( getmypid(), SIGKILL );
		}
		if ( 'lost_request' === $fault ) {
			return new WP_Error( 'http_request_failed', 'cURL error 28: Operation timed out' );
		}
		if ( 'http_404' === $fault ) {
			return $this->error( 404, 'not_found', 'payment_unknown', 'There is no such transaction.' );
		}
		if ( 'http_500' === $fault ) {
			return $this->error( 500, 'server_error', '', 'The request could not be processed.' );
		}
		$response = $this->store->change(
			function ( &$content ) use ( $args, $path, $call, $fault ) {
				$content['calls'][] = $call;
				if ( 'Bearer ' . self::KEY !== $args['headers']['Authorization'] ) {
					return $this->error( 401, 'invalid_api_key', 'key_unknown', 'The key is mistyped.' );
				}
				if ( ! in_array( $fault, array( '', 'lost_response', 'kill_after' ), true ) ) {
					return $this->error( 400, 'payment_create_failed', $fault, $fault . ' is rejected.' );
				}
				return $this->respond( $content['payments'], $args, $path );
			}
		);
		if ( 'kill_after' === $fault ) {
			posix_kill( getmypid(), SIGKILL );
		}
		return 'lost_response' === $fault ? new WP_Error( 'http_request_failed', 'cURL error 28' ) : $response;
	}

	/**
	 * Takes the next fault of a call.
	 *
	 * @param string $call Method and path.
	 * @return string Empty: none.
	 */
	private function next_fault( $call ) {
		return $this->store->change(
			static function ( &$content ) use ( $call ) {
				foreach ( $content['faults'] as $index => list( $start, $kind, $times ) ) {
					$is_end = '/' === substr( $start, 0, 1 );
					if ( $is_end ? substr( $call, -strlen( $start ) ) === $start : 0 === strpos( $call, $start ) ) {
						$content['faults'][ $index ][2] = $times - 1;
						if ( $times <= 1 ) {
							array_splice( $content['faults'], $index, 1 );
						}
						return $kind;
					}
				}
				return '';
			}
		);
	}

	/**
	 * Responds to a call with a valid key.
	 *
	 * @param array[] $payments All payments, by id.
	 * @param array   $args     The arguments of the request.
	 * @param string  $path     Its path.
	 * @return array
	 */
	private function respond( &$payments, $args, $path ) {
		if ( 'POST /payments' === $args['method'] . ' ' . $path ) {
			return $this->create( $payments, (string) $args['body'], $args['headers']['Idempotency-Key'] );
		}
		if ( 0 === strpos( $path, '/transactions' ) ) {
			parse_str( (string) parse_url( $path, PHP_URL_QUERY ), $query );
			$order_id = isset( $query['merchant_reference_id'] ) ? $query['merchant_reference_id'] : null;
			$found    = array_filter(
				$payments,
				static function ( $payment ) use ( $order_id ) {
					return null === $order_id || $payment['merchant_reference_id'] === $order_id;
				}
			);
			return $this->json( 200, array( 'transactions' => array_reverse( array_values( $found ) ) ) );
		}
		preg_match( '#^/payments/([^/?]+)(?:/(cancel|refund))?#', $path, $match );
		$payment_id = $match[1];
		if ( ! isset( $payments[ $payment_id ] ) ) {
			return $this->error( 404, 'not_found', 'payment_unknown', 'There is no such transaction.' );
		}
		$act = isset( $match[2] ) ? $match[2] : 'read';
		return 'read' === $act
			? $this->json( 200, array( 'payment' => $payments[ $payment_id ] ) )
			: $this->$act( $payments[ $payment_id ] );
	}

	/**
	 * Creates a payment, or repeats the original response.
	 *
	 * @param array[] $payments All payments, by id.
	 * @param string  $body     JSON.
	 * @param string  $key      The idempotency key.
	 * @return array
	 */
	private function create( &$payments, $body, $key ) {
		$wanted = json_decode( $body, true );
		foreach ( $payments as $payment ) {
			if ( $payment['key'] === $key ) {
				if ( $payment['body'] !== $body ) {
					$text = 'The key was used for another transaction.';
					return $this->error( 400, 'payment_create_failed', 'idempotency_key_reused', $text );
				}
				$headers = array(
					'idempotency-replayed' => 'true',
					'x-payment-status'     => $payment['status'],
				);
				return $this->created( array( 'status' => 'pending' ) + $payment, $headers );
			}
		}
		$number     = count( $payments ) + 1;
		$payment_id = sprintf( '01935b6c-7c00-7b3a-9c41-%012d', $number );
		$seconds    = isset( $wanted['expires_in'] ) ? $wanted['expires_in'] : 900;

		$payments[ $payment_id ] = array(
			'id'                    => $payment_id,
			'reference_id'          => sprintf( 'LN%016d', $number ),
			'merchant_reference_id' => $wanted['merchant_reference_id'],
			'provider'              => isset( $wanted['provider'] ) ? $wanted['provider'] : 'gopay',
			'amount'                => $wanted['amount'],
			'status'                => 'pending',
			'expires_at'            => gmdate( 'Y-m-d\TH:i:s.000\Z', time() + $seconds ),
			'paid_at'               => null,
			'metadata'              => $wanted['metadata'],
			'checkout_url'          => self::URL . '/pay/' . $number,
			'refund'                => null,
			'late_payment'          => null,
			'key'                   => $key,
			'body'                  => $body,
		);
		return $this->created( $payments[ $payment_id ], array() );
	}

	/**
	 * The response to a create.
	 *
	 * @param array    $payment The payment.
	 * @param string[] $headers More headers.
	 * @return array
	 */
	private function created( $payment, $headers ) {
		$headers['link'] = '<' . $payment['checkout_url'] . '>; rel="payment"';
		return $this->json( 201, array( 'payment' => $payment ), $headers );
	}

	/**
	 * Cancels a pending payment, or a refund.
	 *
	 * @param array $payment The payment.
	 * @return array
	 */
	private function cancel( &$payment ) {
		if ( 'shopeepay' === $payment['provider'] ) {
			return $this->error( 400, 'payment_cancel_failed', 'provider_cannot_cancel', 'shopeepay cannot cancel.' );
		}
		$next = array(
			'pending'           => 'cancelled',
			'refund_processing' => 'paid',
		);
		if ( ! isset( $next[ $payment['status'] ] ) ) {
			return $this->error( 400, 'payment_cancel_failed', 'status_not_cancellable', 'It cannot be cancelled.' );
		}
		$payment['status'] = $next[ $payment['status'] ];
		return $this->json( 200, array( 'payment' => $payment ) );
	}

	/**
	 * Requests a refund.
	 *
	 * @param array $payment The payment.
	 * @return array
	 */
	private function refund( &$payment ) {
		if ( 'shopeepay' === $payment['provider'] ) {
			return $this->error( 400, 'payment_refund_failed', 'provider_cannot_refund', 'shopeepay cannot refund.' );
		}
		if ( 'paid' !== $payment['status'] ) {
			return $this->error( 400, 'payment_refund_failed', 'status_not_refundable', 'It cannot be refunded.' );
		}
		$payment['status'] = 'refund_processing';
		return $this->json( 200, array( 'payment' => $payment ) );
	}

	/**
	 * A rejection.
	 *
	 * @param int    $status  The status.
	 * @param string $code    The code.
	 * @param string $reason  The reason.
	 * @param string $message The message.
	 * @return array
	 */
	private function error( $status, $code, $reason, $message ) {
		$error = array(
			'code'    => $code,
			'message' => $message,
		);
		return $this->json( $status, array( 'error' => $error ), array( 'x-error-reason' => $reason ) );
	}

	/**
	 * A response as WordPress has it.
	 *
	 * @param int      $status  The status.
	 * @param array    $body    The body.
	 * @param string[] $headers The headers.
	 * @return array
	 */
	private function json( $status, $body, $headers = array() ) {
		return array(
			'headers'  => $headers,
			'body'     => json_encode( $body ),
			'response' => array( 'code' => $status ),
		);
	}
}
