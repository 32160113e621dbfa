<?php
/**
 * The page after the checkout.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * Shows a customer who comes back what became of the payment. The return itself proves nothing.
 */
final class Lunas_QRIS_Order_Received {

	const CALL_SECONDS = 3;

	/**
	 * Reads the payment once, and writes its state into the page.
	 *
	 * @param int $order_id The order.
	 */
	public static function render( $order_id ) {
		Lunas_QRIS_Sync::run( $order_id, self::CALL_SECONDS );
		$order = wc_get_order( $order_id );
		if ( ! $order instanceof WC_Order ) {
			return;
		}
		$attempts = Lunas_QRIS_Attempts::load( $order );
		$newest   = end( $attempts );
		if ( false === $newest ) {
			return;
		}
		foreach ( $attempts as $attempt ) {
			if ( in_array( $attempt['status'], Lunas_QRIS_Attempts::PAID, true ) ) {
				self::line( __( 'We have received your payment.', 'lunas-qris-for-woocommerce' ) );
				return;
			}
		}
		if ( ! $order->needs_payment() ) {
			return;
		}
		if ( Lunas_QRIS_Attempts::is_open( $newest ) && '' !== $newest['checkout_url'] ) {
			$text = __( 'We are waiting for your payment.', 'lunas-qris-for-woocommerce' );
			self::line( $text, $newest['checkout_url'], __( 'Show the QRIS code', 'lunas-qris-for-woocommerce' ) );
			return;
		}
		$text = __( 'This payment has ended. Do not pay the old code.', 'lunas-qris-for-woocommerce' );
		self::line( $text, $order->get_checkout_payment_url(), __( 'Pay again', 'lunas-qris-for-woocommerce' ) );
	}

	/**
	 * Writes a line.
	 *
	 * @param string $text  The sentence.
	 * @param string $url   Where its link leads.
	 * @param string $label The link.
	 */
	private static function line( $text, $url = '', $label = '' ) {
		echo '<p class="lunas-qris">' . esc_html( $text );
		if ( '' !== $url ) {
			echo ' <a class="button" href="' . esc_url( $url ) . '">' . esc_html( $label ) . '</a>';
		}
		echo '</p>';
	}
}
