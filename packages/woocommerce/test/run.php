<?php
/**
 * Runs the scenarios of the plugin: `php run.php [part of a name]`.
 *
 * On the stub; with WOOCOMMERCE_DIR, the directory of WooCommerce in an installed WordPress, on the real thing.
 * The last line is `N passed, N failed`.
 *
 * @package Lunas_QRIS
 */

if ( false === getenv( 'LUNAS_QRIS_TEST_DIRECTORY' ) ) {
	$lunas_qris_directory = sys_get_temp_dir() . '/lunas-qris-' . bin2hex( random_bytes( 6 ) );
	mkdir( $lunas_qris_directory );
	putenv( 'LUNAS_QRIS_TEST_DIRECTORY=' . $lunas_qris_directory );
	register_shutdown_function(
		static function () use ( $lunas_qris_directory ) {
			array_map( 'unlink', glob( $lunas_qris_directory . '/*' ) );
			rmdir( $lunas_qris_directory );
		}
	);
}
error_reporting( E_ALL );
ini_set( 'display_errors', 'stderr' );
set_error_handler(
	static function ( $level, $text, $file, $line ) {
		// A call that `@` silences is expected to fail.
		if ( 0 === ( error_reporting() & $level ) || false === strpos( $file, 'lunas-qris-for-woocommerce' ) ) {
			return false;
		}
		throw new ErrorException( $text, 0, $level, $file, $line );
	}
);

$lunas_qris_woocommerce = (string) getenv( 'WOOCOMMERCE_DIR' );
$lunas_qris_needed      = array( '/woocommerce.php', '/../../../wp-load.php' );
foreach ( '' === $lunas_qris_woocommerce ? array() : $lunas_qris_needed as $lunas_qris_file ) {
	if ( ! is_file( $lunas_qris_woocommerce . $lunas_qris_file ) ) {
		fwrite( STDERR, 'WOOCOMMERCE_DIR must be wp-content/plugins/woocommerce of a WordPress: there is no ' );
		fwrite( STDERR, $lunas_qris_woocommerce . $lunas_qris_file . "\n" );
		exit( 1 );
	}
}
require __DIR__ . ( getenv( 'WOOCOMMERCE_DIR' ) ? '/real/shop.php' : '/stub/shop.php' );
require __DIR__ . '/class-fake-lunas.php';
require __DIR__ . '/class-surface.php';
require __DIR__ . '/harness.php';

if ( isset( $argv[1] ) && '--call' === $argv[1] ) {
	lunas()->connect();
	echo wp_json_encode( call_user_func_array( $argv[2], array_slice( $argv, 3 ) ) );
	exit;
}

/**
 * Sets a setting of the plugin.
 *
 * @param string $name  Its key.
 * @param string $value Its value.
 */
function test_setting( $name, $value ) {
	$settings = get_option( Lunas_QRIS_Settings::OPTION, array() );
	update_option( Lunas_QRIS_Settings::OPTION, array_merge( $settings, array( $name => $value ) ) );
}

$lunas_qris_counts = array( 0, 0 );
$lunas_qris_part   = isset( $argv[1] ) ? $argv[1] : '';
lunas()->connect();
foreach ( glob( __DIR__ . '/scenarios/*.php' ) as $lunas_qris_file ) {
	foreach ( require $lunas_qris_file as $lunas_qris_name => $lunas_qris_scenario ) {
		$lunas_qris_name = basename( $lunas_qris_file, '.php' ) . ': ' . $lunas_qris_name;
		if ( '' !== $lunas_qris_part && false === strpos( $lunas_qris_name, $lunas_qris_part ) ) {
			continue;
		}
		test_reset();
		lunas()->reset();
		update_option(
			Lunas_QRIS_Settings::OPTION,
			array(
				'enabled'        => 'yes',
				'title'          => 'QRIS',
				'description'    => 'Scan',
				'api_url'        => Fake_Lunas::URL . '/',
				'secret_key'     => Fake_Lunas::KEY,
				'webhook_secret' => Fake_Lunas::SECRET,
				'provider'       => 'gopay',
			)
		);
		update_option( 'woocommerce_hold_stock_minutes', '60' );
		$lunas_qris_started = microtime( true );
		try {
			$lunas_qris_scenario();
			++$lunas_qris_counts[0];
			printf( "passed %s (%d ms)\n", $lunas_qris_name, 1000 * ( microtime( true ) - $lunas_qris_started ) );
		} catch ( Throwable $lunas_qris_error ) {
			++$lunas_qris_counts[1];
			$lunas_qris_at = $lunas_qris_error->getTrace()[0];
			echo 'FAILED ' . $lunas_qris_name . ': ' . $lunas_qris_error->getMessage();
			echo ' (' . basename( $lunas_qris_at['file'] ?? '' ) . ':' . ( $lunas_qris_at['line'] ?? 0 ) . ")\n";
		}
	}
}
echo $lunas_qris_counts[0] . ' passed, ' . $lunas_qris_counts[1] . " failed\n";
exit( $lunas_qris_counts[1] > 0 || 0 === $lunas_qris_counts[0] ? 1 : 0 );
