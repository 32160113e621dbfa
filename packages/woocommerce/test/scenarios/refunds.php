<?php
/**
 * Refunds.
 *
 * @package Lunas_QRIS
 */

/**
 * A paid order.
 *
 * @param string $provider The provider.
 * @return array Order id and payment id.
 */
function paid_order( $provider = 'gopay' ) {
	list( $order_id, $payment_id ) = order_with_code( 50000, $provider );
	lunas()->to( $payment_id, 'paid' );
	reconcile( $order_id );
	return array( $order_id, $payment_id );
}

/**
 * Presses Refund.
 *
 * @param int  $order_id The order.
 * @param int  $amount   The amount.
 * @param bool $restock  Whether the item goes back.
 * @return string The error that WooCommerce shows.
 */
function press_refund( $order_id, $amount = 50000, $restock = true ) {
	$result = wc_create_refund(
		array(
			'order_id'       => $order_id,
			'amount'         => $amount,
			'reason'         => 'Broken',
			'refund_payment' => true,
			'restock_items'  => $restock,
		)
	);
	return is_wp_error( $result ) ? $result->get_error_message() : 'refunded';
}

return array(
	'a refund is requested, and the order becomes refunded when Lunas has confirmed it' => static function () {
		foreach ( array( true, false ) as $restock ) {
			$stock                         = test_stock();
			list( $order_id, $payment_id ) = paid_order();
			expect_part( 'The refund is requested.', press_refund( $order_id, 50000, $restock ) );
			expect_same( array(), test_refunds( $order_id ), 'refunds' );
			expect_same( 'processing', test_status( $order_id ), 'status' );
			lunas()->to( $payment_id, 'refunded' );
			reconcile( $order_id );
			reconcile( $order_id );
			expect_same( array( 50000 ), test_refunds( $order_id ), 'refunds' );
			expect_same( 'refunded', test_status( $order_id ), 'status' );
			expect_same( $restock ? $stock : $stock - 1, test_stock(), 'stock' );
			expect_same( '', test_fresh( $order_id )->get_meta( Lunas_QRIS_Attempts::REFUND ), 'meta' );
		}
	},
	'the code of the error has the result'                      => static function () {
		list( $order_id ) = paid_order();
		$gateway          = new Lunas_QRIS_Gateway();
		$code             = static function ( $amount ) use ( $gateway, $order_id ) {
			return $gateway->process_refund( $order_id, $amount )->get_error_code();
		};
		expect_same( 'lunas_qris_partial', $code( 49999 ), 'a part' );
		expect_same( 'lunas_qris_partial', $code( 50001 ), 'more' );
		expect_same( 'lunas_qris_requested', $code( null ), 'the whole' );
	},
	'a copy of the shop at another address refunds no customer of the shop' => static function () {
		list( $order_id ) = paid_order();
		update_option( Lunas_QRIS_Settings::INSTALLATION, 'another' );
		expect_part( 'was paid at another address of the shop', press_refund( $order_id ) );
		expect_same( 'paid', lunas()->payments()[0]['status'], 'payment' );
		expect_same( '', test_fresh( $order_id )->get_meta( Lunas_QRIS_Attempts::REFUND ), 'meta' );
	},
	'a second press requests no second refund'                  => static function () {
		list( $order_id ) = paid_order();
		press_refund( $order_id );
		expect_part( 'The refund is requested.', press_refund( $order_id ) );
		expect_same( 1, count( array_filter( lunas()->calls( 'POST' ), 'is_refund_call' ) ), 'calls' );
		lunas()->fail( 'GET', 'lost_request' );
		expect_part( 'The refund is requested.', press_refund( $order_id ) );
		lunas()->recover();
	},
	'a refund that was cancelled at Lunas is not cancelled again' => static function () {
		list( $order_id, $payment_id ) = paid_order();
		press_refund( $order_id );
		lunas()->to( $payment_id, 'paid' );
		Lunas_QRIS_Refunds::cancel( $order_id );
		expect_same( array(), lunas()->calls( 'POST /payments/' . $payment_id . '/cancel' ), 'calls' );
		expect_same( 1, count_notes( $order_id, 'The refund was cancelled.' ), 'notes' );
	},
	'a part is not refunded, and neither is the rest'           => static function () {
		list( $order_id ) = paid_order();
		expect_part( 'Enter Rp 50.000', press_refund( $order_id, 20000 ) );
		wc_create_refund(
			array(
				'order_id' => $order_id,
				'amount'   => 20000,
				'reason'   => '',
			)
		);
		expect_part( 'Enter Rp 50.000', press_refund( $order_id, 30000 ) );
		expect_same( array(), array_filter( lunas()->calls( 'POST' ), 'is_refund_call' ), 'calls' );
	},
	'a plugin that requests the whole after a part was paid back is rejected' => static function () {
		list( $order_id ) = paid_order();
		wc_create_refund(
			array(
				'order_id' => $order_id,
				'amount'   => 20000,
				'reason'   => '',
			)
		);
		expect_same( 'lunas_qris_partial', refund_code( $order_id ), 'code' );
		expect_same( array(), array_filter( lunas()->calls( 'POST' ), 'is_refund_call' ), 'calls' );
	},
	'an order that the shop cancelled after its payment can be refunded' => static function () {
		list( $order_id, $payment_id ) = paid_order();
		test_fresh( $order_id )->update_status( 'cancelled' );
		expect_part( 'The refund is requested.', press_refund( $order_id ) );
		expect_part( 'The refund is requested.', press_refund( $order_id ) );
		lunas()->to( $payment_id, 'refunded' );
		reconcile( $order_id );
		expect_same( 'refunded', test_status( $order_id ), 'status' );
		expect_same( array( 50000 ), test_refunds( $order_id ), 'refunds' );
	},
	'another rejection is shown in the words of Lunas'          => static function () {
		list( $order_id ) = paid_order();
		lunas()->fail( '/refund', 'refund_limit' );
		expect_same( 'refund_limit is rejected.', press_refund( $order_id ), 'text' );
		expect_same( '', test_fresh( $order_id )->get_meta( Lunas_QRIS_Attempts::REFUND ), 'meta' );
	},
	'a settled payment and one of shopeepay cannot be returned' => static function () {
		list( $order_id, $payment_id ) = paid_order();
		lunas()->to( $payment_id, 'settled' );
		expect_part( 'any more (settled)', press_refund( $order_id ) );
		list( $order_id ) = paid_order( 'shopeepay' );
		expect_part( 'any more (shopeepay)', press_refund( $order_id ) );
		expect_same( '', test_fresh( $order_id )->get_meta( Lunas_QRIS_Attempts::REFUND ), 'meta' );
	},
	'the response to a refund is lost: the payment is read before anything is repeated' => static function () {
		list( $order_id, $payment_id ) = paid_order();
		lunas()->fail( '/refund', 'lost_response' );
		expect_part( 'The refund is requested.', press_refund( $order_id ) );
		lunas()->to( $payment_id, 'refunded' );
		reconcile( $order_id );
		expect_same( 'refunded', test_status( $order_id ), 'status' );

		list( $order_id, $payment_id ) = paid_order();
		lunas()->fail( '/refund', 'lost_request' );
		expect_part( 'Press Refund again', press_refund( $order_id ) );
		expect_part( 'The refund is requested.', press_refund( $order_id ) );
		$payments = array_column( lunas()->payments(), 'status', 'id' );
		expect_same( 'refund_processing', $payments[ $payment_id ], 'payment' );
	},
	'Lunas is away after a refund: the next reading decides'    => static function () {
		foreach ( array( 'lost_response', 'lost_request' ) as $fault ) {
			list( $order_id, $payment_id ) = paid_order();
			lunas()->fail( '/refund', $fault );
			// The reading before the request works, the one after it does not.
			lunas()->fail( 'POST /payments/' . $payment_id . '/refund', $fault );
			$later = static function ( $early, $args ) {
				if ( 'POST' === $args['method'] && 'away' === get_option( 'test_away' ) ) {
					lunas()->fail( 'GET', 'lost_request' );
					update_option( 'test_away', '' );
				}
				return $early;
			};
			add_filter( 'pre_http_request', $later, 5, 2 );
			update_option( 'test_away', 'away' );
			expect_part( 'Press Refund again', press_refund( $order_id ) );
			lunas()->recover();
			reconcile( $order_id );
			$part = 'lost_response' === $fault ? 'Refund requested.' : 'The refund was not requested.';
			expect_same( 1, count_notes( $order_id, $part ), $fault );
		}
	},
	'a refund of the dashboard of Lunas becomes one of WooCommerce' => static function () {
		list( $order_id, $payment_id ) = paid_order();
		lunas()->to( $payment_id, 'refund_processing' );
		reconcile( $order_id );
		expect_same( 1, count_notes( $order_id, 'Refund requested.' ), 'notes' );
		lunas()->to( $payment_id, 'refunded' );
		reconcile( $order_id );
		expect_same( array( 50000 ), test_refunds( $order_id ), 'refunds' );
		expect_same( 100, test_stock(), 'stock' );
	},
	'a refund that is cancelled leaves the order paid, and can be requested again' => static function () {
		list( $order_id, $payment_id ) = paid_order();
		press_refund( $order_id );
		Lunas_QRIS_Refunds::cancel( $order_id );
		expect_same( 'paid', lunas()->payments()[0]['status'], 'payment' );
		expect_same( 1, count_notes( $order_id, 'The refund was cancelled.' ), 'notes' );
		expect_same( 'processing', test_status( $order_id ), 'status' );
		expect_part( 'The refund is requested.', press_refund( $order_id ) );
		lunas()->fail( '/cancel', 'refund_submitted' );
		Lunas_QRIS_Refunds::cancel( $order_id );
		expect_same( 1, count_notes( $order_id, 'cannot be cancelled any more' ), 'notes' );
		lunas()->to( $payment_id, 'refunded' );
		reconcile( $order_id );
		expect_same( 'refunded', test_status( $order_id ), 'status' );
	},
	'a refund that the provider rejects is noted once, and not requested again' => static function () {
		list( $order_id, $payment_id ) = paid_order();
		press_refund( $order_id );
		lunas()->to( $payment_id, 'refund_failed' );
		reconcile( $order_id );
		reconcile( $order_id );
		expect_same( 1, count_notes( $order_id, 'The provider rejected the refund.' ), 'notes' );
		expect_part( 'The provider rejected the refund.', press_refund( $order_id ) );
		expect_same( 'processing', test_status( $order_id ), 'status' );
	},
	'a manual refund is not sent to Lunas, and none follows it' => static function () {
		list( $order_id, $payment_id ) = paid_order();
		$calls                         = count( lunas()->calls() );
		wc_create_refund(
			array(
				'order_id' => $order_id,
				'amount'   => 50000,
				'reason'   => '',
			)
		);
		expect_same( $calls, count( lunas()->calls() ), 'calls' );
		lunas()->to( $payment_id, 'refunded' );
		reconcile( $order_id );
		expect_same( array( 50000 ), test_refunds( $order_id ), 'refunds' );
	},
	'a late paid does not touch an order that was refunded'     => static function () {
		list( $order_id, $payment_id ) = paid_order();
		press_refund( $order_id );
		lunas()->to( $payment_id, 'refunded' );
		reconcile( $order_id );
		$event = array( 'status' => 'paid' ) + event_of( $order_id, $payment_id );
		expect_same( 200, webhook( $event ), 'response' );
		expect_same( 'refunded', test_status( $order_id ), 'status' );
	},
);
