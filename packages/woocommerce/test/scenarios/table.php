<?php
/**
 * The table: what Lunas has, the status of the order, and what becomes of it.
 *
 * @package Lunas_QRIS
 */

$lunas_qris_statuses = array( 'pending', 'failed', 'processing', 'completed', 'cancelled', 'on-hold', 'refunded' );

/**
 * What becomes of an order, by what Lunas has and the status of the order. What is absent stays.
 */
$lunas_qris_expected = array(
	'paid'              => array(
		'pending'   => 'processing',
		'failed'    => 'processing',
		'cancelled' => 'on-hold',
	),
	'settled'           => array(
		'pending'   => 'processing',
		'failed'    => 'processing',
		'cancelled' => 'on-hold',
	),
	'pending'           => array(),
	'expired'           => array(),
	'cancelled'         => array(),
	'failed'            => array(),
	'refund_processing' => array(),
	'refund_failed'     => array(),
	'refunded'          => array_fill_keys( array_diff( $lunas_qris_statuses, array( 'refunded' ) ), 'refunded' ),
);

$lunas_qris_scenarios = array();
foreach ( $lunas_qris_expected as $lunas_qris_fact => $lunas_qris_ends ) {
	$lunas_qris_scenarios[ $lunas_qris_fact . ', with each status of the order, read three times' ] =
		static function () use ( $lunas_qris_fact, $lunas_qris_ends, $lunas_qris_statuses ) {
			foreach ( $lunas_qris_statuses as $status ) {
				list( $order_id, $payment_id ) = order_with_code();
				test_force_status( $order_id, $status );
				lunas()->to( $payment_id, $lunas_qris_fact );
				webhook( event_of( $order_id, $payment_id ) );
				$notes = count( test_notes( $order_id ) );
				$stock = test_stock();
				reconcile( $order_id );
				webhook( event_of( $order_id, $payment_id ) );
				$end = isset( $lunas_qris_ends[ $status ] ) ? $lunas_qris_ends[ $status ] : $status;
				expect_same( $end, test_status( $order_id ), $lunas_qris_fact . ' and ' . $status );
				expect_same( $notes, count( test_notes( $order_id ) ), 'a note is written once' );
				expect_same( $stock, test_stock(), 'the stock changes once' );
			}
		};
}

