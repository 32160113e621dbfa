<?php
/**
 * Notices to the people who run the shop.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * Shows what only a person can repair, until it is repaired.
 */
final class Lunas_QRIS_Notices {

	const OPTION = 'lunas_qris_notices';

	/**
	 * Shows or hides a notice.
	 *
	 * @param string $name Its name.
	 * @param string $text What Lunas reports. Empty: the notice disappears.
	 */
	public static function set( $name, $text ) {
		$notices = get_option( self::OPTION, array() );
		$notices = is_array( $notices ) ? $notices : array();
		$before  = isset( $notices[ $name ] ) ? $notices[ $name ] : '';
		if ( $before === $text ) {
			return;
		}
		$notices[ $name ] = $text;
		update_option( self::OPTION, array_filter( $notices, 'strlen' ), true );
	}

	/**
	 * Notes whether Lunas accepts the key.
	 *
	 * @param array $result Of a call.
	 */
	public static function record_result( $result ) {
		if ( 401 === $result['status'] || 403 === $result['status'] ) {
			self::set( 'key', $result['message'] );
		} elseif ( 0 !== $result['status'] && $result['status'] < 500 ) {
			self::set( 'key', '' );
		}
	}

	/**
	 * Writes the notices into a page of the admin.
	 */
	public static function render() {
		if ( ! current_user_can( 'manage_woocommerce' ) ) {
			return;
		}
		$texts   = array(
			'key'        => __( 'Lunas does not accept the secret key:', 'lunas-qris-for-woocommerce' ),
			'return_url' => __( 'Customers are not led back to your shop after they paid:', 'lunas-qris-for-woocommerce' ),
		);
		$notices = get_option( self::OPTION, array() );
		foreach ( array_intersect_key( $texts, is_array( $notices ) ? $notices : array() ) as $name => $text ) {
			printf(
				'<div class="notice notice-error"><p><strong>Lunas QRIS.</strong> %s %s</p></div>',
				esc_html( $text ),
				esc_html( $notices[ $name ] )
			);
		}
	}
}
