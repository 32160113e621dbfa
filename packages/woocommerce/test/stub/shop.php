<?php
/**
 * The shop of the scenarios on the stub.
 *
 * @package Lunas_QRIS
 */

require __DIR__ . '/wordpress.php';
require __DIR__ . '/woocommerce.php';

/**
 * Empties the shop.
 */
function test_reset() {
	Test_Cache::forget_all();
	$GLOBALS['test_store']->change(
		static function ( &$content ) {
			$content = array(
				'stock'   => 100,
				'last_id' => 100,
				'orders'  => array(),
				'options' => array( 'blogname' => 'Kopi &amp; Teh' ),
				'queue'   => array(),
			);
		}
	);
}

/**
 * Adds a pending order with one item.
 *
 * @param int|string $total Its total.
 * @return int Its id.
 */
function test_order( $total ) {
	$total = test_decimal( $total );
	return $GLOBALS['test_store']->change(
		static function ( &$content ) use ( $total ) {
			$id = ++$content['last_id'];

			$content['orders'][ $id ] = array(
				'status'         => 'pending',
				'total'          => $total,
				'currency'       => 'IDR',
				'transaction_id' => '',
				'meta'           => array(),
				'notes'          => array(),
				'refunds'        => array(),
				'has_taken'      => false,
				'modified'       => time(),
			);
			return $id;
		}
	);
}

/**
 * An order as the database has it.
 *
 * @param int $order_id The order.
 * @return WC_Order
 */
function test_fresh( $order_id ) {
	Test_Cache::forget_order( (int) $order_id );
	return new WC_Order( $order_id );
}

/**
 * Sets the status of an order without its hooks.
 *
 * @param int    $order_id The order.
 * @param string $status   The status.
 */
function test_force_status( $order_id, $status ) {
	$GLOBALS['test_store']->change(
		static function ( &$content ) use ( $order_id, $status ) {
			$content['orders'][ $order_id ]['status'] = $status;
		}
	);
	Test_Cache::forget_order( (int) $order_id );
}

/**
 * The options of the plugin.
 *
 * @return string[]
 */
function test_own_options() {
	$names = array_keys( (array) $GLOBALS['test_store']->get( test_options() ) );
	return array_values( preg_grep( '/lunas_qris/', $names ) );
}

/**
 * The last message of the settings page.
 *
 * @return string
 */
function test_admin_message() {
	return (string) end( WC_Admin_Settings::$shown );
}

/**
 * The notes of an order, the oldest first.
 *
 * @param int $order_id The order.
 * @return string[]
 */
function test_notes( $order_id ) {
	return $GLOBALS['test_store']->get( 'orders', (string) $order_id, 'notes' );
}

/**
 * The stock of the product.
 *
 * @return int
 */
function test_stock() {
	return $GLOBALS['test_store']->get( 'stock' );
}

/**
 * The amounts that WooCommerce has refunded.
 *
 * @param int $order_id The order.
 * @return int[]
 */
function test_refunds( $order_id ) {
	$refunds = $GLOBALS['test_store']->get( 'orders', (string) $order_id, 'refunds' );
	return array_map( 'intval', array_column( $refunds, 'amount' ) );
}

/**
 * Gives the visitor a cart.
 *
 * @param string|null $total Its total. Null: there is no cart.
 */
function test_cart( $total ) {
	WC()->cart = null === $total ? null : (object) array( 'total' => test_decimal( $total ) );
}

/**
 * Whether the plugin has declared that it works with a feature.
 *
 * @param string $feature The feature.
 * @return bool
 */
function test_is_declared( $feature ) {
	return true === $GLOBALS['test_features'][ $feature ];
}

/**
 * Forgets what the checkout has shown.
 */
function test_clear_notices() {
	$GLOBALS['test_shown'] = array();
}

/**
 * The last error that the checkout has shown.
 *
 * @return string
 */
function test_shown_notice() {
	return (string) end( $GLOBALS['test_shown'] );
}

require __DIR__ . '/../../lunas-qris-for-woocommerce/lunas-qris-for-woocommerce.php';
do_action( 'before_woocommerce_init' );
do_action( 'plugins_loaded' );
do_action( 'init' );
do_action( 'rest_api_init' );
