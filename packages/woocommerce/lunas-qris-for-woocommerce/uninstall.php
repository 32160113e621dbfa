<?php
/**
 * Deletes the options and the scheduled actions. The meta of orders stays: they are the shop's accounts.
 *
 * @package Lunas_QRIS
 */

defined( 'WP_UNINSTALL_PLUGIN' ) || exit;

/**
 * Deletes what the plugin has in the current site.
 */
function lunas_qris_delete_site_data() {
	foreach ( array( 'notices', 'last_event', 'last_run' ) as $name ) {
		delete_option( 'lunas_qris_' . $name );
	}
	delete_option( 'woocommerce_lunas_qris_settings' );
	// A site of a network that never used the plugin can be without the tables of the scheduler.
	if ( delete_option( 'lunas_qris_installation' ) && function_exists( 'as_unschedule_all_actions' ) ) {
		as_unschedule_all_actions( 'lunas_qris_reconcile', array(), 'lunas-qris' );
	}
}

if ( is_multisite() ) {
	$lunas_qris_all_sites = array(
		'fields' => 'ids',
		'number' => 0,
	);
	foreach ( get_sites( $lunas_qris_all_sites ) as $lunas_qris_site ) {
		switch_to_blog( $lunas_qris_site );
		lunas_qris_delete_site_data();
		restore_current_blog();
	}
} else {
	lunas_qris_delete_site_data();
}
