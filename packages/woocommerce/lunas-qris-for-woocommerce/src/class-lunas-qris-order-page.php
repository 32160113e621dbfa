<?php
/**
 * The box on the page of an order.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * Shows the attempts of an order, and lets the shop cancel a refund.
 */
final class Lunas_QRIS_Order_Page {

	const ACTION = 'lunas_qris_cancel_refund';

	/**
	 * Adds the box to orders that have attempts.
	 */
	public static function add_box() {
		$screen = wc_get_page_screen_id( 'shop-order' );
		add_meta_box( 'lunas-qris', 'Lunas QRIS', array( __CLASS__, 'render' ), $screen, 'side' );
	}

	/**
	 * Writes the box.
	 *
	 * @param WP_Post|WC_Order $subject The order, or its post.
	 */
	public static function render( $subject ) {
		$order = $subject instanceof WC_Order ? $subject : wc_get_order( $subject->ID );
		if ( ! $order instanceof WC_Order ) {
			return;
		}
		$attempts = Lunas_QRIS_Attempts::load( $order );
		if ( array() === $attempts ) {
			echo '<p>' . esc_html__( 'No payment by QRIS.', 'lunas-qris-for-woocommerce' ) . '</p>';
			return;
		}
		echo '<ul>';
		foreach ( $attempts as $attempt ) {
			// The plugin does not know the address of the dashboard: the page of the payment shows its state too.
			$url  = esc_url( $attempt['checkout_url'] );
			$name = esc_html( '' === $attempt['reference_id'] ? $attempt['key'] : $attempt['reference_id'] );
			printf(
				'<li>%s<br><strong>%s</strong> · %s · %s</li>',
				'' === $url ? $name : '<a href="' . $url . '">' . $name . '</a>', // phpcs:ignore WordPress.Security.EscapeOutput
				esc_html( Lunas_QRIS_Texts::status( $attempt['status'] ) ),
				esc_html( Lunas_QRIS_Texts::rupiah( $attempt['amount'] ) ),
				esc_html( (string) wp_date( 'Y-m-d H:i', (int) $attempt['created_at'] ) )
			);
		}
		echo '</ul>';
		self::render_refund( $order );
	}

	/**
	 * Writes the open refund.
	 *
	 * @param WC_Order $order The order.
	 */
	private static function render_refund( $order ) {
		$refund = Lunas_QRIS_Attempts::load_refund( $order );
		if ( ! isset( $refund['state'] ) || 'requested' !== $refund['state'] ) {
			return;
		}
		$url = admin_url( 'admin-post.php?action=' . self::ACTION . '&order_id=' . $order->get_id() );
		printf(
			'<p>%s <a class="button" href="%s">%s</a></p>',
			esc_html__( 'Refund requested.', 'lunas-qris-for-woocommerce' ),
			esc_url( wp_nonce_url( $url, self::ACTION . '_' . $order->get_id() ) ),
			esc_html__( 'Cancel refund', 'lunas-qris-for-woocommerce' )
		);
	}

	/**
	 * Cancels the refund, and shows the order again.
	 */
	public static function cancel_refund() {
		// phpcs:ignore WordPress.Security.NonceVerification -- the name of the nonce contains the order.
		$order_id = isset( $_GET['order_id'] ) ? absint( wp_unslash( $_GET['order_id'] ) ) : 0;
		check_admin_referer( self::ACTION . '_' . $order_id );
		if ( ! current_user_can( 'edit_shop_orders' ) ) {
			wp_die( esc_html__( 'You may not change orders.', 'lunas-qris-for-woocommerce' ), '', 403 );
		}
		Lunas_QRIS_Refunds::cancel( $order_id );
		$order = wc_get_order( $order_id );
		wp_safe_redirect( $order instanceof WC_Order ? $order->get_edit_order_url() : admin_url() );
		exit;
	}
}
