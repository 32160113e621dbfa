<?php
/**
 * The lock of an order.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * Lets one process at a time work on the payments of an order. The database frees the lock of a process that dies.
 */
final class Lunas_QRIS_Lock {

	/**
	 * Runs work on the order as it is in the database after the lock was acquired.
	 *
	 * @param int      $order_id The order.
	 * @param callable $work     Gets the WC_Order.
	 * @param int      $seconds  How long to wait for the lock.
	 * @return mixed What the work returns. Null: another process has the lock, or there is no such order.
	 */
	public static function run( $order_id, callable $work, $seconds = 10 ) {
		global $wpdb;
		$name = 'lunas_qris_' . $wpdb->prefix . '_' . $order_id;
		// phpcs:ignore WordPress.DB.DirectDatabaseQuery -- a lock is no data that WordPress or a cache could have.
		$lock = $wpdb->get_var( $wpdb->prepare( 'SELECT GET_LOCK(%s, %d)', $name, $seconds ) );
		if ( 1 !== (int) $lock ) {
			return null;
		}
		try {
			$order = self::read_again( $order_id );
			return null === $order ? null : $work( $order );
		} finally {
			// phpcs:ignore WordPress.DB.DirectDatabaseQuery
			$wpdb->query( $wpdb->prepare( 'SELECT RELEASE_LOCK(%s)', $name ) );
		}
	}

	/**
	 * Reads the order without the caches of this request, which can be older than the lock.
	 *
	 * @param int $order_id The order.
	 * @return WC_Order|null
	 */
	private static function read_again( $order_id ) {
		clean_post_cache( $order_id );
		$store = WC_Data_Store::load( 'order' );
		if ( $store->has_callable( 'clear_cached_data' ) ) {
			$store->clear_cached_data( array( $order_id ) );
		}
		if ( class_exists( '\Automattic\WooCommerce\Caches\OrderCache' ) ) {
			wc_get_container()->get( \Automattic\WooCommerce\Caches\OrderCache::class )->remove( $order_id );
		}
		$order = wc_get_order( $order_id );
		if ( ! $order instanceof WC_Order ) {
			return null;
		}
		$order->read_meta_data( true );
		return $order;
	}
}
