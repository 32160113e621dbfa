<?php
/**
 * Refunds.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * Requests refunds at Lunas. WooCommerce gets its refund when Lunas has confirmed it, so every request ends with an
 * error, on which WooCommerce deletes the refund that it has prepared.
 */
final class Lunas_QRIS_Refunds {

	/**
	 * Whether the items go back to the stock, by the order whose refund WooCommerce has prepared.
	 *
	 * @var bool[]
	 */
	private static $restock = array();

	/**
	 * Keeps what `process_refund` does not get.
	 *
	 * @param WC_Order_Refund $refund The prepared refund.
	 * @param array           $args   The arguments of `wc_create_refund`.
	 */
	public static function remember_arguments( $refund, $args ) {
		if ( ! empty( $args['order_id'] ) && ! empty( $args['refund_payment'] ) ) {
			self::$restock[ (int) $args['order_id'] ] = ! empty( $args['restock_items'] );
		}
	}

	/**
	 * Requests the refund of an order.
	 *
	 * @param int               $order_id The order.
	 * @param float|string|null $amount   Null: the whole total.
	 * @param string            $reason   The reason.
	 * @return WP_Error Its code has the result.
	 */
	public static function process( $order_id, $amount, $reason ) {
		$work   = static function ( $order ) use ( $amount, $reason ) {
			$total    = (float) $order->get_total();
			$wanted   = null === $amount ? $total : (float) $amount;
			$prepared = isset( self::$restock[ $order->get_id() ] ) ? $wanted : 0.0;
			if ( $wanted !== $total || (float) $order->get_total_refunded() !== $prepared ) {
				return self::partial( $total );
			}
			return self::request( $order, (string) $reason );
		};
		$result = Lunas_QRIS_Lock::run( $order_id, $work );
		unset( self::$restock[ (int) $order_id ] );
		return null === $result ? self::unreachable() : $result;
	}

	/**
	 * Requests the refund, if the payment can be refunded.
	 *
	 * @param WC_Order $order  The order.
	 * @param string   $reason The reason.
	 * @return WP_Error
	 */
	private static function request( $order, $reason ) {
		$client = new Lunas_QRIS_Client();
		$known  = self::known( $order );
		if ( null !== $known ) {
			return $known;
		}
		// The payment is read first: the response to an earlier request may be lost.
		$sync = new Lunas_QRIS_Sync( $client, $order );
		if ( ! $sync->bring() ) {
			return self::unreachable();
		}
		$known   = self::known( $order );
		$attempt = $sync->paying_attempt();
		if ( null !== $known ) {
			return $known;
		}
		if ( null === $attempt || 'paid' !== $attempt['status'] ) {
			return self::impossible( null === $attempt ? '' : $attempt['status'] );
		}
		if ( Lunas_QRIS_Attempts::site_of( $attempt ) !== Lunas_QRIS_Settings::site() ) {
			return self::at_other_address();
		}
		$order_id = $order->get_id();
		$refund   = array(
			'payment_id'   => $attempt['payment_id'],
			'state'        => 'requesting',
			'reason'       => $reason,
			'restock'      => isset( self::$restock[ $order_id ] ) ? self::$restock[ $order_id ] : true,
			'requested_at' => time(),
		);
		Lunas_QRIS_Attempts::save_refund( $order, $refund );
		return self::after( $order, $sync, $client->refund( $attempt['payment_id'] ), $attempt );
	}

	/**
	 * The end of a request. Only a rejection needs no reading: the table records what Lunas has.
	 *
	 * @param WC_Order        $order   The order.
	 * @param Lunas_QRIS_Sync $sync    The work on the order.
	 * @param array           $result  Of the request.
	 * @param array           $attempt The attempt that pays the order.
	 * @return WP_Error
	 */
	private static function after( $order, $sync, $result, $attempt ) {
		if ( $result['status'] >= 400 && $result['status'] < 500 ) {
			Lunas_QRIS_Attempts::save_refund( $order, array() );
			if ( 'provider_cannot_refund' === $result['reason'] ) {
				return self::impossible( $attempt['provider'] );
			}
			if ( 'status_not_refundable' === $result['reason'] ) {
				return self::impossible( $attempt['status'] );
			}
			return new WP_Error( 'lunas_qris_rejected', $result['message'] );
		}
		$sync->bring();
		$known = self::known( $order );
		return null === $known ? self::unreachable() : $known;
	}

