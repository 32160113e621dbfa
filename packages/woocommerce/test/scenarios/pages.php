<?php
/**
 * What customers and the shop see.
 *
 * @package Lunas_QRIS
 */

/**
 * What a function prints.
 *
 * @param callable $print The function.
 * @return string
 */
function printed( callable $print ) {
	ob_start();
	$print();
	return ob_get_clean();
}

return array(
	'the page after the checkout shows what became of the payment' => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		$page                          = static function () use ( $order_id ) {
			return printed(
				static function () use ( $order_id ) {
					do_action( 'woocommerce_thankyou_lunas_qris', $order_id );
				}
			);
		};
		expect_part( 'href="' . Fake_Lunas::URL . '/pay/1"', $page() );
		lunas()->to( $payment_id, 'expired' );
		expect_part( 'Pay again', $page() );
		expect_part( 'order-pay', $page() );
		press( $order_id );
		lunas()->to( lunas()->payments()[1]['id'], 'paid' );
		expect_part( 'We have received your payment.', $page() );
		expect_same( 'processing', test_status( $order_id ), 'status' );
	},
	'the page after the checkout is shown while Lunas is away'  => static function () {
		list( $order_id ) = order_with_code();
		lunas()->fail( 'GET', 'lost_request' );
		$page = printed(
			static function () use ( $order_id ) {
				do_action( 'woocommerce_thankyou_lunas_qris', $order_id );
			}
		);
		expect_part( 'We are waiting for your payment.', $page );
	},
	'the box of an order shows its attempts and its open refund' => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		lunas()->to( $payment_id, 'paid' );
		reconcile( $order_id );
		$box = static function ( $id ) {
			return printed(
				static function () use ( $id ) {
					Lunas_QRIS_Order_Page::render( test_fresh( $id ) );
				}
			);
		};
		expect_part( 'LN0000000000000001', $box( $order_id ) );
		expect_part( 'Rp 50.000', $box( $order_id ) );
		expect_part( 'href="' . Fake_Lunas::URL . '/pay/1"', $box( $order_id ) );
		expect_same( false, strpos( $box( $order_id ), 'Cancel refund' ), 'without a refund' );
		expect_part( 'No payment by QRIS.', $box( test_order( 1 ) ) );
		$gateway = new Lunas_QRIS_Gateway();
		$gateway->process_refund( $order_id );
		expect_part( 'Cancel refund', $box( $order_id ) );
		preg_match( '/class="button" href="([^"]+)"/', $box( $order_id ), $match );
		parse_str( (string) parse_url( html_entity_decode( $match[1] ), PHP_URL_QUERY ), $_GET );
		$cancel = static function () {
			try {
				do_action( 'admin_post_lunas_qris_cancel_refund' );
			} catch ( RuntimeException $error ) {
				return $error->getMessage();
			}
		};
		if ( getenv( 'WOOCOMMERCE_DIR' ) ) {
			return;
		}
		$link = $_GET;
		$_GET = array( '_wpnonce' => 'wrong' ) + $link;
		expect_part( 'wp_die 403', $cancel() );
		$_GET = $link;
		update_option( 'test_user', 'nobody' );
		expect_part( 'You may not change orders.', $cancel() );
		expect_same( 'refund_processing', lunas()->payments()[0]['status'], 'payment' );
		update_option( 'test_user', 'shop manager' );
		expect_part( 'redirect ', $cancel() );
		expect_same( 'paid', lunas()->payments()[0]['status'], 'payment' );
	},
	'what Lunas sends is escaped'                               => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		$hostile                       = array(
			'reference_id' => 'LN"><script>',
			'status'       => '<script>',
			'checkout_url' => 'https://lunas.example/"><script>',
		);
		lunas()->set( $payment_id, $hostile );
		reconcile( $order_id );
		Lunas_QRIS_Notices::set( 'key', '<script>' );
		$pages = printed(
			static function () use ( $order_id ) {
				do_action( 'admin_notices' );
				do_action( 'woocommerce_thankyou_lunas_qris', $order_id );
				Lunas_QRIS_Order_Page::render( test_fresh( $order_id ) );
			}
		);
		expect_same( false, strpos( $pages, '<script' ), 'tags' );
		lunas()->set( $payment_id, array( 'status' => 'pending' ) );
		$attempt = array( 'checkout_url' => 'https://lunas.example/"onclick="x' );
		lunas()->set( $payment_id, $attempt );
		$page = static function () use ( $order_id ) {
			do_action( 'woocommerce_thankyou_lunas_qris', $order_id );
		};
		expect_same( false, strpos( printed( $page ), '"onclick' ), 'an attribute' );
		lunas()->set( $payment_id, array( 'checkout_url' => 'javascript:alert(1)' ) );
		expect_same( false, strpos( printed( $page ), 'javascript:' ), 'an address' );
	},
	'only people who run the shop see its notices'              => static function () {
		if ( getenv( 'WOOCOMMERCE_DIR' ) ) {
			return;
		}
		Lunas_QRIS_Notices::set( 'key', 'The key is mistyped.' );
		update_option( 'test_user', 'nobody' );
		$notices = static function () {
			do_action( 'admin_notices' );
		};
		expect_same( '', printed( $notices ), 'a subscriber' );
		update_option( 'test_user', 'shop manager' );
		expect_part( 'The key is mistyped.', printed( $notices ) );
	},
	'the settings page shows the address of the webhook, and since when nothing came' => static function () {
		$page = static function () {
			$gateway = new Lunas_QRIS_Gateway();
			return printed( array( $gateway, 'admin_options' ) );
		};
		expect_part( 'lunas-qris/v1/webhook', $page() );
		expect_part( 'never', $page() );
		webhook( array( 'event' => 'ping' ) );
		do_action( 'lunas_qris_reconcile' );
		expect_same( false, strpos( $page(), 'never' ), 'never' );
		expect_same( false, strpos( $page(), 'Number of decimals' ), 'decimals' );
		update_option( 'woocommerce_price_num_decimals', '2' );
		expect_part( 'Number of decimals', $page() );
		update_option( 'woocommerce_price_num_decimals', '0' );
	},
	'saving the settings checks them at Lunas'                  => static function () {
		$save = static function ( $key ) {
			$_POST = array();
			$known = array( 'secret_key' => $key ) + get_option( Lunas_QRIS_Settings::OPTION );
			foreach ( $known as $name => $value ) {
				$_POST[ 'woocommerce_lunas_qris_' . $name ] = $value;
			}
			$gateway = new Lunas_QRIS_Gateway();
			$gateway->process_admin_options();
			return test_admin_message();
		};
		expect_part( 'Lunas accepts the key.', $save( Fake_Lunas::KEY ) );
		expect_part( 'Lunas does not know this secret key.', $save( 'sk_test_2' ) );
		lunas()->fail( 'GET', 'lost_request' );
		expect_part( 'Lunas cannot be reached at this address.', $save( Fake_Lunas::KEY ) );
	},
	'an address without encryption is an error, unless it is this server' => static function () {
		$addresses = array(
			''                             => true,
			'https://lunas.example'        => true,
			'http://localhost:3000'        => true,
			'http://127.0.0.1/'            => true,
			'http://lunas.example'         => false,
			'http://localhost.example'     => false,
			'http://127.0.0.1@lunas.test/' => false,
			'lunas.example'                => false,
		);
		foreach ( $addresses as $address => $is_encrypted ) {
			test_setting( 'api_url', $address );
			expect_same( $is_encrypted, Lunas_QRIS_Settings::is_encrypted(), $address );
		}
		$_POST   = array( 'woocommerce_lunas_qris_api_url' => 'http://lunas.example' );
		$gateway = new Lunas_QRIS_Gateway();
		$gateway->process_admin_options();
		expect_part( 'without encryption', test_admin_message() );
	},
	'a constant of wp-config.php wins over the settings page'   => static function () {
		$end = in_processes( array( array( 'with_constants' ) ) )[0];
		expect_same( array( 'sk_test_of_constant', true, true ), json_decode( $end, true ), 'settings' );
	},
	'the checkout block has title, description and the limit'   => static function () {
		$block = new Lunas_QRIS_Block();
		expect_same( 'lunas_qris', $block->get_name(), 'name' );
		expect_same( true, $block->is_active(), 'active' );
		expect_same( array( 'lunas-qris-checkout-block' ), $block->get_payment_method_script_handles(), 'script' );
		$data = array(
			'title'       => 'QRIS',
			'description' => 'Scan',
			'maximum'     => 10000000,
		);
		expect_same( $data, $block->get_payment_method_data(), 'data' );
		test_setting( 'enabled', 'no' );
		expect_same( false, $block->is_active(), 'switched off' );
		delete_option( Lunas_QRIS_Settings::OPTION );
		$gateway = new Lunas_QRIS_Gateway();
		foreach ( array( 'enabled', 'title', 'description', 'provider' ) as $name ) {
			expect_same( $gateway->get_option( $name ), Lunas_QRIS_Settings::get( $name ), $name . ' before the first save' );
		}
		expect_same( 'yes', Lunas_QRIS_Settings::get( 'enabled' ), 'a shop with constants only' );
		$gateways = apply_filters( 'woocommerce_payment_gateways', array( 'A' ) );
		expect_same( true, in_array( 'Lunas_QRIS_Gateway', $gateways, true ), 'the list of gateways' );
	},
	'the plugin declares orders in tables of their own, and the checkout block' => static function () {
		expect_same( true, test_is_declared( 'custom_order_tables' ), 'orders' );
		expect_same( true, test_is_declared( 'cart_checkout_blocks' ), 'block' );
	},
	'uninstall leaves the meta of orders, and nothing else'     => static function () {
		list( $order_id, $payment_id ) = order_with_code();
		webhook( event_of( $order_id, $payment_id ) );
		do_action( 'action_scheduler_init' );
		do_action( 'lunas_qris_reconcile' );
		Lunas_QRIS_Notices::set( 'key', 'The key is mistyped.' );
		defined( 'WP_UNINSTALL_PLUGIN' ) || define( 'WP_UNINSTALL_PLUGIN', true );
		if ( ! getenv( 'WOOCOMMERCE_DIR' ) ) {
			// A site of a network, beside this one.
			switch_to_blog( 2 );
			do_action( 'action_scheduler_init' );
			update_option( Lunas_QRIS_Settings::OPTION, array() );
			restore_current_blog();
			$GLOBALS['test_sites'] = array( '', 2 );
		}
		require Surface::PLUGIN . '/uninstall.php';
		unset( $GLOBALS['test_sites'] );
		if ( ! getenv( 'WOOCOMMERCE_DIR' ) ) {
			switch_to_blog( 2 );
			expect_same( array(), test_own_options(), 'options of the other site' );
			expect_same( false, as_has_scheduled_action( 'lunas_qris_reconcile', array(), 'lunas-qris' ), 'its queue' );
			restore_current_blog();
		}
		expect_same( array(), test_own_options(), 'options' );
		expect_same( false, as_has_scheduled_action( 'lunas_qris_reconcile', array(), 'lunas-qris' ), 'queue' );
		expect_same( 1, count( test_attempts( $order_id ) ), 'attempts' );
	},
);
