<?php
/**
 * Webhooks, and what happens to an order in WooCommerce.
 *
 * @package Lunas_QRIS
 */

return array(
	'a webhook that Lunas did not sign, or not now, is rejected, and nothing is read' => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		$body    = wp_json_encode( event_of( $order_id, $payment_id ) );
		$right   = signature( $body, time() );
		$headers = array(
			'',
			't=1',
			'v1=' . str_repeat( '0', 64 ),
			't=' . time() . ',v1=' . str_repeat( '0', 64 ),
			signature( $body, time() - 301 ),
			signature( $body, time() + 302 ),
			signature( $body, time(), 'whsec_other' ),
			signature( $body . ' ', time() ),
			str_replace( 't=', 't=0x', $right ),
		);
		for ( $at = 0; $at < strlen( $right ); $at++ ) {
			$headers[] = substr_replace( $right, 'x' === $right[ $at ] ? 'y' : 'x', $at, 1 );
		}
		lunas()->to( $payment_id, 'paid' );
		$calls = count( lunas()->calls() );
		foreach ( $headers as $header ) {
			expect_same( 401, webhook_raw( $body, $header ), $header );
		}
		for ( $at = 0; $at < strlen( $body ); $at++ ) {
			$changed = substr_replace( $body, chr( ord( $body[ $at ] ) ^ 1 ), $at, 1 );
			expect_same( 401, webhook_raw( $changed, $right ), 'byte ' . $at );
		}
		expect_same( $calls, count( lunas()->calls() ), 'calls' );
		expect_same( 'pending', test_status( $order_id ), 'status' );
		test_setting( 'webhook_secret', '' );
		expect_same( 401, webhook_raw( $body, signature( $body, time(), '' ) ), 'without a secret' );
	},
	'a webhook with one right signature of two, and one at the edge of the tolerance, are accepted' => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'paid' );
		$body   = wp_json_encode( event_of( $order_id, $payment_id ) );
		$header = signature( $body, time() );
		$double = str_replace( ',v1=', ',v1=' . str_repeat( '0', 64 ) . ',v1=', $header );
		expect_same( 200, webhook_raw( $body, $double ), 'two signatures' );
		expect_same( 200, webhook_raw( $body, signature( $body, time() - 299 ) ), '299 s ago' );
		expect_same( 'processing', test_status( $order_id ), 'status' );
	},
	'a body of more than 64 kB is rejected'                     => static function () {
		expect_same( 413, webhook_raw( str_repeat( ' ', 65537 ) ), '65,537 bytes' );
		expect_same( 200, webhook_raw( str_repeat( ' ', 65536 ) ), '65,536 bytes' );
	},
	'an event of no order of this shop is received, and nothing is read' => static function () {
		list( $order_id ) = order_with_code();
		$calls            = count( lunas()->calls() );
		$events           = array(
			array(),
			array( 'event' => 'ping' ),
			event_of( $order_id, 'another payment' ),
			event_of( 999999, 'p' ),
			array( 'merchant_reference_id' => 'ORDER-1' ) + event_of( $order_id, 'p' ),
			array( 'id' => array() ) + event_of( $order_id, 'p' ),
		);
		foreach ( $events as $event ) {
			expect_same( 200, webhook( $event ), (string) wp_json_encode( $event ) );
		}
		expect_same( $calls, count( lunas()->calls() ), 'calls' );
	},
	'Lunas cannot be read: 503, so that the event comes again'  => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'paid' );
		lunas()->fail( 'GET', 'http_500' );
		expect_same( 503, webhook( event_of( $order_id, $payment_id ) ), 'first' );
		expect_same( 200, webhook( event_of( $order_id, $payment_id ) ), 'second' );
		expect_same( 'processing', test_status( $order_id ), 'status' );
	},
	'what another process has done since this one read the order is not done twice' => static function () {
		$notes = array(
			'expired' => 'The QRIS code LN',
			'paid'    => 'Paid by QRIS: Rp 50.000',
		);
		foreach ( $notes as $status => $note ) {
			list( $order_id, $payment_id ) = order_with_code();
			// WooCommerce reads an order before it calls the plugin, and keeps what it has read.
			wc_get_order( $order_id )->get_meta( Lunas_QRIS_Attempts::META );
			lunas()->to( $payment_id, $status );
			$event = array( 'webhook_of', $order_id, $payment_id );
			expect_same( array( '200' ), in_processes( array( $event ) ), 'another process' );
			expect_same( 200, webhook_of( $order_id, $payment_id ), 'this process' );
			expect_same( 1, count_notes( $order_id, $note ), $status . ': notes' );
		}
	},
	'hold-stock cancels an order after its payment was cancelled at Lunas' => static function () {
		list( $order_id ) = order_with_code();
		hold_stock( $order_id );
		expect_same( 'cancelled', test_status( $order_id ), 'status' );
		expect_same( 'cancelled', lunas()->payments()[0]['status'], 'payment' );
	},
	'an order in the trash, and one that is deleted, cannot be paid any more' => static function () {
		foreach ( array( false, true ) as $is_forever ) {
			list( $order_id, $payment_id ) = order_with_code();
			test_fresh( $order_id )->delete( $is_forever );
			$payments = array_column( lunas()->payments(), 'status', 'id' );
			expect_same( 'cancelled', $payments[ $payment_id ], 'payment' );
			expect_same( 200, webhook( event_of( $order_id, $payment_id ) ), 'response' );
		}
	},
	'an order that was paid before it went to the trash is completed when it is restored' => static function () {
		foreach ( array( 'paid', 'settled' ) as $status ) {
			list( $order_id, $payment_id ) = order_with_code();
			lunas()->to( $payment_id, 'paid' );
			test_fresh( $order_id )->delete();
			expect_same( 'trash', test_status( $order_id ), 'status' );
			lunas()->to( $payment_id, $status );
			expect_same( 200, webhook( event_of( $order_id, $payment_id ) ), 'response' );
			test_fresh( $order_id )->untrash();
			expect_same( 'pending', test_status( $order_id ), 'restored' );
			reconcile( $order_id );
			expect_same( 'processing', test_status( $order_id ), $status );
		}
	},
	'an attempt that cannot be read keeps no other one of a removed order payable' => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		$attempts                      = test_attempts( $order_id );
		$lost                          = array(
			'number'     => 2,
			'payment_id' => 'of another Lunas',
		);
		$order                         = test_fresh( $order_id );
		Lunas_QRIS_Attempts::save( $order, array( array_merge( $attempts[0], $lost ), $attempts[0] ) );
		test_fresh( $order_id )->delete();
		expect_same( 'cancelled', lunas()->payments()[0]['status'], 'payment' );
	},
	'hold-stock completes an order that was paid meanwhile'     => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'paid' );
		hold_stock( $order_id );
		expect_same( 'processing', test_status( $order_id ), 'status' );
	},
	'hold-stock waits while Lunas cannot be read, or the cancel has no response' => static function () {
		foreach ( array( 'GET', '/cancel' ) as $call ) {
			list( $order_id ) = order_with_code();
			lunas()->fail( $call, 'lost_request', 9 );
			hold_stock( $order_id );
			expect_same( 'pending', test_status( $order_id ), $call );
			lunas()->recover();
			hold_stock( $order_id );
			expect_same( 'cancelled', test_status( $order_id ), 'afterwards' );
		}
	},
	'hold-stock waits for the end of a payment that the provider cannot cancel' => static function () {
		list( $order_id, $payment_id ) = order_with_code( 50000, 'shopeepay' );
		hold_stock( $order_id );
		expect_same( 'pending', test_status( $order_id ), 'status' );
		lunas()->to( $payment_id, 'expired' );
		hold_stock( $order_id );
		expect_same( 'cancelled', test_status( $order_id ), 'status' );
	},
	'hold-stock cancels an order of another Lunas when its code cannot be open any more' => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->fail( 'GET', 'http_404', 99 );
		hold_stock( $order_id );
		expect_same( 'pending', test_status( $order_id ), 'the code can be open' );
		$order    = test_fresh( $order_id );
		$attempts = Lunas_QRIS_Attempts::load( $order );

		$attempts[0]['created_at'] = time() - Lunas_QRIS_Attempts::MAX_OPEN_SECONDS - 1;
		Lunas_QRIS_Attempts::save( $order, $attempts );
		hold_stock( $order_id );
		expect_same( 'cancelled', test_status( $order_id ), 'status' );
		reconcile( $order_id );
		expect_same( 1, count_notes( $order_id, 'ended: failed' ), 'notes' );
		// The key was one of another merchant, and the payment is known again.
		lunas()->recover();
		lunas()->to( $payment_id, 'paid' );
		reconcile( $order_id );
		expect_same( 'on-hold', test_status( $order_id ), 'the payment is not lost' );
	},
	'hold-stock cancels an order whose create never arrived'    => static function () {
		$order_id = test_order( 50000 );
		lunas()->fail( 'POST /payments', 'lost_request' );
		press( $order_id );
		hold_stock( $order_id );
		expect_same( 'cancelled', test_status( $order_id ), 'status' );
	},
	'hold-stock leaves orders without QRIS to WooCommerce'      => static function () {
		$order = test_fresh( test_order( 50000 ) );
		expect_same( true, apply_filters( 'woocommerce_cancel_unpaid_order', true, $order ), 'checkout' );
		expect_same( false, apply_filters( 'woocommerce_cancel_unpaid_order', false, $order ), 'admin' );
	},
	'the payment of an order that is cancelled is cancelled at Lunas, if need be later' => static function () {
		foreach ( array( 0, 9 ) as $lost ) {
			list( $order_id, $payment_id ) = order_with_code();
			if ( $lost > 0 ) {
				lunas()->fail( '/cancel', 'lost_request' );
			}
			test_fresh( $order_id )->update_status( 'cancelled' );
			reconcile( $order_id );
			$payments = array_column( lunas()->payments(), 'status', 'id' );
			expect_same( 'cancelled', $payments[ $payment_id ], 'payment' );
			expect_same( 'cancelled', test_status( $order_id ), 'order' );
		}
	},
	'an order that was paid before it was cancelled is on hold' => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'paid' );
		test_fresh( $order_id )->update_status( 'cancelled' );
		reconcile( $order_id );
		expect_same( 'on-hold', test_status( $order_id ), 'status' );
	},
	'an edited order loses the code of the old total'           => static function () {
		list( $order_id ) = order_with_code();
		$order            = test_fresh( $order_id );
		$order->calculate_totals();
		expect_same( 'pending', lunas()->payments()[0]['status'], 'the same total' );
		test_edit( $order, 60000 );
		expect_same( 'cancelled', lunas()->payments()[0]['status'], 'another total' );
		expect_same( 1, count_notes( $order_id, 'The old code cannot be paid any more.' ), 'notes' );
		expect_same( Fake_Lunas::URL . '/pay/2', press( $order_id ), 'redirect' );
		expect_same( 60000, lunas()->payments()[1]['amount'], 'amount' );
	},
	'an order that was paid before it was edited is on hold'    => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'paid' );
		test_edit( test_fresh( $order_id ), 60000 );
		reconcile( $order_id );
		expect_same( 'on-hold', test_status( $order_id ), 'status' );
	},
	'a refund that was requested at Lunas is not cancelled with its order' => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'refund_processing' );
		test_fresh( $order_id )->update_status( 'cancelled' );
		expect_same( 'refund_processing', lunas()->payments()[0]['status'], 'payment' );
	},
	'the clock is scheduled once, and an error of one order does not stop the others' => static function () {
		do_action( 'action_scheduler_init' );
		expect_same( true, as_has_scheduled_action( 'lunas_qris_reconcile', array(), 'lunas-qris' ), 'scheduled' );
		list( $first, $first_payment )   = order_with_code();
		list( $second, $second_payment ) = order_with_code();
		lunas()->to( $first_payment, 'paid' );
		lunas()->to( $second_payment, 'paid' );
		Lunas_QRIS_Attempts::check_in( test_fresh( $second ), 0 );
		$break = static function ( $order_id ) use ( $first ) {
			if ( (int) $order_id === $first && 'break' === get_option( 'test_break' ) ) {
				throw new Error( 'another plugin' );
			}
		};
		add_action( 'woocommerce_payment_complete', $break );
		update_option( 'test_break', 'break' );
		reconcile( $first );
		update_option( 'test_break', '' );
		expect_same( 'processing', test_status( $second ), 'the second order' );
		$next = (int) test_fresh( $first )->get_meta( Lunas_QRIS_Attempts::CHECK_AT );
		expect_same( true, $next > time() + 3000, 'the first order waits for an hour' );
		Lunas_QRIS_Reconciliation::unschedule();
		expect_same( false, as_has_scheduled_action( 'lunas_qris_reconcile', array(), 'lunas-qris' ), 'deactivated' );
	},
	'another plugin rejects the completion: the next reading completes the order' => static function () {
		$reject = static function () {
			if ( 'reject' === get_option( 'test_reject' ) ) {
				throw new RuntimeException( 'another plugin' );
			}
		};
		add_action( 'woocommerce_pre_payment_complete', $reject );
		foreach ( array( 'paid', 'settled' ) as $status ) {
			list( $order_id, $payment_id ) = order_with_code();
			update_option( 'test_reject', 'reject' );
			lunas()->to( $payment_id, 'paid' );
			lunas()->to( $payment_id, $status );
			expect_same( 503, webhook( event_of( $order_id, $payment_id ) ), 'first' );
			expect_same( 0, count_notes( $order_id, 'Paid by QRIS' ), 'notes' );
			update_option( 'test_reject', '' );
			reconcile( $order_id );
			expect_same( 'processing', test_status( $order_id ), $status );
			expect_same( 1, count_notes( $order_id, 'Paid by QRIS' ), 'notes' );
		}
	},
	'a reading of the clock is no change of the order, so hold-stock counts from the last one' => static function () {
		$order_id = test_order( 50000 );
		lunas()->fail( 'POST /payments', 'lost_request' );
		press( $order_id );
		$order = test_fresh( $order_id );
		$order->set_date_modified( time() - 3601 );
		$order->save();
		reconcile( $order_id );
		$modified = test_fresh( $order_id )->get_date_modified()->getTimestamp();
		expect_same( true, $modified <= time() - 3601, 'the last change' );
	},
	'a run of the clock begins no order after its time, and the next run takes it' => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'paid' );
		Lunas_QRIS_Attempts::check_in( test_fresh( $order_id ), 0 );
		Lunas_QRIS_Reconciliation::run_until( time() );
		expect_same( 'pending', test_status( $order_id ), 'after its time' );
		do_action( 'lunas_qris_reconcile' );
		expect_same( 'processing', test_status( $order_id ), 'the next run' );
	},
);
