<?php
/**
 * What the plugin uses of others is listed, and the list is true of what is loaded.
 *
 * @package Lunas_QRIS
 */

/**
 * How many parameters are required, and how many there are.
 *
 * @param string[] $parameters Names, with `=` behind an optional one.
 * @return int[]
 */
function count_parameters( $parameters ) {
	$required = preg_grep( '/=$/', $parameters, PREG_GREP_INVERT );
	return array( count( $required ), count( $parameters ) );
}

/**
 * The part of a name behind `::`.
 *
 * @param string $name A method.
 * @return string
 */
function method_name( $name ) {
	return substr( strrchr( '::' . $name, ':' ), 1 );
}

/**
 * Class and method without the namespace.
 *
 * @param string $name A method.
 * @return string
 */
function without_namespace( $name ) {
	return substr( strrchr( '\\' . $name, '\\' ), 1 );
}

return array(
	'each call and each hook of the plugin is listed'          => static function () {
		$used    = Surface::used();
		$listed  = Surface::listed();
		$methods = array_keys( $listed['methods'] );
		$known   = array_merge(
			array_map( 'method_name', $methods ),
			array_map( 'without_namespace', $methods ),
			// An exception is PHP's own; the store forwards the call to the tables of WooCommerce.
			array( 'getMessage', 'clear_cached_data', 'RuntimeException::__construct' )
		);
		$unlisted = array_diff( $used['functions'], array_keys( $listed['functions'] ) );
		expect_same( array(), array_values( $unlisted ), 'functions' );
		expect_same( array(), array_values( array_diff( $used['methods'], $known ) ), 'methods' );
		expect_same( array(), array_values( array_diff( $used['hooks'], array_keys( $listed['hooks'] ) ) ), 'hooks' );
	},
	'the plugin uses each entry of the list'                   => static function () {
		$used   = Surface::used();
		$listed = Surface::listed();
		$unused = array_filter(
			array_keys( $listed['methods'] ),
			static function ( $name ) use ( $used ) {
				$names = array( method_name( $name ), without_namespace( $name ) );
				return array() === array_intersect( $names, $used['methods'] ) && ! Surface::is_own( $names[0] );
			}
		);
		expect_same( array(), array_values( $unused ), 'methods' );
		$functions = array_diff( array_keys( $listed['functions'] ), $used['functions'] );
		expect_same( array(), array_values( $functions ), 'functions' );
		expect_same( array(), array_values( array_diff( array_keys( $listed['hooks'] ), $used['hooks'] ) ), 'hooks' );
	},
	'what is loaded has each function and method, with its parameters' => static function () {
		$listed = Surface::listed();
		foreach ( array_merge( $listed['functions'], $listed['methods'] ) as $name => $parameters ) {
			$loaded = Surface::parameters( $name );
			expect_same( true, null !== $loaded, $name );
			list( $required, $all )               = count_parameters( $parameters );
			list( $loaded_required, $loaded_all ) = count_parameters( $loaded );
			expect_same( $required, $loaded_required, $name . ': required parameters' );
			expect_same( true, $loaded_all >= $all, $name . ': parameters' );
		}
	},
	'the real thing fires each hook'                           => static function () {
		foreach ( Surface::listed()['hooks'] as $name => $hook ) {
			expect_same( true, is_int( $hook['parameters'] ), $name );
			if ( getenv( 'WOOCOMMERCE_DIR' ) ) {
				expect_same( true, test_is_fired( $hook['fired_as'] ), $name );
			}
		}
	},
	'a hook gets no more arguments than it has'                => static function () {
		$hooks = Surface::listed()['hooks'];
		foreach ( Surface::accepted_arguments() as $name => $accepted ) {
			expect_same( true, $accepted <= max( 1, $hooks[ $name ]['parameters'] ), $name );
		}
	},
);
