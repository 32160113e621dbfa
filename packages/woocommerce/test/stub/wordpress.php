<?php
/**
 * The part of WordPress that the plugin uses: names, parameters and effects are those of WordPress.
 *
 * @package Lunas_QRIS
 */

// phpcs:disable Squiz.Commenting

define( 'ABSPATH', __DIR__ . '/' );

require __DIR__ . '/class-test-store.php';

$GLOBALS['test_store'] = new Test_Store( getenv( 'LUNAS_QRIS_TEST_DIRECTORY' ) . '/shop.json' );
$GLOBALS['test_hooks'] = array();

function add_filter( $hook_name, $callback, $priority = 10, $accepted_args = 1 ) {
	$GLOBALS['test_hooks'][ $hook_name ][ $priority ][] = array( $callback, $accepted_args );
	return true;
}

function add_action( $hook_name, $callback, $priority = 10, $accepted_args = 1 ) {
	return add_filter( $hook_name, $callback, $priority, $accepted_args );
}

function remove_filter( $hook_name, $callback, $priority = 10 ) {
	$hooks = (array) $GLOBALS['test_hooks'][ $hook_name ][ $priority ];
	$rest  = static function ( $hook ) use ( $callback ) {
		return $hook[0] !== $callback;
	};

	$GLOBALS['test_hooks'][ $hook_name ][ $priority ] = array_filter( $hooks, $rest );
	return true;
}

function apply_filters( $hook_name, $value, ...$args ) {
	$hooks = isset( $GLOBALS['test_hooks'][ $hook_name ] ) ? $GLOBALS['test_hooks'][ $hook_name ] : array();
	ksort( $hooks );
	foreach ( array_merge( array(), ...$hooks ) as list( $callback, $accepted_args ) ) {
		$value = call_user_func_array( $callback, array_slice( array_merge( array( $value ), $args ), 0, $accepted_args ) );
	}
	return $value;
}

function do_action( $hook_name, ...$arg ) {
	$hooks = isset( $GLOBALS['test_hooks'][ $hook_name ] ) ? $GLOBALS['test_hooks'][ $hook_name ] : array();
	ksort( $hooks );
	foreach ( array_merge( array(), ...$hooks ) as list( $callback, $accepted_args ) ) {
		call_user_func_array( $callback, array_slice( $arg, 0, $accepted_args ) );
	}
}

function register_activation_hook( $file, $callback ) {
	add_action( 'activate_plugin', $callback );
}

function register_deactivation_hook( $file, $callback ) {
	add_action( 'deactivate_plugin', $callback );
}

function test_options() {
	return 'options' . ( isset( $GLOBALS['test_site'] ) ? $GLOBALS['test_site'] : '' );
}

function is_multisite() {
	return isset( $GLOBALS['test_sites'] );
}

function get_sites( $args = array() ) {
	return $GLOBALS['test_sites'];
}

function switch_to_blog( $new_blog_id, $deprecated = null ) {
	$GLOBALS['test_site'] = $new_blog_id;
	return true;
}

function restore_current_blog() {
	unset( $GLOBALS['test_site'] );
	return true;
}

function get_option( $option, $default_value = false ) {
	$value = $GLOBALS['test_store']->get( test_options(), $option );
	return null === $value ? $default_value : $value;
}

function update_option( $option, $value, $autoload = null ) {
	return $GLOBALS['test_store']->change(
		static function ( &$content ) use ( $option, $value ) {
			$content[ test_options() ][ $option ] = $value;
			return true;
		}
	);
}

function add_option( $option, $value = '', $deprecated = '', $autoload = null ) {
	return null === $GLOBALS['test_store']->get( test_options(), $option ) && update_option( $option, $value );
}

function delete_option( $option ) {
	return $GLOBALS['test_store']->change(
		static function ( &$content ) use ( $option ) {
			$was_there = isset( $content[ test_options() ][ $option ] );
			unset( $content[ test_options() ][ $option ] );
			return $was_there;
		}
	);
}

function __( $text, $domain = 'default' ) {
	return $text;
}

function esc_html( $text ) {
	return htmlspecialchars( (string) $text, ENT_QUOTES );
}

