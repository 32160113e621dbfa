<?php
/**
 * Plugin Name: Lunas QRIS for WooCommerce
 * Description: Customers pay by QRIS through your Lunas. Orders follow what Lunas confirms.
 * Version: 0.1.0
 * Requires at least: 6.9
 * Requires PHP: 7.4
 * Requires Plugins: woocommerce
 * WC requires at least: 10.0
 * WC tested up to: 11.0
 * Author: Lunas
 * License: GPL-2.0-or-later
 * License URI: https://www.gnu.org/licenses/gpl-2.0.html
 * Text Domain: lunas-qris-for-woocommerce
 * Domain Path: /languages
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

define( 'LUNAS_QRIS_VERSION', '0.1.0' );
define( 'LUNAS_QRIS_FILE', __FILE__ );

spl_autoload_register(
	static function ( $name ) {
		if ( 0 === strpos( $name, 'Lunas_QRIS_' ) ) {
			$file = __DIR__ . '/src/class-' . strtolower( str_replace( '_', '-', $name ) ) . '.php';
			if ( is_readable( $file ) ) {
				require $file;
			}
		}
	}
);

Lunas_QRIS_Plugin::register();
