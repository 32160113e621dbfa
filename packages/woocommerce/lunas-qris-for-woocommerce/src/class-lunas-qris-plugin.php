<?php
/**
 * The hooks of the plugin.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * Connects the plugin with WordPress and WooCommerce. Every other class is only called from here.
 */
final class Lunas_QRIS_Plugin {

	/**
	 * Adds what works before WooCommerce is loaded.
	 */
	public static function register() {
		register_activation_hook( LUNAS_QRIS_FILE, array( 'Lunas_QRIS_Settings', 'installation' ) );
		register_deactivation_hook( LUNAS_QRIS_FILE, array( 'Lunas_QRIS_Reconciliation', 'unschedule' ) );
		add_action( 'before_woocommerce_init', array( __CLASS__, 'declare_features' ) );
		add_action( 'plugins_loaded', array( __CLASS__, 'connect' ) );
		add_action( 'init', array( __CLASS__, 'load_texts' ) );
	}

	/**
	 * Adds the hooks that need WooCommerce.
	 */
	public static function connect() {
		if ( ! class_exists( 'WC_Payment_Gateway' ) ) {
			return;
		}
		add_filter( 'woocommerce_payment_gateways', array( __CLASS__, 'add_gateway' ) );
		add_action( 'woocommerce_blocks_payment_method_type_registration', array( __CLASS__, 'add_block' ) );
		add_action( 'rest_api_init', array( 'Lunas_QRIS_Webhook', 'register_route' ) );
		add_action( 'woocommerce_thankyou_lunas_qris', array( 'Lunas_QRIS_Order_Received', 'render' ) );
		add_action( 'admin_notices', array( 'Lunas_QRIS_Notices', 'render' ) );

		add_action( 'action_scheduler_init', array( 'Lunas_QRIS_Reconciliation', 'schedule' ) );
		add_action( Lunas_QRIS_Reconciliation::HOOK, array( 'Lunas_QRIS_Reconciliation', 'run' ) );

		add_filter( 'woocommerce_cancel_unpaid_order', array( 'Lunas_QRIS_Order_Events', 'may_cancel' ), 10, 2 );
		add_action( 'woocommerce_order_status_cancelled', array( 'Lunas_QRIS_Order_Events', 'cancelled' ) );
		$removed = array( 'Lunas_QRIS_Order_Events', 'removed' );
		add_action( 'woocommerce_before_trash_order', $removed );
		add_action( 'woocommerce_before_delete_order', $removed );
		// The list of orders that are posts calls no function of WooCommerce.
		add_action( 'wp_trash_post', $removed );
		$restored = array( 'Lunas_QRIS_Order_Events', 'restored' );
		add_action( 'woocommerce_untrash_order', $restored );
		add_action( 'untrashed_post', $restored );
		$edited = array( 'Lunas_QRIS_Order_Events', 'total_changed' );
		add_action( 'woocommerce_order_after_calculate_totals', $edited, 10, 2 );

		add_action( 'woocommerce_create_refund', array( 'Lunas_QRIS_Refunds', 'remember_arguments' ), 10, 2 );
		add_action( 'add_meta_boxes', array( 'Lunas_QRIS_Order_Page', 'add_box' ) );
		add_action( 'admin_post_lunas_qris_cancel_refund', array( 'Lunas_QRIS_Order_Page', 'cancel_refund' ) );
	}

	/**
	 * Declares what the plugin works with: orders in tables of their own, and the checkout block.
	 */
	public static function declare_features() {
		if ( class_exists( '\Automattic\WooCommerce\Utilities\FeaturesUtil' ) ) {
			foreach ( array( 'custom_order_tables', 'cart_checkout_blocks' ) as $feature ) {
				\Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility( $feature, LUNAS_QRIS_FILE, true );
			}
		}
	}

	/**
	 * Loads the Indonesian texts of the plugin's own directory.
	 */
	public static function load_texts() {
		$directory = dirname( plugin_basename( LUNAS_QRIS_FILE ) ) . '/languages';
		load_plugin_textdomain( 'lunas-qris-for-woocommerce', false, $directory );
	}

	/**
	 * Adds the gateway to those of WooCommerce.
	 *
	 * @param array $gateways Class names.
	 * @return array
	 */
	public static function add_gateway( $gateways ) {
		$gateways[] = 'Lunas_QRIS_Gateway';
		return $gateways;
	}

	/**
	 * Adds the method to the checkout block.
	 *
	 * @param \Automattic\WooCommerce\Blocks\Payments\PaymentMethodRegistry $registry The methods of the block.
	 */
	public static function add_block( $registry ) {
		$registry->register( new Lunas_QRIS_Block() );
	}
}
