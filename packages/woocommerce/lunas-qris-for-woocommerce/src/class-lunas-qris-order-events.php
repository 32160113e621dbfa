<?php
/**
 * What happens to an order in WooCommerce.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * Ends a payment at Lunas when its order ends or changes.
 */
final class Lunas_QRIS_Order_Events {

	/**
	 * Lets hold-stock cancel an unpaid order only after Lunas has confirmed that it cannot be paid any more.
	 *
	 * @param bool     $may_cancel What WooCommerce intends.
	 * @param WC_Order $order      The order.
	 * @return bool False: WooCommerce asks again at its next run.
	 */
	public static function may_cancel( $may_cancel, $order ) {
		if ( ! $may_cancel || array() === Lunas_QRIS_Attempts::load( $order ) ) {
			return $may_cancel;
		}
		$work = static function ( $fresh ) {
			$sync = new Lunas_QRIS_Sync( new Lunas_QRIS_Client(), $fresh );
			return $sync->bring() && $sync->cancel_open();
		};
		return true === Lunas_QRIS_Lock::run( $order->get_id(), $work );
	}

	/**
	 * Cancels the open payment of an order that was cancelled.
	 *
	 * @param int $order_id The order.
	 */
	public static function cancelled( $order_id ) {
		$order = wc_get_order( $order_id );
		if ( $order instanceof WC_Order && self::has_open( $order ) ) {
			Lunas_QRIS_Sync::run( $order_id );
		}
	}

	/**
	 * Cancels the open payment of an order that goes to the trash or is deleted. WooCommerce is about to store the status
	 * that the order has, so a payment that turns out to be paid completes the order only when it is restored.
	 *
	 * @param int $order_id The order, or another post.
	 */
	public static function removed( $order_id ) {
		$order = wc_get_order( $order_id );
		if ( ! $order instanceof WC_Order || ! self::has_open( $order ) ) {
			return;
		}
		Lunas_QRIS_Lock::run(
			$order_id,
			static function ( $fresh ) {
				$sync = new Lunas_QRIS_Sync( new Lunas_QRIS_Client(), $fresh );
				return $sync->cancel_open();
			}
		);
	}

	/**
	 * Makes the next reading of an order due that comes back from the trash, where nothing reads it.
	 *
	 * @param int $order_id The order, or another post.
	 */
	public static function restored( $order_id ) {
		$order = wc_get_order( $order_id );
		if ( $order instanceof WC_Order && array() !== Lunas_QRIS_Attempts::load( $order ) ) {
			Lunas_QRIS_Attempts::check_in( $order, 0 );
		}
	}

	/**
	 * Cancels the open payment of an order whose total changed. The new total is not stored yet.
	 *
	 * @param bool              $and_taxes Whether taxes were calculated.
	 * @param WC_Abstract_Order $order     An order or a refund.
	 */
	public static function total_changed( $and_taxes, $order ) {
		if ( ! $order instanceof WC_Order || ! self::has_open( $order, (float) $order->get_total() ) ) {
			return;
		}
		Lunas_QRIS_Lock::run(
			$order->get_id(),
			static function ( $fresh ) {
				$sync = new Lunas_QRIS_Sync( new Lunas_QRIS_Client(), $fresh );
				if ( $sync->cancel_open() ) {
					$text = __(
						'The total changed. The old code cannot be paid any more.',
						'lunas-qris-for-woocommerce'
					);
					$fresh->add_order_note( $text );
				}
				// What was paid meanwhile is compared with the total that WooCommerce stores now.
				Lunas_QRIS_Attempts::check_in( $fresh, 0 );
			}
		);
	}

	/**
	 * Whether an attempt is open.
	 *
	 * @param WC_Order   $order The order.
	 * @param float|null $total Only attempts of another amount.
	 * @return bool
	 */
	private static function has_open( $order, $total = null ) {
		foreach ( Lunas_QRIS_Attempts::load( $order ) as $attempt ) {
			if ( Lunas_QRIS_Attempts::is_open( $attempt ) && $total !== (float) $attempt['amount'] ) {
				return true;
			}
		}
		return false;
	}
}
