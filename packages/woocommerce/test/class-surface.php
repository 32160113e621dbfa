<?php
/**
 * What the plugin uses of WordPress and WooCommerce.
 *
 * @package Lunas_QRIS
 */

/**
 * Finds the calls in the source of the plugin, and compares them with `surface.json` and with what is loaded.
 */
final class Surface {

	const FILE   = __DIR__ . '/surface.json';
	const PLUGIN = __DIR__ . '/../lunas-qris-for-woocommerce';

	/**
	 * The functions, methods, classes and hooks of others that the plugin names.
	 *
	 * @return array[] Names by kind, sorted.
	 */
	public static function used() {
		$found = array(
			'functions' => array(),
			'methods'   => array(),
			'hooks'     => array(),
		);
		$own   = array();
		foreach ( self::files() as $file ) {
			self::scan( self::tokens( $file ), $found, $own );
		}
		foreach ( array( 'functions', 'methods' ) as $kind ) {
			$found[ $kind ] = array_diff_key( $found[ $kind ], $own );
		}
		return array_map(
			static function ( $names ) {
				$sorted = array_keys( $names );
				sort( $sorted );
				return $sorted;
			},
			$found
		);
	}

	/**
	 * Whether the plugin declares a method, which hides calls of the same name.
	 *
	 * @param string $name The method.
	 * @return bool
	 */
	public static function is_own( $name ) {
		$declares = '/function ' . preg_quote( $name, '/' ) . '\(/';
		return array() !== preg_grep( $declares, array_map( 'file_get_contents', self::files() ) );
	}

	/**
	 * How many arguments the plugin accepts of each hook that it names.
	 *
	 * @return int[] By hook.
	 */
	public static function accepted_arguments() {
		$found = array();
		foreach ( self::files() as $file ) {
			$pattern = "/add_(?:action|filter)\( '(\w+)'(?:(?!;).)*?(?:, \d+, (\d+))? \);/s";
			preg_match_all( $pattern, file_get_contents( $file ), $matches, PREG_SET_ORDER );
			foreach ( $matches as $match ) {
				$found[ $match[1] ] = isset( $match[2] ) ? (int) $match[2] : 1;
			}
		}
		return $found;
	}

	/**
	 * The files of the plugin.
	 *
	 * @return string[]
	 */
	private static function files() {
		return array_merge( glob( self::PLUGIN . '/*.php' ), glob( self::PLUGIN . '/src/*.php' ) );
	}

	/**
	 * The tokens of a file without white space and comments.
	 *
	 * @param string $file The file.
	 * @return array[] Pairs of kind and text.
	 */
	private static function tokens( $file ) {
		$tokens = array();
		foreach ( token_get_all( file_get_contents( $file ) ) as $token ) {
			$pair = is_array( $token ) ? array( $token[0], $token[1] ) : array( 0, $token );
			if ( ! in_array( $pair[0], array( T_WHITESPACE, T_COMMENT, T_DOC_COMMENT ), true ) ) {
				$tokens[] = $pair;
			}
		}
		return $tokens;
	}

	/**
	 * Collects the names of a file.
	 *
	 * @param array[] $tokens The tokens.
	 * @param array   $found  Gets the names.
	 * @param array   $own    Gets the names that the plugin declares.
	 */
	private static function scan( $tokens, &$found, &$own ) {
		foreach ( $tokens as $at => $token ) {
			$before = $at > 0 ? $tokens[ $at - 1 ] : array( 0, '' );
			$after  = isset( $tokens[ $at + 1 ] ) ? $tokens[ $at + 1 ][1] : '';
			if ( T_STRING !== $token[0] || '(' !== $after ) {
				continue;
			}
			$name = $token[1];
			if ( T_FUNCTION === $before[0] ) {
				$own[ $name ] = true;
			} elseif ( T_OBJECT_OPERATOR === $before[0] ) {
				$found['methods'][ $name ] = true;
			} elseif ( T_DOUBLE_COLON === $before[0] ) {
				$class = substr( strrchr( '\\' . $tokens[ $at - 2 ][1], '\\' ), 1 );
				if ( 0 !== strpos( $class, 'Lunas_QRIS_' ) && ! in_array( $class, array( 'self', 'static' ), true ) ) {
					$found['methods'][ 'parent' === $class ? $name : $class . '::' . $name ] = true;
				}
			} elseif ( T_NEW === $before[0] && 0 !== strpos( $name, 'Lunas_QRIS_' ) && 'stdClass' !== $name ) {
				$found['methods'][ $name . '::__construct' ] = true;
			} elseif ( T_NEW !== $before[0] && ! self::is_of_php( $name ) ) {
				$found['functions'][ $name ] = true;
			}
			$is_hook = in_array( $name, array( 'add_action', 'add_filter' ), true );
			if ( $is_hook && T_CONSTANT_ENCAPSED_STRING === $tokens[ $at + 2 ][0] ) {
				$found['hooks'][ trim( $tokens[ $at + 2 ][1], "'" ) ] = true;
			}
		}
	}

	/**
	 * Whether PHP has a function. WordPress replaces those of mbstring where PHP is without it.
	 *
	 * @param string $name The function.
	 * @return bool
	 */
	private static function is_of_php( $name ) {
		$functions = get_defined_functions();
		return in_array( strtolower( $name ), $functions['internal'], true ) && 0 !== strpos( $name, 'mb_' );
	}

	/**
	 * The list.
	 *
	 * @return array[]
	 */
	public static function listed() {
		return json_decode( file_get_contents( self::FILE ), true );
	}

	/**
	 * The parameters of a function or method that is loaded.
	 *
	 * @param string $name A function, or class and method.
	 * @return string[]|null Names, with `=` behind an optional one. Null: there is none.
	 */
	public static function parameters( $name ) {
		try {
			$parts      = explode( '::', $name );
			$reflection = 2 === count( $parts )
				? new ReflectionMethod( $parts[0], $parts[1] )
				: new ReflectionFunction( $name );
		} catch ( ReflectionException $error ) {
			return null;
		}
		return array_map(
			static function ( $parameter ) {
				return $parameter->getName() . ( $parameter->isOptional() ? '=' : '' );
			},
			$reflection->getParameters()
		);
	}
}
