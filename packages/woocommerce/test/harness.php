<?php
/**
 * What the scenarios use: a shop, orders, and checks.
 *
 * @package Lunas_QRIS
 */

/**
 * Fails a scenario.
 *
 * @param mixed  $expected What is expected.
 * @param mixed  $actual   What is there.
 * @param string $what     What is compared.
 * @throws RuntimeException If they differ.
 */
function expect_same( $expected, $actual, $what ) {
	if ( $expected !== $actual ) {
		$texts = array_map( 'wp_json_encode', array( $expected, $actual ) );
		throw new RuntimeException( $what . ': expected ' . $texts[0] . ', got ' . $texts[1] );
	}
}

/**
 * Fails a scenario unless a text contains another one.
 *
 * @param string $part The part.
 * @param string $text The whole.
 * @throws RuntimeException If it does not.
 */
function expect_part( $part, $text ) {
	if ( false === strpos( $text, $part ) ) {
		throw new RuntimeException( wp_json_encode( $text ) . ' does not contain ' . wp_json_encode( $part ) );
	}
}

/**
 * The Lunas of the scenarios.
 *
 * @return Fake_Lunas
 */
function lunas() {
	static $lunas = null;
	if ( null === $lunas ) {
		$lunas = new Fake_Lunas( getenv( 'LUNAS_QRIS_TEST_DIRECTORY' ) );
	}
	return $lunas;
}

/**
 * Presses Place order.
 *
 * @param int $order_id The order.
 * @return string Where the customer goes, or what the checkout shows.
 */
function press( $order_id ) {
	test_clear_notices();
	$gateway = new Lunas_QRIS_Gateway();
	$result  = $gateway->process_payment( $order_id );
	return 'success' === $result['result'] ? $result['redirect'] : test_shown_notice();
}

/**
 * A new order whose customer sees the page of its first payment.
 *
 * @param int    $total    Its total.
 * @param string $provider The provider.
 * @return array Order id and payment id.
 */
function order_with_code( $total = 50000, $provider = 'gopay' ) {
	test_setting( 'provider', $provider );
	$order_id = test_order( $total );
	expect_part( Fake_Lunas::URL . '/pay/', press( $order_id ) );
	$attempts = test_attempts( $order_id );
	return array( $order_id, $attempts[0]['payment_id'] );
}

/**
 * The attempts of an order.
 *
 * @param int $order_id The order.
 * @return array[]
 */
function test_attempts( $order_id ) {
	return Lunas_QRIS_Attempts::load( test_fresh( $order_id ) );
}

/**
 * The status of an order.
 *
 * @param int $order_id The order.
 * @return string
 */
function test_status( $order_id ) {
	return test_fresh( $order_id )->get_status();
}

/**
 * What hold-stock does with an unpaid order.
 *
 * @param int $order_id The order.
 */
function hold_stock( $order_id ) {
	$order = test_fresh( $order_id );
	if ( $order->has_status( 'pending' ) && apply_filters( 'woocommerce_cancel_unpaid_order', true, $order ) ) {
		$order->update_status( 'cancelled', 'Unpaid order cancelled - time limit reached.' );
	}
}

/**
 * Makes an order due, and runs the reconciliation.
 *
 * @param int $order_id The order.
 */
function reconcile( $order_id ) {
	$order = test_fresh( $order_id );
	if ( '' !== $order->get_meta( Lunas_QRIS_Attempts::CHECK_AT ) ) {
		Lunas_QRIS_Attempts::check_in( $order, 0 );
	}
	do_action( 'lunas_qris_reconcile' );
}

/**
 * Sends a webhook.
 *
 * @param array       $event  The event.
 * @param string|null $header The signature. Null: the right one.
 * @return int The status of the response.
 */
function webhook( $event, $header = null ) {
	return webhook_raw( (string) wp_json_encode( $event ), $header );
}

/**
 * Sends a webhook with a raw body.
 *
 * @param string      $body   The body.
 * @param string|null $header The signature. Null: the right one.
 * @return int The status of the response.
 */
function webhook_raw( $body, $header = null ) {
	$request = new WP_REST_Request( 'POST', '/lunas-qris/v1/webhook' );
	$request->set_body( $body );
	$request->set_header( 'x-service-signature', null === $header ? signature( $body, time() ) : $header );
	return Lunas_QRIS_Webhook::receive( $request )->get_status();
}

/**
 * A signature of Lunas.
 *
 * @param string $body   The body.
 * @param int    $time   Unix time.
 * @param string $secret The secret.
 * @return string
 */
