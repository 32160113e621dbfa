<?php
/**
 * Texts that several pages use.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * Words for amounts, statuses and times.
 */
final class Lunas_QRIS_Texts {

	/**
	 * An amount as it is written in Indonesia.
	 *
	 * @param int|float $amount Rupiah.
	 * @return string
	 */
	public static function rupiah( $amount ) {
		$decimals = floor( (float) $amount ) === (float) $amount ? 0 : 2;
		return 'Rp ' . number_format( (float) $amount, $decimals, ',', '.' );
	}

	/**
	 * A status of a payment in words.
	 *
	 * @param string $status As Lunas has it; empty: unknown.
	 * @return string
	 */
	public static function status( $status ) {
		$texts = array(
			''                  => __( 'no result yet', 'lunas-qris-for-woocommerce' ),
			'created'           => __( 'created', 'lunas-qris-for-woocommerce' ),
			'pending'           => __( 'waiting for payment', 'lunas-qris-for-woocommerce' ),
			'paid'              => __( 'paid', 'lunas-qris-for-woocommerce' ),
			'settled'           => __( 'paid, in your balance', 'lunas-qris-for-woocommerce' ),
			'expired'           => __( 'expired', 'lunas-qris-for-woocommerce' ),
			'cancelled'         => __( 'cancelled', 'lunas-qris-for-woocommerce' ),
			'failed'            => __( 'failed', 'lunas-qris-for-woocommerce' ),
			'refund_processing' => __( 'refund in progress', 'lunas-qris-for-woocommerce' ),
			'refund_failed'     => __( 'refund failed', 'lunas-qris-for-woocommerce' ),
			'refunded'          => __( 'refunded', 'lunas-qris-for-woocommerce' ),
		);
		return isset( $texts[ $status ] ) ? $texts[ $status ] : $status;
	}

	/**
	 * Hours and minutes in the shop's zone.
	 *
	 * @param string $time ISO 8601.
	 * @return string
	 */
	public static function clock( $time ) {
		return (string) wp_date( 'H:i', (int) strtotime( $time ) );
	}
}
