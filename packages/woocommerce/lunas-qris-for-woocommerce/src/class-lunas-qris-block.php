<?php
/**
 * The method in the checkout block.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * Shows the method in the checkout block. Its order is paid by the gateway, as in the classic checkout.
 */
final class Lunas_QRIS_Block extends \Automattic\WooCommerce\Blocks\Payments\Integrations\AbstractPaymentMethodType {

	const SCRIPT = 'lunas-qris-checkout-block';

	/**
	 * The id of the gateway.
	 *
	 * @var string
	 */
	protected $name = 'lunas_qris';

	/**
	 * Reads nothing: the settings are read when they are used.
	 */
	public function initialize() {}

	/**
	 * Whether the block loads the script.
	 *
	 * @return bool
	 */
	public function is_active() {
		return 'yes' === Lunas_QRIS_Settings::get( 'enabled' ) && Lunas_QRIS_Settings::is_complete();
	}

	/**
	 * Registers the script.
	 *
	 * @return string[]
	 */
	public function get_payment_method_script_handles() {
		wp_register_script(
			self::SCRIPT,
			plugins_url( 'assets/checkout-block.js', LUNAS_QRIS_FILE ),
			array( 'wc-blocks-registry', 'wc-settings', 'wp-element', 'wp-html-entities' ),
			LUNAS_QRIS_VERSION,
			true
		);
		return array( self::SCRIPT );
	}

	/**
	 * What the script shows.
	 *
	 * @return array
	 */
	public function get_payment_method_data() {
		return array(
			'title'       => Lunas_QRIS_Settings::get( 'title' ),
			'description' => Lunas_QRIS_Settings::get( 'description' ),
			'maximum'     => Lunas_QRIS_Gateway::MAX_RUPIAH,
		);
	}
}