return $lunas_qris_scenarios + array(
	'paid: the order has the reference, one note, and the stock is one less'        => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'paid' );
		reconcile( $order_id );
		expect_same( 'LN0000000000000001', test_fresh( $order_id )->get_transaction_id(), 'transaction id' );
		expect_same( 1, count_notes( $order_id, 'Paid by QRIS: Rp 50.000, LN0000000000000001.' ), 'notes' );
		expect_same( 99, test_stock(), 'stock' );
	},
	'paid with another amount than the total: on hold, with both amounts' => static function () {
		foreach ( array( 'pending', 'failed', 'cancelled', 'on-hold' ) as $status ) {
			list( $order_id, $payment_id ) = order_with_code();
			$order                         = test_fresh( $order_id );
			$order->set_total( '60000' );
			$order->save();
			test_force_status( $order_id, $status );
			lunas()->to( $payment_id, 'paid' );
			reconcile( $order_id );
			reconcile( $order_id );
			expect_same( 'on-hold', test_status( $order_id ), $status );
			expect_same( 1, count_notes( $order_id, 'Rp 50.000 was paid, but the order is Rp 60.000.' ), 'notes' );
		}
	},
	'paid in rupiah, and the order has the same number of another currency: on hold' => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		$order                         = test_fresh( $order_id );
		$order->set_currency( 'USD' );
		$order->save();
		lunas()->to( $payment_id, 'paid' );
		reconcile( $order_id );
		expect_same( 'on-hold', test_status( $order_id ), 'status' );
		expect_same( 1, count_notes( $order_id, 'Rp 50.000 was paid, but the order is USD 50000' ), 'notes' );
	},
	'the amount is the one that Lunas has'                                 => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->set( $payment_id, array( 'amount' => 1000 ) );
		lunas()->to( $payment_id, 'paid' );
		reconcile( $order_id );
		expect_same( 'on-hold', test_status( $order_id ), 'status' );
		expect_same( 1, count_notes( $order_id, 'Rp 1.000 was paid, but the order is Rp 50.000.' ), 'notes' );
	},
	'paid while the order does not wait for it: one note, also after the settlement' => static function () {
		foreach ( array( 'processing', 'completed', 'on-hold', 'refunded' ) as $status ) {
			list( $order_id, $payment_id ) = order_with_code();
			test_force_status( $order_id, $status );
			lunas()->to( $payment_id, 'paid' );
			reconcile( $order_id );
			lunas()->to( $payment_id, 'settled' );
			lunas()->set( $payment_id, array( 'paid_at' => '2026-01-01T00:00:00.000Z' ) );
			reconcile( $order_id );
			expect_same( $status, test_status( $order_id ), 'status' );
			expect_same( 1, count_notes( $order_id, 'did not wait for it: Rp 50.000, LN' ), $status );
		}
	},
	'an order that is paid otherwise loses its code'                       => static function () {
		foreach ( array( 'processing', 'completed' ) as $status ) {
			list( $order_id, $payment_id ) = order_with_code();
			test_fresh( $order_id )->update_status( $status );
			reconcile( $order_id );
			$payments = array_column( lunas()->payments(), 'status', 'id' );
			expect_same( 'cancelled', $payments[ $payment_id ], $status );
			expect_same( $status, test_status( $order_id ), 'status' );
		}
	},
	'a total with decimals is not rounded to what was paid'               => static function () {
		update_option( 'woocommerce_price_num_decimals', '2' );
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'paid' );
		$order = test_fresh( $order_id );
		$order->set_total( '50000.40' );
		$order->save();
		reconcile( $order_id );
		expect_same( 'on-hold', test_status( $order_id ), 'status' );
		expect_same( 1, count_notes( $order_id, 'but the order is Rp 50.000,40.' ), 'notes' );
	},
	'an order that the shop cancels after its payment stays cancelled'    => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'paid' );
		reconcile( $order_id );
		test_fresh( $order_id )->update_status( 'cancelled' );
		reconcile( $order_id );
		expect_same( 'cancelled', test_status( $order_id ), 'status' );
	},
	'an order that the shop takes back to pending is not completed again'  => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'paid' );
		reconcile( $order_id );
		test_force_status( $order_id, 'pending' );
		reconcile( $order_id );
		expect_same( 'pending', test_status( $order_id ), 'status' );
	},
	'while another process has the lock of the order, nothing is read or changed' => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'paid' );
		$calls  = count( lunas()->calls() );
		$result = while_locked(
			$order_id,
			static function () use ( $order_id ) {
				return Lunas_QRIS_Sync::run( $order_id, 1 );
			}
		);
		expect_same( false, $result, 'result' );
		expect_same( $calls, count( lunas()->calls() ), 'calls' );
		expect_same( true, Lunas_QRIS_Sync::run( $order_id ), 'afterwards' );
		expect_same( 'processing', test_status( $order_id ), 'status' );
	},
	'paid twice: the refund of the second one is requested, and the order stays paid' => static function () {
		list( $order_id, $first ) = order_with_code();
		lunas()->to( $first, 'expired' );
		press( $order_id );
		$second = lunas()->payments()[1]['id'];
		lunas()->to( $second, 'paid' );
		reconcile( $order_id );
		// The first one was settled by its late payment, as an operator can decide.
		lunas()->to( $first, 'paid' );
		webhook( event_of( $order_id, $first ) );
		webhook( event_of( $order_id, $first ) );
		expect_same( 'processing', test_status( $order_id ), 'status' );
		expect_same( array( 'refund_processing', 'paid' ), array_column( lunas()->payments(), 'status' ), 'statuses' );
		expect_same( 1, count( lunas()->calls( 'POST /payments/' . $first . '/refund' ) ), 'refunds' );
		expect_same( 1, count_notes( $order_id, 'Paid twice: the refund of Rp 50.000 is requested' ), 'notes' );
		lunas()->to( $first, 'refunded' );
		reconcile( $order_id );
		expect_same( array(), test_refunds( $order_id ), 'the order itself is not refunded' );
		expect_same( 'processing', test_status( $order_id ), 'status' );
	},
	'paid twice, and Lunas rejects the refund: the shop returns the money'          => static function () {
		list( $order_id, $first ) = order_with_code();
		lunas()->to( $first, 'cancelled' );
		press( $order_id );
		foreach ( lunas()->payments() as $payment ) {
			lunas()->to( $payment['id'], 'settled' );
		}
		webhook( event_of( $order_id, $first ) );
		webhook( event_of( $order_id, $first ) );
		$refunds = array_filter( lunas()->calls( 'POST' ), 'is_refund_call' );
		expect_same( 1, count( $refunds ), 'requests' );
		expect_same( 1, count_notes( $order_id, 'Paid twice: return Rp 50.000 yourself' ), 'notes' );
		expect_same( 'processing', test_status( $order_id ), 'status' );
	},
	'paid twice, and the refund has no response: it is requested again' => static function () {
		list( $order_id, $first ) = order_with_code();
		lunas()->to( $first, 'cancelled' );
		press( $order_id );
		foreach ( lunas()->payments() as $payment ) {
			lunas()->to( $payment['id'], 'paid' );
		}
		lunas()->fail( '/refund', 'lost_request' );
		expect_same( 503, webhook( event_of( $order_id, $first ) ), 'the first event' );
		expect_same( 200, webhook( event_of( $order_id, $first ) ), 'the second event' );
		$statuses = array_count_values( array_column( lunas()->payments(), 'status' ) );
		expect_same( 1, $statuses['refund_processing'], 'refunds' );
	},
	'attempt 1 expires after attempt 2 was paid: the order stays paid'   => static function () {
		list( $order_id, $first ) = order_with_code();
		lunas()->set( $first, array( 'expires_at' => gmdate( 'c', time() + 30 ) ) );
		press( $order_id );
		lunas()->to( lunas()->payments()[1]['id'], 'paid' );
		reconcile( $order_id );
		lunas()->to( $first, 'expired' );
		webhook( event_of( $order_id, $first ) );
		expect_same( 'processing', test_status( $order_id ), 'status' );
	},
	'a late payment is noted with its status, and the order stays'       => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'expired' );
		reconcile( $order_id );
		foreach ( array( 'received', 'submitted', 'refunded' ) as $status ) {
			lunas()->set( $payment_id, array( 'late_payment' => array( 'status' => $status ) ) );
			$event = array(
				'payment_id'            => $payment_id,
				'event'                 => 'late_payment.received',
				'merchant_reference_id' => (string) $order_id,
			);
			expect_same( 200, webhook( $event ), 'response' );
			expect_same( 200, webhook( $event ), 'response' );
			expect_same( 1, count_notes( $order_id, 'Status: ' . $status ), 'notes' );
		}
		expect_same( 'pending', test_status( $order_id ), 'status' );
		expect_same( array(), lunas()->calls( 'POST /payments/' . $payment_id ), 'Lunas returns the money itself' );
	},
	'a note is written once for each attempt that ended'                 => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'expired' );
		reconcile( $order_id );
		reconcile( $order_id );
		expect_same( 1, count_notes( $order_id, 'The QRIS code LN0000000000000001 ended: expired.' ), 'notes' );
	},
	'four processes bring an order to its payment: one completion'       => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'paid' );
		$event = array( 'webhook_of', $order_id, $payment_id );
		in_processes( array( $event, $event, $event, array( 'press', $order_id ) ) );
		expect_same( 1, count_notes( $order_id, 'Paid by QRIS' ), 'notes' );
		expect_same( 99, test_stock(), 'stock' );
		expect_same( 'processing', test_status( $order_id ), 'status' );
	},
	'PHP dies while it reads: the next reading does the work'            => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'paid' );
		lunas()->fail( 'GET', 'kill_after' );
		expect_same( array( '' ), in_processes( array( array( 'webhook_of', $order_id, $payment_id ) ) ), 'it died' );
		reconcile( $order_id );
		expect_same( 'processing', test_status( $order_id ), 'status' );
	},
	'the clock reads each minute for an hour, then less often, and ends with the last attempt' => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		$delay                         = static function ( $age ) use ( $order_id ) {
			$order    = test_fresh( $order_id );
			$attempts = Lunas_QRIS_Attempts::load( $order );

			$attempts[0]['created_at'] = time() - $age;
			Lunas_QRIS_Attempts::save( $order, $attempts );
			return (int) round( ( (int) $order->get_meta( Lunas_QRIS_Attempts::CHECK_AT ) - time() ) / 10 ) * 10;
		};
		$cases = array(
			0     => 60,
			3590  => 60,
			3610  => 300,
			3910  => 900,
			4810  => 3600,
			86400 => 3600,
		);
		foreach ( $cases as $age => $expected ) {
			expect_same( $expected, $delay( $age ), 'after ' . $age . ' s' );
		}
		lunas()->to( $payment_id, 'expired' );
		reconcile( $order_id );
		expect_same( '', test_fresh( $order_id )->get_meta( Lunas_QRIS_Attempts::CHECK_AT ), 'the end' );
		$calls = count( lunas()->calls() );
		reconcile( $order_id );
		expect_same( $calls, count( lunas()->calls() ), 'calls' );
	},
	'60 orders with webhooks blocked: all follow, none is fulfilled twice'          => static function () {
		$orders = array();
		for ( $number = 0; $number < 60; $number++ ) {
			$orders[] = order_with_code();
		}
		foreach ( $orders as $index => list( , $payment_id ) ) {
			lunas()->to( $payment_id, 0 === $index % 3 ? 'expired' : 'paid' );
		}
		foreach ( $orders as list( $order_id ) ) {
			Lunas_QRIS_Attempts::check_in( test_fresh( $order_id ), 0 );
		}
		do_action( 'lunas_qris_reconcile' );
		do_action( 'lunas_qris_reconcile' );
		foreach ( $orders as $index => list( $order_id ) ) {
			expect_same( 0 === $index % 3 ? 'pending' : 'processing', test_status( $order_id ), 'order ' . $index );
			expect_same( 0 === $index % 3 ? 0 : 1, count_notes( $order_id, 'Paid by QRIS' ), 'notes' );
		}
		expect_same( 60, test_stock(), 'stock' );
	},
);