function esc_html__( $text, $domain = 'default' ) {
	return esc_html( __( $text, $domain ) );
}

function esc_url( $url, $protocols = null, $_context = 'display' ) {
	return preg_match( '/^https?:/', $url ) ? esc_html( $url ) : '';
}

function absint( $maybeint ) {
	return abs( (int) $maybeint );
}

function untrailingslashit( $value ) {
	return rtrim( $value, '/\\' );
}

function wp_unslash( $value ) {
	return stripslashes( $value );
}

function wp_json_encode( $data, $options = 0, $depth = 512 ) {
	return json_encode( $data, $options, $depth );
}

function wp_generate_uuid4() {
	return vsprintf( '%s%s-%s-4%.3s-a%.3s-%s%s%s', str_split( bin2hex( random_bytes( 16 ) ), 4 ) );
}

function wp_date( $format, $timestamp = null, $timezone = null ) {
	return gmdate( $format, null === $timestamp ? time() : $timestamp );
}

function human_time_diff( $from, $to = 0 ) {
	return ( ( 0 === $to ? time() : $to ) - $from ) . ' seconds';
}

if ( ! function_exists( 'mb_substr' ) ) {
	function mb_substr( $string, $start, $length = null, $encoding = null ) {
		return implode( '', array_slice( preg_split( '//u', $string, -1, PREG_SPLIT_NO_EMPTY ), $start, $length ) );
	}
}

function home_url( $path = '', $scheme = null ) {
	return get_option( 'home', 'https://shop.example' ) . $path;
}

function rest_url( $path = '', $scheme = 'rest' ) {
	return home_url( '/wp-json/' . $path );
}

function admin_url( $path = '', $scheme = 'admin' ) {
	return home_url( '/wp-admin/' . $path );
}

function plugins_url( $path = '', $plugin = '' ) {
	return home_url( '/wp-content/plugins/lunas-qris-for-woocommerce/' . $path );
}

function plugin_basename( $file ) {
	return 'lunas-qris-for-woocommerce/' . basename( $file );
}

function load_plugin_textdomain( $domain, $deprecated = false, $plugin_rel_path = false ) {
	return true;
}

function get_bloginfo( $show = '', $filter = 'raw' ) {
	return (string) get_option( 'blogname', '' );
}

function get_query_var( $query_var, $default_value = '' ) {
	return $default_value;
}

function clean_post_cache( $post ) {
	Test_Cache::forget( 'post', (int) $post );
}

function current_user_can( $capability, ...$args ) {
	return 'nobody' !== get_option( 'test_user', 'shop manager' );
}

function check_admin_referer( $action = -1, $query_arg = '_wpnonce' ) {
	if ( ! isset( $_GET[ $query_arg ] ) || md5( $action ) !== $_GET[ $query_arg ] ) {
		wp_die( 'The link you followed has expired.', '', 403 );
	}
	return 1;
}

function wp_nonce_url( $actionurl, $action = -1, $name = '_wpnonce' ) {
	return $actionurl . '&' . $name . '=' . md5( $action );
}

function wp_die( $message = '', $title = '', $args = array() ) {
	throw new RuntimeException( 'wp_die ' . $args . ': ' . $message );
}

function wp_safe_redirect( $location, $status = 302, $x_redirect_by = 'WordPress' ) {
	throw new RuntimeException( 'redirect ' . $location );
}

function add_meta_box(
	$id,
	$title,
	$callback,
	$screen = null,
	$context = 'advanced',
	$priority = 'default',
	$callback_args = null
) {
	$GLOBALS['test_boxes'][ $id ] = $callback;
}

function wp_register_script( $handle, $src, $deps = array(), $ver = false, $args = array() ) {
	return true;
}

function register_rest_route( $route_namespace, $route, $args = array(), $override = false ) {
	$GLOBALS['test_routes'][ $route_namespace . $route ] = $args;
	return true;
}

class WP_Error {
	private $code;
	private $message;

	public function __construct( $code = '', $message = '', $data = '' ) {
		$this->code    = $code;
		$this->message = $message;
	}

	public function get_error_code() {
		return $this->code;
	}

