<?php
/**
 * The attempts of an order, in its meta.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * Reads and writes the attempts of an order, each with one payment of Lunas. Its callers have the lock of the order.
 *
 * An attempt whose `payment_id` is empty was saved, and the response to its create was lost.
 */
final class Lunas_QRIS_Attempts {

	const META     = '_lunas_qris_attempts';
	const CHECK_AT = '_lunas_qris_check_at';
	const REFUND   = '_lunas_qris_refund';

	const OPEN  = array( '', 'created', 'pending' );
	const ENDED = array( 'expired', 'cancelled', 'failed' );
	const PAID  = array( 'paid', 'settled' );
	const FINAL = array( 'expired', 'cancelled', 'failed', 'settled', 'refunded' );

	/**
	 * No payment of that age is open. So long a create without a response is looked for.
	 */
	const MAX_OPEN_SECONDS = 90000;

	/**
	 * The age of the newest attempt or refund below which the interval is used, both in seconds.
	 */
	const INTERVALS     = array(
		3600 => 60,
		3900 => 300,
		4800 => 900,
	);
	const LAST_INTERVAL = 3600;

	/**
	 * The attempts of this order, the oldest first. A plugin that duplicates orders copies those of another one.
	 *
	 * @param WC_Order $order The order.
	 * @return array[]
	 */
	public static function load( $order ) {
		$own = static function ( $attempt ) use ( $order ) {
			return self::part_of_key( $attempt, 2 ) === (string) $order->get_id();
		};
		return array_values( array_filter( self::decode( $order->get_meta( self::META ) ), $own ) );
	}

	/**
	 * The shop that made an attempt.
	 *
	 * @param array $attempt An attempt.
	 * @return string Eight hexadecimal digits.
	 */
	public static function site_of( $attempt ) {
		return self::part_of_key( $attempt, 1 );
	}

	/**
	 * A part of the key, such as `wc-0a1b2c3d-101-1`.
	 *
	 * @param array $attempt An attempt.
	 * @param int   $index   The number of the part.
	 * @return string Empty: there is none.
	 */
	private static function part_of_key( $attempt, $index ) {
		$parts = isset( $attempt['key'] ) ? explode( '-', $attempt['key'] ) : array();
		return isset( $parts[ $index ] ) ? $parts[ $index ] : '';
	}

	/**
	 * The open refund: `payment_id`, `state`, `reason`, `restock`, `requested_at`. Empty: there is none.
	 *
	 * @param WC_Order $order The order.
	 * @return array
	 */
	public static function load_refund( $order ) {
		return self::decode( $order->get_meta( self::REFUND ) );
	}

	/**
	 * Saves the open refund.
	 *
	 * @param WC_Order $order  The order.
	 * @param array    $refund Empty: there is none.
	 */
	public static function save_refund( $order, $refund ) {
		if ( array() === $refund ) {
			$order->delete_meta_data( self::REFUND );
		} else {
			$order->update_meta_data( self::REFUND, self::encode( $refund ) );
		}
		self::write( $order );
	}

	/**
	 * Saves the attempts and the time of the next reading.
	 *
	 * @param WC_Order $order    The order.
	 * @param array[]  $attempts The attempts.
	 */
	public static function save( $order, $attempts ) {
		$order->update_meta_data( self::META, self::encode( array_values( $attempts ) ) );
		$delay = self::delay( $attempts, self::load_refund( $order ) );
		if ( null === $delay ) {
			$order->delete_meta_data( self::CHECK_AT );
		} else {
			$order->update_meta_data( self::CHECK_AT, (string) ( time() + $delay ) );
		}
		self::write( $order );
	}

	/**
	 * Writes only the meta: what else changed meanwhile belongs to another object of this order.
	 *
	 * WooCommerce counts hold-stock from the last change of an order, and reports each change. A reading is none.
	 *
	 * @param WC_Order $order The order.
	 */
	public static function write( $order ) {
		$keep = array( __CLASS__, 'is_change_of_order' );
		add_filter( 'woocommerce_orders_table_datastore_should_save_after_meta_change', $keep );
		$order->save_meta_data();
		remove_filter( 'woocommerce_orders_table_datastore_should_save_after_meta_change', $keep );
	}

	/**
	 * Whether the order itself changes with its meta.
	 *
	 * @return bool
	 */
	public static function is_change_of_order() {
		return false;
	}