function signature( $body, $time, $secret = Fake_Lunas::SECRET ) {
	return 't=' . $time . ',v1=' . hash_hmac( 'sha256', $time . '.' . $body, $secret );
}

/**
 * The event of a payment. Its status is never the right one: no test may depend on it.
 *
 * @param int    $order_id   The order.
 * @param string $payment_id The payment.
 * @return array
 */
function event_of( $order_id, $payment_id ) {
	return array(
		'id'                    => $payment_id,
		'event'                 => 'payment.failed',
		'merchant_reference_id' => (string) $order_id,
		'status'                => 'failed',
	);
}

/**
 * Starts other processes of the shop, and waits for all of them.
 *
 * @param array[] $calls Each with the name of a function and an argument.
 * @return string[] What each printed.
 */
function in_processes( $calls ) {
	$started = array();
	foreach ( $calls as $call ) {
		$command   = array_merge( array( PHP_BINARY, __DIR__ . '/run.php', '--call' ), $call );
		$process   = proc_open( $command, array( 1 => array( 'pipe', 'w' ) ), $pipes );
		$started[] = array( $process, $pipes[1] );
	}
	return array_map(
		static function ( $one ) {
			$text = stream_get_contents( $one[1] );
			proc_close( $one[0] );
			return $text;
		},
		$started
	);
}

/**
 * Calls a function while another process has the lock of an order. That process ends with its input.
 *
 * @param int      $order_id The order.
 * @param callable $work     The function.
 * @return mixed
 */
function while_locked( $order_id, callable $work ) {
	$command = array( PHP_BINARY, __DIR__ . '/run.php', '--call', 'hold_lock', $order_id );
	$process = proc_open( $command, array( array( 'pipe', 'r' ), array( 'pipe', 'w' ) ), $pipes );
	fgets( $pipes[1] );
	$result = $work();
	fclose( $pipes[0] );
	proc_close( $process );
	return $result;
}

/**
 * Has the lock of an order until its input ends.
 *
 * @param int $order_id The order.
 */
function hold_lock( $order_id ) {
	Lunas_QRIS_Lock::run(
		$order_id,
		static function () {
			echo "locked\n";
			stream_get_contents( STDIN );
		}
	);
}

/**
 * Sends the webhook of a payment, as another process.
 *
 * @param int    $order_id   The order.
 * @param string $payment_id The payment.
 * @return int
 */
function webhook_of( $order_id, $payment_id ) {
	return webhook( event_of( $order_id, $payment_id ) );
}

/**
 * Whether a call requests a refund.
 *
 * @param array $call The call.
 * @return bool
 */
function is_refund_call( $call ) {
	return '/refund' === substr( $call[0], -7 );
}

/**
 * Changes the total of an order as a person does in the admin.
 *
 * @param WC_Order $order The order.
 * @param int      $total The total.
 */
function test_edit( $order, $total ) {
	$order->set_total( (string) $total );
	do_action( 'woocommerce_order_after_calculate_totals', true, $order );
	$order->save();
}

/**
 * The settings, as a process with constants has them.
 *
 * @return array
 */
function with_constants() {
	define( 'LUNAS_QRIS_SECRET_KEY', 'sk_test_of_constant' );
	$gateway = new Lunas_QRIS_Gateway();
	$fields  = $gateway->form_fields;
	return array(
		Lunas_QRIS_Settings::get( 'secret_key' ),
		$fields['secret_key']['disabled'],
		! isset( $fields['api_url']['disabled'] ),
	);
}

/**
 * Counts the notes of an order that contain a text.
 *
 * @param int    $order_id The order.
 * @param string $part     The text.
 * @return int
 */
function count_notes( $order_id, $part ) {
	return count(
		array_filter(
			test_notes( $order_id ),
			static function ( $note ) use ( $part ) {
				return false !== strpos( $note, $part );
			}
		)
	);
}

/**
 * Presses Refund, without WooCommerce around it.
 *
 * @param int $order_id The order.
 * @return string The code of the result.
 */
function refund_code( $order_id ) {
	$gateway = new Lunas_QRIS_Gateway();
	return $gateway->process_refund( $order_id )->get_error_code();
}

/**
 * Forgets the response to the newest create of an order.
 *
 * @param int $order_id The order.
 */
function lose_response( $order_id ) {
	$order    = test_fresh( $order_id );
	$attempts = Lunas_QRIS_Attempts::load( $order );
	$lost     = array(
		'payment_id'   => '',
		'reference_id' => '',
		'checkout_url' => '',
		'status'       => '',
	);

	$attempts[] = array_merge( array_pop( $attempts ), $lost );
	Lunas_QRIS_Attempts::save( $order, $attempts );
}