	public function get_error_message( $code = '' ) {
		return $this->message;
	}
}

function is_wp_error( $thing ) {
	return $thing instanceof WP_Error;
}

class WP_REST_Request {
	private $headers = array();
	private $body    = '';

	public function set_header( $key, $value ) {
		$this->headers[ strtolower( $key ) ] = $value;
	}

	public function get_header( $key ) {
		$key = strtolower( $key );
		return isset( $this->headers[ $key ] ) ? $this->headers[ $key ] : null;
	}

	public function set_body( $data ) {
		$this->body = $data;
	}

	public function get_body() {
		return $this->body;
	}
}

class WP_REST_Response {
	private $data;
	private $status;

	public function __construct( $data = null, $status = 200, $headers = array() ) {
		$this->data   = $data;
		$this->status = $status;
	}

	public function get_data() {
		return $this->data;
	}

	public function get_status() {
		return $this->status;
	}
}

function wp_remote_request( $url, $args = array() ) {
	$early = apply_filters( 'pre_http_request', false, $args, $url );
	if ( false !== $early ) {
		return $early;
	}
	$headers = array( 'User-Agent: ' . $args['user-agent'] );
	foreach ( $args['headers'] as $name => $value ) {
		$headers[] = $name . ': ' . $value;
	}
	$options = array(
		'method'          => $args['method'],
		'header'          => $headers,
		'content'         => (string) $args['body'],
		'timeout'         => $args['timeout'],
		'follow_location' => 0,
		'ignore_errors'   => true,
	);
	$body    = @file_get_contents( $url, false, stream_context_create( array( 'http' => $options ) ) );
	if ( false === $body ) {
		return new WP_Error( 'http_request_failed', 'cURL error 28' );
	}
	$received = array();
	foreach ( array_slice( $http_response_header, 1 ) as $line ) {
		list( $name, $value )            = explode( ':', $line, 2 );
		$received[ strtolower( $name ) ] = trim( $value );
	}
	$status = (int) explode( ' ', $http_response_header[0] )[1];
	return array(
		'headers'  => $received,
		'body'     => $body,
		'response' => array( 'code' => $status ),
	);
}

function wp_remote_retrieve_response_code( $response ) {
	return $response['response']['code'];
}

function wp_remote_retrieve_body( $response ) {
	return $response['body'];
}

function wp_remote_retrieve_header( $response, $header ) {
	return isset( $response['headers'][ $header ] ) ? $response['headers'][ $header ] : '';
}

/**
 * The locks of MySQL: of the connection that has one, and free when its process dies.
 */
class wpdb {
	public $prefix = 'wp_';
	private $locks = array();

	public function prepare( $query, ...$args ) {
		return vsprintf( str_replace( '%s', "'%s'", $query ), array_map( 'addslashes', $args ) );
	}

	public function get_var( $query = null, $x = 0, $y = 0 ) {
		preg_match( "/^SELECT GET_LOCK\('(.*)', (\d+)\)$/", $query, $match );
		list( , $name, $seconds ) = $match;
		if ( isset( $this->locks[ $name ] ) ) {
			++$this->locks[ $name ]['depth'];
			return '1';
		}
		$handle = fopen( getenv( 'LUNAS_QRIS_TEST_DIRECTORY' ) . '/' . md5( $name ) . '.lock', 'c' );
		$end    = microtime( true ) + (int) $seconds;
		while ( ! flock( $handle, LOCK_EX | LOCK_NB ) ) {
			if ( microtime( true ) >= $end ) {
				return '0';
			}
			usleep( 5000 );
		}
		$this->locks[ $name ] = array(
			'handle' => $handle,
			'depth'  => 1,
		);
		return '1';
	}

	public function query( $query ) {
		preg_match( "/^SELECT RELEASE_LOCK\('(.*)'\)$/", $query, $match );
		$name = $match[1];
		if ( 0 === --$this->locks[ $name ]['depth'] ) {
			fclose( $this->locks[ $name ]['handle'] );
			unset( $this->locks[ $name ] );
		}
		return true;
	}
}

$GLOBALS['wpdb'] = new wpdb();
