<?php
/**
 * Deletes the options and the scheduled actions. The meta of orders stays: they are the shop's accounts.
 *
 * @package Lunas_QRIS
 */

defined( 'WP_UNINSTALL_PLUGIN' ) || exit;

foreach ( array( 'installation', 'notices', 'last_event', 'last_run' ) as $lunas_qris_name ) {
	delete_option( 'lunas_qris_' . $lunas_qris_name );
}
delete_option( 'woocommerce_lunas_qris_settings' );

if ( function_exists( 'as_unschedule_all_actions' ) ) {
	as_unschedule_all_actions( 'lunas_qris_reconcile', array(), 'lunas-qris' );
}
