<?php
/**
 * The settings of the gateway.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * Reads the settings. A constant of wp-config.php wins over the field of the settings page.
 */
final class Lunas_QRIS_Settings {

	const OPTION       = 'woocommerce_lunas_qris_settings';
	const INSTALLATION = 'lunas_qris_installation';
	const CONSTANTS    = array(
		'api_url'        => 'LUNAS_QRIS_API_URL',
		'secret_key'     => 'LUNAS_QRIS_SECRET_KEY',
		'webhook_secret' => 'LUNAS_QRIS_WEBHOOK_SECRET',
	);

	/**
	 * A setting without white space around it.
	 *
	 * @param string $name Its key.
	 * @return string Empty if it is not set.
	 */
	public static function get( $name ) {
		if ( self::is_constant( $name ) ) {
			return trim( (string) constant( self::CONSTANTS[ $name ] ) );
		}
		$settings = get_option( self::OPTION, array() );
		if ( isset( $settings[ $name ] ) && is_string( $settings[ $name ] ) ) {
			return trim( $settings[ $name ] );
		}
		$defaults = self::defaults();
		return isset( $defaults[ $name ] ) ? $defaults[ $name ] : '';
	}

	/**
	 * What is set before the settings page was saved: a shop can have all secrets in wp-config.php.
	 *
	 * @return string[]
	 */
	public static function defaults() {
		return array(
			'enabled'     => 'yes',
			'title'       => 'QRIS',
			'description' => __( 'Scan the QR code with your bank or e-wallet app.', 'lunas-qris-for-woocommerce' ),
			'provider'    => 'gopay',
		);
	}

	/**
	 * Whether a constant of wp-config.php sets it.
	 *
	 * @param string $name The key of a setting.
	 * @return bool
	 */
	public static function is_constant( $name ) {
		return isset( self::CONSTANTS[ $name ] ) && defined( self::CONSTANTS[ $name ] );
	}

	/**
	 * Whether the address and both secrets are set.
	 *
	 * @return bool
	 */
	public static function is_complete() {
		return ! in_array( '', array_map( array( __CLASS__, 'get' ), array_keys( self::CONSTANTS ) ), true );
	}

	/**
	 * Whether the address, if there is one, is https or this server.
	 *
	 * @return bool
	 */
	public static function is_encrypted() {
		$safe = '#^($|https:|http://(localhost|127\.0\.0\.1|\[::1\])([:/]|$))#i';
		return 1 === preg_match( $safe, self::get( 'api_url' ) );
	}

	/**
	 * The identity of this installation, a UUID that is made once.
	 *
	 * @return string
	 */
	public static function installation() {
		$known = get_option( self::INSTALLATION, '' );
		if ( is_string( $known ) && '' !== $known ) {
			return $known;
		}
		// Of two requests that meet here, the second one keeps the value of the first one.
		add_option( self::INSTALLATION, wp_generate_uuid4() );
		return (string) get_option( self::INSTALLATION, '' );
	}

	/**
	 * Eight hexadecimal digits for this shop at this address: a copy on a staging server has others. `home_url()` differs
	 * by page in a shop of several languages, and by the scheme of the request.
	 *
	 * @return string
	 */
	public static function site() {
		return substr( hash( 'sha256', get_option( 'home' ) . self::installation() ), 0, 8 );
	}
}
