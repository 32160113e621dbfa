<?php
/**
 * Place order: one attempt, its body, its repeats.
 *
 * @package Lunas_QRIS
 */

return array(
	'the customer goes to the page of the payment, and the order stays pending'      => static function () {
		$order_id = test_order( 50000 );
		expect_same( Fake_Lunas::URL . '/pay/1', press( $order_id ), 'redirect' );
		expect_same( 'pending', test_status( $order_id ), 'status' );
		$call = lunas()->calls( 'POST /payments' )[0];
		$body = json_decode( $call[1], true );
		$site = Lunas_QRIS_Settings::site();
		expect_same( 1, preg_match( '/^[0-9a-f]{8}$/', $site ), 'site' );
		expect_same( 'wc-' . $site . '-' . $order_id . '-1', lunas()->payments()[0]['key'], 'key' );
		expect_same( (string) $order_id, $body['merchant_reference_id'], 'order id' );
		expect_same( 50000, $body['amount'], 'amount' );
		expect_same( 'Kopi & Teh #' . $order_id, $body['description'], 'description' );
		expect_same( 3600, $body['expires_in'], 'expires_in' );
		expect_same( test_fresh( $order_id )->get_checkout_order_received_url(), $body['return_url'], 'return_url' );
		expect_same(
			array(
				'source'   => 'woocommerce',
				'site'     => $site,
				'order_id' => (string) $order_id,
				'attempt'  => 1,
			),
			$body['metadata'],
			'metadata'
		);
		$known = 'amount provider merchant_reference_id description return_url metadata expires_in';
		expect_same( $known, implode( ' ', array_keys( $body ) ), 'no data of the customer' );
	},
	'the time to pay is that of hold-stock within its bounds, or that of the policy' => static function () {
		$cases = array(
			''     => null,
			'1'    => 60,
			'0'    => null,
			'1440' => 86400,
			'1441' => 86400,
		);
		foreach ( $cases as $minutes => $seconds ) {
			update_option( 'woocommerce_hold_stock_minutes', (string) $minutes );
			lunas()->reset();
			press( test_order( 50000 ) );
			$body = json_decode( lunas()->payments()[0]['body'], true );
			expect_same( $seconds, isset( $body['expires_in'] ) ? $body['expires_in'] : null, $minutes . ' minutes' );
		}
	},
	'a second press leads to the same payment'                  => static function () {
		list( $order_id ) = order_with_code();
		expect_same( Fake_Lunas::URL . '/pay/1', press( $order_id ), 'redirect' );
		expect_same( 1, count( lunas()->payments() ), 'payments' );
	},
	'a response that was lost is repeated under the same key'   => static function () {
		foreach ( array( 'lost_request', 'lost_response', 'http_500' ) as $number => $fault ) {
			lunas()->reset();
			$order_id = test_order( 50000 );
			lunas()->fail( 'POST /payments', $fault );
			expect_part( 'Press Place order again', press( $order_id ) );
			expect_same( '', test_attempts( $order_id )[0]['payment_id'], 'payment id' );
			expect_same( Fake_Lunas::URL . '/pay/1', press( $order_id ), $fault );
			expect_same( 1, count( lunas()->payments() ), 'payments' );
			expect_same( 1, count( test_attempts( $order_id ) ), 'attempts' );
		}
	},
	'what is no response of Lunas, and 429, make no second payment' => static function () {
		$limited   = '{"error":{"code":"rate_limited","message":"Too many requests."}}';
		$responses = array(
			array( 200, '<html>' ),
			array( 201, '{"payment":{}}' ),
			array( 301, '' ),
			array( 302, '<a href="https://elsewhere.example">' ),
			array( 404, '<html>' ),
			array( 429, $limited ),
			array( 502, '<html>' ),
			array( 503, '{"error":"away"}' ),
		);
		$order_id  = test_order( 50000 );
		$now       = null;
		$replace   = static function ( $early ) use ( &$now ) {
			if ( null === $now ) {
				return $early;
			}
			return array(
				'headers'  => array( 'location' => 'https://elsewhere.example' ),
				'body'     => $now[1],
				'response' => array( 'code' => $now[0] ),
			);
		};
		add_filter( 'pre_http_request', $replace, 30 );
		foreach ( $responses as $now ) {
			expect_part( 'Press Place order again', press( $order_id ) );
			expect_same( 503, webhook( event_of( $order_id, 'p' ) ), 'a webhook, status ' . $now[0] );
		}
		$now = null;
		expect_same( Fake_Lunas::URL . '/pay/1', press( $order_id ), 'redirect' );
		expect_same( array( 1, 1 ), array( count( lunas()->payments() ), count( test_attempts( $order_id ) ) ), 'payments' );
	},
	'PHP dies before or after the create: the next press makes no second payment' => static function () {
		foreach ( array( 'kill_before', 'kill_after' ) as $fault ) {
			lunas()->reset();
			$order_id = test_order( 50000 );
			lunas()->fail( 'POST /payments', $fault );
			expect_same( array( '' ), in_processes( array( array( 'press', $order_id ) ) ), 'the process died' );
			expect_same( 1, count( test_attempts( $order_id ) ), 'the attempt was saved before the create' );
			expect_same( Fake_Lunas::URL . '/pay/1', press( $order_id ), $fault );
			expect_same( 1, count( lunas()->payments() ), 'payments' );
		}
	},
	'the reconciliation finds the payment of a lost response, and never creates one' => static function () {
		$order_id = test_order( 50000 );
		lunas()->fail( 'POST /payments', 'lost_request' );
		press( $order_id );
		reconcile( $order_id );
		expect_same( array(), lunas()->payments(), 'payments' );
		lunas()->fail( 'POST /payments', 'lost_response' );
		press( $order_id );
		lunas()->to( lunas()->payments()[0]['id'], 'paid' );
		reconcile( $order_id );
		expect_same( 'processing', test_status( $order_id ), 'status' );
	},
	'a payment of another shop with the same order id is none of ours' => static function () {
		$order_id = test_order( 50000 );
		lunas()->fail( 'POST /payments', 'lost_response' );
		press( $order_id );
		$payment             = lunas()->payments()[0];
		$payment['metadata'] = array_merge( $payment['metadata'], array( 'site' => '00000000' ) );
		lunas()->set( $payment['id'], array_merge( $payment, array( 'status' => 'paid' ) ) );
		reconcile( $order_id );
		expect_same( 'pending', test_status( $order_id ), 'status' );
	},
	'two customers press at the same time: one payment'         => static function () {
		$order_id = test_order( 50000 );
		$press    = array( 'press', $order_id );
		$expected = array_fill( 0, 4, wp_json_encode( Fake_Lunas::URL . '/pay/1' ) );
		expect_same( $expected, in_processes( array( $press, $press, $press, $press ) ), 'redirects' );
		expect_same( 1, count( lunas()->payments() ), 'payments' );
	},
	'another process that took the lock and saved an attempt: this one creates nothing' => static function () {
		if ( getenv( 'WOOCOMMERCE_DIR' ) ) {
			return;
		}
		$order_id = test_order( 50000 );
		$is_other = false;
		$save     = static function ( $id ) use ( $order_id, &$is_other ) {
			if ( ! $is_other && $id === $order_id ) {
				$is_other = true;
				$order    = test_fresh( $id );
				$attempts = Lunas_QRIS_Attempts::load( $order );

				$attempts[0]['request'] = str_replace( '50000', '60000', $attempts[0]['request'] );
				Lunas_QRIS_Attempts::save( $order, $attempts );
			}
		};
		add_action( 'test_meta_saved', $save );
		expect_part( 'Press Place order again', press( $order_id ) );
		expect_same( array(), lunas()->payments(), 'payments' );
	},
	'the secret key does not follow a redirect'                 => static function () {
		$seen = array();
		$see  = static function ( $early, $args ) use ( &$seen ) {
			$seen[] = $args['redirection'];
			return $early;
		};
		add_filter( 'pre_http_request', $see, 5, 2 );
		list( $order_id ) = order_with_code();
		reconcile( $order_id );
		expect_same( array( 0, 0 ), $seen, 'redirects that WordPress follows' );
	},
	'an attempt that ended is followed by the next one'         => static function () {
		foreach ( array( 'expired', 'cancelled', 'failed' ) as $status ) {
			lunas()->reset();
			list( $order_id, $payment_id ) = order_with_code();
			lunas()->to( $payment_id, $status );
			expect_same( Fake_Lunas::URL . '/pay/2', press( $order_id ), $status );
			expect_part( '-2', lunas()->payments()[1]['key'] );
		}
	},
	'an attempt without time, or of another total, is cancelled first' => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->set( $payment_id, array( 'expires_at' => gmdate( 'c', time() + 59 ) ) );
		expect_same( Fake_Lunas::URL . '/pay/2', press( $order_id ), 'redirect' );
		expect_same( array( 'cancelled', 'pending' ), array_column( lunas()->payments(), 'status' ), 'statuses' );
		$order = test_fresh( $order_id );
		$order->set_total( '60000' );
		$order->save();
		expect_same( Fake_Lunas::URL . '/pay/3', press( $order_id ), 'redirect' );
		expect_same( array( 50000, 50000, 60000 ), array_column( lunas()->payments(), 'amount' ), 'amounts' );
		$statuses = array_column( lunas()->payments(), 'status' );
		expect_same( array( 'cancelled', 'cancelled', 'pending' ), $statuses, 'statuses' );
	},
	'a provider that cannot cancel: the customer pays the code, or waits for its end' => static function () {
		list( $order_id, $payment_id ) = order_with_code( 50000, 'shopeepay' );
		lunas()->set( $payment_id, array( 'expires_at' => '2020-01-01T14:05:00.000Z' ) );
		expect_part( 'Pay the code that you have, or try again after ', press( $order_id ) );
		expect_same( 1, count( lunas()->payments() ), 'payments' );
	},
	'an order that was paid meanwhile is not paid again'        => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'paid' );
		expect_part( 'order-received', press( $order_id ) );
		expect_same( 'processing', test_status( $order_id ), 'status' );
		expect_same( 1, count( lunas()->payments() ), 'payments' );
	},
	'Lunas is away: an open code is shown again'                => static function () {
		list( $order_id ) = order_with_code();
		lunas()->fail( 'GET', 'lost_request', 9 );
		expect_same( Fake_Lunas::URL . '/pay/1', press( $order_id ), 'redirect' );
	},
	'a rejection is noted, and the next press is a new attempt' => static function () {
		$order_id = test_order( 50000 );
		lunas()->fail( 'POST /payments', 'provider_rejected' );
		expect_part( 'Choose another way to pay', press( $order_id ) );
		expect_part( 'provider_rejected', test_notes( $order_id )[0] );
		expect_same( Fake_Lunas::URL . '/pay/1', press( $order_id ), 'redirect' );
		expect_part( '-2', lunas()->payments()[0]['key'] );
	},
	'a return address that is not registered is left out, and a notice names it' => static function () {
		$order_id = test_order( 50000 );
		lunas()->fail( 'POST /payments', 'return_url_not_allowed' );
		expect_same( Fake_Lunas::URL . '/pay/1', press( $order_id ), 'redirect' );
		$body = json_decode( lunas()->payments()[0]['body'], true );
		expect_same( false, isset( $body['return_url'] ), 'return_url' );
		expect_same( 1, count( test_attempts( $order_id ) ), 'attempts' );
		ob_start();
		do_action( 'admin_notices' );
		expect_part( 'return_url_not_allowed', ob_get_clean() );
	},
	'the notice of a return address disappears when Lunas accepts one' => static function () {
		lunas()->fail( 'POST /payments', 'return_url_not_allowed' );
		press( test_order( 50000 ) );
		expect_same( true, isset( get_option( Lunas_QRIS_Notices::OPTION )['return_url'] ), 'notice' );
		press( test_order( 50000 ) );
		expect_same( false, isset( get_option( Lunas_QRIS_Notices::OPTION )['return_url'] ), 'notice' );
	},
	'a proxy that removes or adds links: the page of the payment is read' => static function () {
		foreach ( array( '', array( '</a.css>; rel=preload', '<' . Fake_Lunas::URL . '/pay/1>; rel="payment"' ) ) as $link ) {
			lunas()->reset();
			$change = static function ( $response, $args ) use ( &$link ) {
				if ( is_array( $response ) && 'POST' === $args['method'] && null !== $link ) {
					$response['headers']['link'] = $link;
				}
				return $response;
			};
			add_filter( 'pre_http_request', $change, 20, 2 );
			$end  = press( test_order( 50000 ) );
			$link = null;
			expect_same( Fake_Lunas::URL . '/pay/1', $end, 'redirect' );
			expect_same( 1, count( lunas()->payments() ), 'payments' );
		}
	},
	'control characters in the name of the shop are not sent'   => static function () {
		update_option( 'blogname', "Kopi\x7f\u{85}\u{2028}Teh" );
		$order_id = test_order( 50000 );
		press( $order_id );
		$body = json_decode( lunas()->payments()[0]['body'], true );
		expect_same( 'Kopi Teh #' . $order_id, $body['description'], 'description' );
	},
	'each character of the name of the shop comes back from the order' => static function () {
		$name = 'Kopi "Enak" \\ 100% \'é\' \u{1F600}';
		update_option( 'blogname', $name );
		$order_id = test_order( 50000 );
		lunas()->fail( 'POST /payments', 'lost_response' );
		press( $order_id );
		expect_same( Fake_Lunas::URL . '/pay/1', press( $order_id ), 'the same body under the same key' );
		$body = json_decode( lunas()->payments()[0]['body'], true );
		expect_same( $name . ' #' . $order_id, $body['description'], 'description' );
		$stored = test_fresh( $order_id )->get_meta( Lunas_QRIS_Attempts::META );
		expect_same( 1, preg_match( '/^[ -\[\]-~]+$/', $stored ), 'ASCII without a backslash' );
	},
	'an order that was copied from a paid one is not paid'      => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'paid' );
		reconcile( $order_id );
		$copy = test_fresh( test_order( 50000 ) );
		foreach ( array( Lunas_QRIS_Attempts::META, Lunas_QRIS_Attempts::CHECK_AT ) as $name ) {
			$copy->update_meta_data( $name, test_fresh( $order_id )->get_meta( $name ) );
		}
		$copy->save_meta_data();
		reconcile( $copy->get_id() );
		expect_same( 'pending', test_status( $copy->get_id() ), 'status' );
		expect_same( '', test_fresh( $copy->get_id() )->get_meta( Lunas_QRIS_Attempts::CHECK_AT ), 'the clock' );
		expect_same( Fake_Lunas::URL . '/pay/2', press( $copy->get_id() ), 'redirect' );
		expect_same( 1, count( test_attempts( $copy->get_id() ) ), 'attempts' );
	},
	'a key that was revoked: orders stay, and the notice has the words of Lunas' => static function () {
		list( $order_id ) = order_with_code();
		test_setting( 'secret_key', 'sk_test_2' );
		reconcile( $order_id );
		expect_part( 'Choose another way to pay', press( test_order( 50000 ) ) );
		expect_same( 'pending', test_status( $order_id ), 'status' );
		ob_start();
		do_action( 'admin_notices' );
		expect_part( 'The key is mistyped.', ob_get_clean() );
		test_setting( 'secret_key', Fake_Lunas::KEY );
		reconcile( $order_id );
		ob_start();
		do_action( 'admin_notices' );
		expect_same( '', ob_get_clean(), 'notices' );
	},
	'the method is offered for rupiah without decimals, from 1 to 10,000,000' => static function () {
		update_option( 'woocommerce_price_num_decimals', '2' );
		$gateway = new Lunas_QRIS_Gateway();
		$carts   = array(
			'50000'    => true,
			'50000.50' => false,
			'10000001' => false,
		);
		foreach ( $carts as $total => $is_available ) {
			test_cart( (string) $total );
			expect_same( $is_available, $gateway->is_available(), (string) $total );
		}
		test_cart( '50000' );
		update_option( 'woocommerce_currency', 'USD' );
		expect_same( false, $gateway->is_available(), 'another currency' );
		update_option( 'woocommerce_currency', 'IDR' );
		expect_same( true, $gateway->is_available(), 'available' );
		test_cart( null );
		foreach ( array( 1, 50000, 10000000 ) as $total ) {
			expect_same( true, Lunas_QRIS_Gateway::is_payable( (float) $total ), (string) $total );
		}
		foreach ( array( 0, 0.5, 50000.5, 10000001 ) as $total ) {
			expect_same( false, Lunas_QRIS_Gateway::is_payable( (float) $total ), (string) $total );
		}
		expect_part( 'cannot be paid by QRIS', press( test_order( '50000.50' ) ) );
		$order_id = test_order( 50 );
		$order    = test_fresh( $order_id );
		$order->set_currency( 'USD' );
		$order->save();
		expect_part( 'cannot be paid by QRIS', press( $order_id ) );
		expect_same( array(), lunas()->calls(), 'calls' );
		test_setting( 'webhook_secret', '' );
		$gateway = new Lunas_QRIS_Gateway();
		expect_same( false, $gateway->is_available(), 'incomplete' );
	},
	'a copy of the shop at another address has other keys'      => static function () {
		$before = Lunas_QRIS_Settings::site();
		update_option( Lunas_QRIS_Settings::INSTALLATION, 'another' );
		expect_same( false, Lunas_QRIS_Settings::site() === $before, 'same site' );
		expect_same( $before, substr( $before, 0, 8 ), 'length' );
	},
	'a copy of the shop at another address does not cancel what customers of the shop pay' => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		update_option( Lunas_QRIS_Settings::INSTALLATION, 'another' );
		hold_stock( $order_id );
		test_fresh( $order_id )->update_status( 'cancelled' );
		expect_same( 'pending', lunas()->payments()[0]['status'], 'payment' );
		lunas()->to( $payment_id, 'paid' );
		reconcile( $order_id );
		expect_same( 'on-hold', test_status( $order_id ), 'a shop that moved still follows its payments' );
	},
	'a shop that moved finds the payment of a lost response'    => static function () {
		$order_id = test_order( 50000 );
		lunas()->fail( 'POST /payments', 'lost_response' );
		press( $order_id );
		update_option( Lunas_QRIS_Settings::INSTALLATION, 'another' );
		lunas()->to( lunas()->payments()[0]['id'], 'paid' );
		reconcile( $order_id );
		expect_same( 'processing', test_status( $order_id ), 'status' );
	},
);