	/**
	 * Deletes what an order without attempts of its own was copied with, so that the clock does not read it.
	 *
	 * @param WC_Order $order The order.
	 */
	public static function forget_copied( $order ) {
		if ( '' === $order->get_meta( self::META ) ) {
			return;
		}
		foreach ( array( self::META, self::CHECK_AT, self::REFUND ) as $name ) {
			$order->delete_meta_data( $name );
		}
		self::write( $order );
	}

	/**
	 * Makes the next reading of the order due.
	 *
	 * @param WC_Order $order The order.
	 * @param int      $delay In how many seconds.
	 */
	public static function check_in( $order, $delay ) {
		$order->update_meta_data( self::CHECK_AT, (string) ( time() + $delay ) );
		self::write( $order );
	}

	/**
	 * Whether the customer may still pay it.
	 *
	 * @param array $attempt An attempt.
	 * @return bool
	 */
	public static function is_open( $attempt ) {
		return in_array( $attempt['status'], self::OPEN, true );
	}

	/**
	 * Whether its status cannot change any more. Of one that Lunas does not know, it was never read.
	 *
	 * @param array $attempt An attempt.
	 * @return bool
	 */
	public static function is_final( $attempt ) {
		return empty( $attempt['is_unknown'] ) && in_array( $attempt['status'], self::FINAL, true );
	}

	/**
	 * Whether no payment of its age is open.
	 *
	 * @param array $attempt An attempt.
	 * @return bool
	 */
	public static function is_old( $attempt ) {
		return time() - (int) $attempt['created_at'] > self::MAX_OPEN_SECONDS;
	}

	/**
	 * Takes over what Lunas has of the payment.
	 *
	 * @param array $attempt An attempt.
	 * @param array $payment A payment in a response.
	 * @return array The attempt.
	 */
	public static function with_payment( $attempt, $payment ) {
		unset( $attempt['is_unknown'] );
		$attempt['payment_id'] = (string) $payment['id'];
		foreach ( array( 'reference_id', 'status', 'expires_at', 'paid_at', 'provider', 'checkout_url' ) as $name ) {
			if ( isset( $payment[ $name ] ) ) {
				$attempt[ $name ] = (string) $payment[ $name ];
			}
		}
		if ( isset( $payment['amount'] ) ) {
			$attempt['amount'] = (int) $payment['amount'];
		}
		if ( isset( $payment['late_payment']['status'] ) ) {
			$attempt['late'] = (string) $payment['late_payment']['status'];
		}
		return $attempt;
	}

	/**
	 * How long until the next reading.
	 *
	 * @param array[] $attempts The attempts.
	 * @param array   $refund   The open refund.
	 * @return int|null Seconds. Null: nothing can change any more.
	 */
	private static function delay( $attempts, $refund ) {
		$newest  = isset( $refund['requested_at'] ) ? (int) $refund['requested_at'] : 0;
		$is_open = array() !== $refund;
		foreach ( $attempts as $attempt ) {
			$newest  = max( $newest, (int) $attempt['created_at'] );
			$is_lost = '' === $attempt['payment_id'] && self::is_old( $attempt );
			$is_open = $is_open || ( ! $is_lost && ! self::is_final( $attempt ) );
		}
		if ( ! $is_open ) {
			return null;
		}
		foreach ( self::INTERVALS as $age => $interval ) {
			if ( time() - $newest < $age ) {
				return $interval;
			}
		}
		return self::LAST_INTERVAL;
	}

	/**
	 * Reads JSON of a meta.
	 *
	 * @param mixed $json The value.
	 * @return array
	 */
	private static function decode( $json ) {
		$value = is_string( $json ) ? json_decode( $json, true ) : null;
		$value = is_array( $value ) ? $value : array();
		array_walk_recursive(
			$value,
			static function ( &$part ) {
				$part = is_string( $part ) ? rawurldecode( $part ) : $part;
			}
		);
		return $value;
	}

	/**
	 * Writes JSON for a meta, in ASCII and without a backslash: of orders that are also kept as posts, WooCommerce
	 * copies the meta without `wp_slash`, and reads the copy back.
	 *
	 * @param array $value The value.
	 * @return string
	 */
	private static function encode( $value ) {
		array_walk_recursive(
			$value,
			static function ( &$part ) {
				if ( is_string( $part ) ) {
					$escape = static function ( $found ) {
						return rawurlencode( $found[0] );
					};
					$part   = preg_replace_callback( '/[^ -~]|[%"\\\\]/', $escape, $part );
				}
			}
		);
		return (string) wp_json_encode( $value, JSON_UNESCAPED_SLASHES );
	}
}
