<?php
/**
 * Reading by the clock.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * Reads the orders that are due, every minute. It works if no webhook ever arrives.
 */
final class Lunas_QRIS_Reconciliation {

	const HOOK         = 'lunas_qris_reconcile';
	const GROUP        = 'lunas-qris';
	const LAST_RUN     = 'lunas_qris_last_run';
	const INTERVAL     = 60;
	const MAX_ORDERS   = 50;
	const MAX_SECONDS  = 20;
	const CALL_SECONDS = 5;

	/**
	 * Adds the recurring action, once. A site that has it also has an identity, by which uninstall finds the site.
	 */
	public static function schedule() {
		if ( ! as_has_scheduled_action( self::HOOK, array(), self::GROUP ) ) {
			Lunas_QRIS_Settings::installation();
			as_schedule_recurring_action( time(), self::INTERVAL, self::HOOK, array(), self::GROUP, true );
		}
	}

	/**
	 * Removes the action.
	 */
	public static function unschedule() {
		if ( function_exists( 'as_unschedule_all_actions' ) ) {
			as_unschedule_all_actions( self::HOOK, array(), self::GROUP );
		}
	}

	/**
	 * Brings the orders that are due to their payments, the oldest first.
	 */
	public static function run() {
		self::run_until( time() + self::MAX_SECONDS );
	}

	/**
	 * Begins no order after a time. The next run takes the rest.
	 *
	 * @param int $end Unix time.
	 */
	public static function run_until( $end ) {
		$started = time();
		update_option( self::LAST_RUN, $started, false );
		foreach ( self::due( $started ) as $order_id ) {
			if ( time() >= $end ) {
				break;
			}
			try {
				Lunas_QRIS_Sync::run( $order_id, self::CALL_SECONDS );
			} catch ( Throwable $error ) {
				// The others do not wait for an order that another plugin breaks.
				wc_get_logger()->error( $error->getMessage(), array( 'source' => self::GROUP ) );
				self::postpone( $order_id );
			}
		}
	}

	/**
	 * The orders that are due.
	 *
	 * @param int $now Unix time.
	 * @return int[]
	 */
	private static function due( $now ) {
		return wc_get_orders(
			array(
				'limit'        => self::MAX_ORDERS,
				'type'         => 'shop_order',
				'return'       => 'ids',
				'meta_key'     => Lunas_QRIS_Attempts::CHECK_AT, // phpcs:ignore WordPress.DB.SlowDBQuery
				'meta_value'   => (string) $now, // phpcs:ignore WordPress.DB.SlowDBQuery
				'meta_compare' => '<=',
				'meta_type'    => 'NUMERIC',
				'orderby'      => 'meta_value_num',
				'order'        => 'ASC',
			)
		);
	}

	/**
	 * Reads an order again after an hour.
	 *
	 * @param int $order_id The order.
	 */
	private static function postpone( $order_id ) {
		$order = wc_get_order( $order_id );
		if ( $order instanceof WC_Order ) {
			Lunas_QRIS_Attempts::check_in( $order, Lunas_QRIS_Attempts::LAST_INTERVAL );
		}
	}
}
