<?php
/**
 * The shop of the scenarios on a real WordPress and WooCommerce.
 *
 * WOOCOMMERCE_DIR is the directory `wp-content/plugins/woocommerce` of an installed WordPress without real orders.
 * The plugin is linked into `wp-content/plugins`, and both are active. Every order of this shop is deleted.
 *
 * @package Lunas_QRIS
 */

// phpcs:disable WordPress

require dirname( getenv( 'WOOCOMMERCE_DIR' ), 3 ) . '/wp-load.php';
require __DIR__ . '/../stub/class-test-store.php';

if ( ! class_exists( 'Lunas_QRIS_Plugin' ) || ! class_exists( 'WooCommerce' ) ) {
	exit( "Activate WooCommerce and lunas-qris-for-woocommerce in this WordPress first.\n" );
}
require_once WC_ABSPATH . 'includes/admin/class-wc-admin-settings.php';
require_once ABSPATH . 'wp-admin/includes/template.php';
wp_set_current_user( (int) get_users( array( 'role' => 'administrator' ) )[0]->ID );
wc_load_cart();
add_filter( 'pre_wp_mail', '__return_true' );

/**
 * Empties the shop, and gives it one product.
 */
function test_reset() {
	foreach ( wc_get_orders( array( 'limit' => -1, 'status' => 'any' ) ) as $order ) {
		$order->delete( true );
	}
	foreach ( test_own_options() as $option ) {
		delete_option( $option );
	}
	update_option( 'blogname', 'Kopi &amp; Teh' );
	update_option( 'woocommerce_currency', 'IDR' );
	update_option( 'woocommerce_price_num_decimals', '0' );
	update_option( 'woocommerce_manage_stock', 'yes' );
	$product = new WC_Product_Simple( (int) get_option( 'test_product', 0 ) );
	$product->set_name( 'Kopi' );
	$product->set_regular_price( '50000' );
	$product->set_manage_stock( true );
	$product->set_stock_quantity( 100 );
	update_option( 'test_product', $product->save() );
}

/**
 * Adds a pending order with one item.
 *
 * @param int|string $total Its total.
 * @return int Its id.
 */
function test_order( $total ) {
	$order = wc_create_order( array( 'created_via' => 'checkout' ) );
	$order->add_product( wc_get_product( (int) get_option( 'test_product' ) ), 1, array( 'total' => $total ) );
	$order->set_payment_method( 'lunas_qris' );
	$order->set_total( $total );
	$order->set_status( 'pending' );
	return $order->save();
}

/**
 * An order as the database has it.
 *
 * @param int $order_id The order.
 * @return WC_Order
 */
function test_fresh( $order_id ) {
	return Lunas_QRIS_Lock::run(
		$order_id,
		static function ( $order ) {
			return $order;
		}
	);
}

/**
 * Sets the status of an order without its hooks.
 *
 * @param int    $order_id The order.
 * @param string $status   The status.
 */
function test_force_status( $order_id, $status ) {
	global $wpdb;
	$wpdb->update( $wpdb->posts, array( 'post_status' => 'wc-' . $status ), array( 'ID' => $order_id ) );
	$wpdb->update( $wpdb->prefix . 'wc_orders', array( 'status' => 'wc-' . $status ), array( 'id' => $order_id ) );
	wp_cache_flush();
}

/**
 * The notes of an order, the oldest first.
 *
 * @param int $order_id The order.
 * @return string[]
 */
function test_notes( $order_id ) {
	$notes = wc_get_order_notes( array( 'order_id' => $order_id, 'order' => 'ASC' ) );
	return wp_list_pluck( $notes, 'content' );
}

/**
 * The stock of the product.
 *
 * @return int
 */
function test_stock() {
	wp_cache_flush();
	return (int) wc_get_product( (int) get_option( 'test_product' ) )->get_stock_quantity();
}

/**
 * The amounts that WooCommerce has refunded.
 *
 * @param int $order_id The order.
 * @return int[]
 */
function test_refunds( $order_id ) {
	$amounts = array();
	foreach ( test_fresh( $order_id )->get_refunds() as $refund ) {
		$amounts[] = (int) $refund->get_amount();
	}
	return $amounts;
}

/**
 * The options of the plugin.
 *
 * @return string[]
 */
function test_own_options() {
	global $wpdb;
	return $wpdb->get_col( "SELECT option_name FROM {$wpdb->options} WHERE option_name LIKE '%lunas\\_qris%'" );
}

/**
 * Gives the visitor a cart.
 *
 * @param string|null $total Its total. Null: nothing is in it.
 */
function test_cart( $total ) {
	WC()->cart->set_total( (string) $total );
}

/**
 * Whether the plugin has declared that it works with a feature.
 *
 * @param string $feature The feature.
 * @return bool
 */
function test_is_declared( $feature ) {
	$plugin   = plugin_basename( LUNAS_QRIS_FILE );
	$features = \Automattic\WooCommerce\Utilities\FeaturesUtil::get_compatible_features_for_plugin( $plugin );
	return in_array( $feature, $features['compatible'], true );
}

/**
 * Forgets what the checkout has shown.
 */
function test_clear_notices() {
	wc_clear_notices();
}

/**
 * The last error that the checkout has shown.
 *
 * @return string
 */
function test_shown_notice() {
	$notices = wc_get_notices( 'error' );
	return (string) end( $notices )['notice'];
}

/**
 * The last message of the settings page.
 *
 * @return string
 */
function test_admin_message() {
	ob_start();
	WC_Admin_Settings::show_messages();
	return (string) ob_get_clean();
}

/**
 * Whether a file of WordPress or WooCommerce has the text that fires a hook.
 *
 * @param string $text The text.
 * @return bool
 */
function test_is_fired( $text ) {
	static $sources = null;
	if ( null === $sources ) {
		$sources = '';
		foreach ( array( ABSPATH . 'wp-admin', ABSPATH . 'wp-includes', ABSPATH . 'wp-settings.php', WC_ABSPATH ) as $root ) {
			$files = is_dir( $root )
				? new RecursiveIteratorIterator( new RecursiveDirectoryIterator( $root, FilesystemIterator::SKIP_DOTS ) )
				: array( $root );
			foreach ( $files as $file ) {
				$sources .= '.php' === substr( (string) $file, -4 ) ? file_get_contents( (string) $file ) : '';
			}
		}
	}
	return false !== strpos( $sources, $text );
}