	/**
	 * The result of an open refund.
	 *
	 * @param WC_Order $order The order.
	 * @return WP_Error|null Null: none is open, or its request may be lost.
	 */
	private static function known( $order ) {
		$refund = Lunas_QRIS_Attempts::load_refund( $order );
		$state  = isset( $refund['state'] ) ? $refund['state'] : '';
		if ( 'requested' === $state ) {
			return new WP_Error(
				'lunas_qris_requested',
				__(
					'The refund is requested. The order becomes Refunded when the provider has confirmed it.',
					'lunas-qris-for-woocommerce'
				)
			);
		}
		if ( 'failed' === $state ) {
			return new WP_Error(
				'lunas_qris_failed',
				__( 'The provider rejected the refund. Lunas decides what follows.', 'lunas-qris-for-woocommerce' )
			);
		}
		return null;
	}

	/**
	 * The result for a part of the total.
	 *
	 * @param float $total The total.
	 * @return WP_Error
	 */
	private static function partial( $total ) {
		/* translators: %s: total of the order. */
		$text = __(
			'Lunas refunds the whole amount only. Enter %s, or pay a part back yourself and press Refund manually.',
			'lunas-qris-for-woocommerce'
		);
		return new WP_Error( 'lunas_qris_partial', sprintf( $text, Lunas_QRIS_Texts::rupiah( $total ) ) );
	}

	/**
	 * The result for a payment that Lunas cannot return.
	 *
	 * @param string $why A status or a provider.
	 * @return WP_Error
	 */
	private static function impossible( $why ) {
		/* translators: %s: status or provider of the payment. */
		$text = __(
			'Lunas cannot return this payment any more (%s). Pay it back yourself and press Refund manually.',
			'lunas-qris-for-woocommerce'
		);
		$why  = '' === $why ? __( 'not paid', 'lunas-qris-for-woocommerce' ) : $why;
		return new WP_Error( 'lunas_qris_impossible', sprintf( $text, $why ) );
	}

	/**
	 * The result for a payment of a shop of which this one is a copy: a test must return no money of its customers.
	 *
	 * @return WP_Error
	 */
	private static function at_other_address() {
		return new WP_Error(
			'lunas_qris_other_address',
			__(
				'This order was paid at another address of the shop. Refund it there, or in the dashboard of Lunas.',
				'lunas-qris-for-woocommerce'
			)
		);
	}

	/**
	 * The result of a request whose effect is not known.
	 *
	 * @return WP_Error
	 */
	private static function unreachable() {
		return new WP_Error(
			'lunas_qris_unreachable',
			__( 'Lunas cannot be reached at present. Press Refund again later.', 'lunas-qris-for-woocommerce' )
		);
	}

	/**
	 * Cancels the open refund of an order at Lunas.
	 *
	 * @param int $order_id The order.
	 */
	public static function cancel( $order_id ) {
		Lunas_QRIS_Lock::run(
			$order_id,
			static function ( $order ) {
				$refund = Lunas_QRIS_Attempts::load_refund( $order );
				if ( empty( $refund['payment_id'] ) ) {
					return;
				}
				$client = new Lunas_QRIS_Client();
				$read   = $client->read( $refund['payment_id'] );
				// A cancel of any other status would not cancel a refund.
				if ( isset( $read['payment']['status'] ) && 'refund_processing' === $read['payment']['status'] ) {
					$result = $client->cancel( $refund['payment_id'] );
					if ( 400 === $result['status'] ) {
						$order->add_order_note(
							__( 'The refund cannot be cancelled any more.', 'lunas-qris-for-woocommerce' )
						);
					}
				}
				$sync = new Lunas_QRIS_Sync( $client, $order );
				$sync->bring();
			}
		);
	}
}
