<?php
/**
 * The part of WooCommerce that the plugin uses: names, parameters and effects are those of WooCommerce.
 *
 * @package Lunas_QRIS
 */

// phpcs:disable Squiz.Commenting

abstract class WC_Settings_API {
	public $id          = '';
	public $form_fields = array();
	public $settings    = array();

	public function init_settings() {
		$this->settings = get_option( 'woocommerce_' . $this->id . '_settings', null );
		if ( ! is_array( $this->settings ) ) {
			$this->settings = array_combine( array_keys( $this->form_fields ), array_column( $this->form_fields, 'default' ) );
		}
	}

	public function get_option( $key, $empty_value = null ) {
		$default = isset( $this->form_fields[ $key ]['default'] ) ? $this->form_fields[ $key ]['default'] : '';
		return isset( $this->settings[ $key ] ) ? $this->settings[ $key ] : $default;
	}

	public function process_admin_options() {
		foreach ( array_keys( $this->form_fields ) as $key ) {
			$name                   = 'woocommerce_' . $this->id . '_' . $key;
			$this->settings[ $key ] = isset( $_POST[ $name ] ) ? $_POST[ $name ] : '';
		}
		return update_option( 'woocommerce_' . $this->id . '_settings', $this->settings );
	}

	public function admin_options() {
		echo '<table>' . esc_html( implode( ' ', array_keys( $this->form_fields ) ) ) . '</table>';
	}
}

abstract class WC_Payment_Gateway extends WC_Settings_API {
	public $enabled            = 'yes';
	public $title              = '';
	public $description        = '';
	public $method_title       = '';
	public $method_description = '';
	public $has_fields         = false;
	public $supports           = array( 'products' );

	public function init_settings() {
		parent::init_settings();
		$this->enabled = isset( $this->settings['enabled'] ) && 'yes' === $this->settings['enabled'] ? 'yes' : 'no';
	}

	public function is_available() {
		return 'yes' === $this->enabled;
	}

	protected function get_order_total() {
		return (float) WC()->cart->total;
	}
}

final class WC_Admin_Settings {
	public static $shown = array();

	public static function add_error( $text ) {
		self::$shown[] = $text;
	}

	public static function add_message( $text ) {
		self::$shown[] = $text;
	}
}

abstract class WC_Abstract_Order {}

class WC_Order_Refund extends WC_Abstract_Order {}

class WC_Order_Item_Product {
	private $data;

	public function __construct( $data ) {
		$this->data = $data;
	}

	public function get_quantity() {
		return $this->data['quantity'];
	}

	public function get_total( $context = 'view' ) {
		return $this->data['total'];
	}

	public function get_taxes( $context = 'view' ) {
		return array( 'total' => array() );
	}
}

/**
 * What this process has read of orders. WordPress and WooCommerce keep each part until its own function forgets it.
 */
final class Test_Cache {
	private static $kept = array();

	public static function read( $part, $order_id, callable $read ) {
		if ( ! isset( self::$kept[ $order_id ][ $part ] ) ) {
			self::$kept[ $order_id ][ $part ] = $read();
		}
		return self::$kept[ $order_id ][ $part ];
	}

	public static function forget( $part, $order_id ) {
		unset( self::$kept[ $order_id ][ $part ] );
	}

	public static function forget_order( $order_id ) {
		unset( self::$kept[ $order_id ] );
	}

	public static function forget_all() {
		self::$kept = array();
	}
}

/**
 * Keeps what it has read, as WooCommerce does, and writes only what changed.
 */
class WC_Order extends WC_Abstract_Order {
	private $id;
	private $data;
	private $changes = array();
	private $meta;
	private $changed_meta = array();
	private $transition   = array();

	public function __construct( $id ) {
		$this->id = (int) $id;
		$read     = static function () use ( $id ) {
			return $GLOBALS['test_store']->get( 'orders', (string) $id );
		};
		// A shop has the one or the other, by where it stores orders.
		$read_data  = static function () use ( $id, $read ) {
			return Test_Cache::read( 'data', (int) $id, $read );
		};
		$this->data = Test_Cache::read( 'post', $this->id, $read_data );
		$this->read_meta_data();
	}

	private function prop( $name ) {
		return array_key_exists( $name, $this->changes ) ? $this->changes[ $name ] : $this->data[ $name ];
	}

	public function get_id() {
		return $this->id;
	}

	public function get_order_number() {
		return (string) $this->id;
	}

	public function get_status( $context = 'view' ) {
		return $this->prop( 'status' );
	}

	public function has_status( $status ) {
		return in_array( $this->get_status(), (array) $status, true );
	}

	public function needs_payment() {
		return $this->has_status( array( 'pending', 'failed' ) );
	}

	public function get_currency( $context = 'view' ) {
		return $this->prop( 'currency' );
	}

	public function set_currency( $value ) {
		$this->changes['currency'] = $value;
	}

	public function get_date_modified( $context = 'view' ) {
		return new DateTime( '@' . $this->prop( 'modified' ) );
	}

	public function set_date_modified( $date = null ) {
		$this->changes['modified'] = $date;
	}

	public function get_total( $context = 'view' ) {
		return $this->prop( 'total' );
	}

	public function set_total( $value, $deprecated = '' ) {
		$this->changes['total'] = test_decimal( $value );
	}

	public function calculate_totals( $and_taxes = true ) {
		do_action( 'woocommerce_order_after_calculate_totals', $and_taxes, $this );
		$this->save();
	}

	public function get_transaction_id( $context = 'view' ) {
		return $this->prop( 'transaction_id' );
	}

	public function set_transaction_id( $value ) {
		$this->changes['transaction_id'] = $value;
	}

	public function get_total_refunded() {
		return array_sum( array_column( $GLOBALS['test_store']->get( 'orders', (string) $this->id, 'refunds' ), 'amount' ) );
	}

	public function get_items( $types = 'line_item' ) {
		$item = array(
			'quantity' => 1,
			'total'    => $this->get_total(),
		);
		return array( 7 => new WC_Order_Item_Product( $item ) );
	}

	public function get_checkout_order_received_url() {
		return home_url( '/checkout/order-received/' . $this->id . '/?key=wc_order_1' );
	}

	public function get_checkout_payment_url( $on_checkout = false ) {
		return home_url( '/checkout/order-pay/' . $this->id . '/?pay_for_order=true&key=wc_order_1' );
	}

	public function get_edit_order_url() {
		return admin_url( 'post.php?post=' . $this->id );
	}

	public function get_meta( $key = '', $single = true, $context = 'view' ) {
		return isset( $this->meta[ $key ] ) ? $this->meta[ $key ] : '';
	}

	public function update_meta_data( $key, $value, $meta_id = 0 ) {
		$this->meta[ $key ]         = $value;
		$this->changed_meta[ $key ] = $value;
	}

	public function delete_meta_data( $key ) {
		unset( $this->meta[ $key ] );
		$this->changed_meta[ $key ] = null;
	}

	public function read_meta_data( $force_read = false ) {
		if ( $force_read ) {
			Test_Cache::forget( 'meta', $this->id );
		}
		$read = function () {
			return $GLOBALS['test_store']->get( 'orders', (string) $this->id, 'meta' );
		};

		$this->meta         = Test_Cache::read( 'meta', $this->id, $read );
		$this->changed_meta = array();
	}

	/**
	 * A shop that keeps its orders also as posts reads them from there, where each backslash is lost.
	 */
	public function save_meta_data() {
		$changed            = $this->changed_meta;
		$this->changed_meta = array();
		$id                 = $this->id;
		$GLOBALS['test_store']->change(
			static function ( &$content ) use ( $changed, $id ) {
				$kept = array_filter( array_merge( $content['orders'][ $id ]['meta'], $changed ), 'is_string' );

				$content['orders'][ $id ]['meta'] = array_map( 'stripslashes', $kept );
			}
		);
		Test_Cache::forget( 'meta', $id );
		Test_Cache::forget( 'order', $id );
		do_action( 'test_meta_saved', $id );
		$is_change = array() !== $changed && array() === $this->changes;
		if ( apply_filters( 'woocommerce_orders_table_datastore_should_save_after_meta_change', $is_change ) ) {
			$this->save();
		}
	}

	public function save() {
		$changes       = $this->changes + array( 'modified' => time() );
		$this->changes = array();
		$this->data    = array_merge( $this->data, $changes );
		$id            = $this->id;
		$GLOBALS['test_store']->change(
			static function ( &$content ) use ( $changes, $id ) {
				$content['orders'][ $id ] = array_merge( $content['orders'][ $id ], $changes );
			}
		);
		Test_Cache::forget_order( $id );
		if ( array() !== $this->changed_meta ) {
			$this->save_meta_data();
		}
		$this->status_transition();
		return $id;
	}

	public function set_status( $new_status, $note = '', $manual_update = false ) {
		$before = $this->get_status();
		if ( $before !== $new_status ) {
			$this->transition = array( $note, $before, $new_status );
		}
		$this->changes['status'] = $new_status;
	}

	/**
	 * The note of a status that the order has already is lost.
	 */
	private function status_transition() {
		$transition       = $this->transition;
		$this->transition = array();
		if ( array() !== $transition ) {
			list( $note, $before, $now ) = $transition;
			test_change_stock( $this->id, $now );
			do_action( 'woocommerce_order_status_' . $now, $this->id, $this, array() );
			$this->add_order_note( trim( $note . ' Order status changed from ' . $before . ' to ' . $now . '.' ) );
		}
	}

	public function update_status( $new_status, $note = '', $manual = false ) {
		$this->set_status( $new_status, $note, $manual );
		$this->save();
		return true;
	}

	/**
	 * An error of another plugin ends as a note.
	 */
	public function payment_complete( $transaction_id = '' ) {
		try {
			do_action( 'woocommerce_pre_payment_complete', $this->id, $transaction_id );
			if ( $this->has_status( array( 'on-hold', 'pending', 'failed', 'cancelled' ) ) ) {
				$this->set_transaction_id( $transaction_id );
				$this->set_status( 'processing' );
				$this->save();
				do_action( 'woocommerce_payment_complete', $this->id, $transaction_id );
			}
		} catch ( Exception $error ) {
			$this->add_order_note( 'Payment complete event failed. ' . $error->getMessage() );
			return false;
		}
		return true;
	}

	public function untrash() {
		$status = substr( $this->get_meta( '_wp_trash_meta_status' ), 3 );
		do_action( 'woocommerce_untrash_order', $this->id, $status );
		test_force_status( $this->id, $status );
		return true;
	}

	public function delete( $force_delete = false ) {
		$id = $this->id;
		if ( ! $force_delete ) {
			do_action( 'woocommerce_before_trash_order', $id, $this );
			// What this object has counts when the order is restored, whatever another one has stored meanwhile.
			$this->update_meta_data( '_wp_trash_meta_status', 'wc-' . $this->get_status() );
			$this->save_meta_data();
			test_force_status( $id, 'trash' );
			return true;
		}
		do_action( 'woocommerce_before_delete_order', $id, $this );
		$GLOBALS['test_store']->change(
			static function ( &$content ) use ( $id ) {
				unset( $content['orders'][ $id ] );
			}
		);
		Test_Cache::forget_order( $id );
		return true;
	}

	public function add_order_note( $note, $is_customer_note = 0, $added_by_user = false, $meta_data = array() ) {
		$id = $this->id;
		return $GLOBALS['test_store']->change(
			static function ( &$content ) use ( $id, $note ) {
				$content['orders'][ $id ]['notes'][] = $note;
				return count( $content['orders'][ $id ]['notes'] );
			}
		);
	}
}

/**
 * WooCommerce rounds each total to the shop's number of decimals.
 */
function test_decimal( $value ) {
	return number_format( (float) $value, wc_get_price_decimals(), '.', '' );
}

/**
 * Takes the item of an order out of the stock, or puts it back, once.
 */
function test_change_stock( $order_id, $status ) {
	$takes = array(
		'processing' => true,
		'completed'  => true,
		'on-hold'    => true,
		'cancelled'  => false,
		'pending'    => false,
	);
	if ( isset( $takes[ $status ] ) ) {
		$GLOBALS['test_store']->change(
			static function ( &$content ) use ( $order_id, $status, $takes ) {
				$order = &$content['orders'][ $order_id ];
				if ( $order['has_taken'] !== $takes[ $status ] ) {
					$order['has_taken'] = $takes[ $status ];
					$content['stock']  += $takes[ $status ] ? -1 : 1;
				}
			}
		);
	}
}

function wc_get_order( $the_order = false ) {
	$id = $the_order instanceof WC_Order ? $the_order->get_id() : (int) $the_order;
	if ( null === $GLOBALS['test_store']->get( 'orders', (string) $id ) ) {
		return false;
	}
	$read = static function () use ( $id ) {
		return new WC_Order( $id );
	};
	return clone Test_Cache::read( 'order', $id, $read );
}

function wc_get_orders( $args ) {
	$due = array();
	foreach ( (array) $GLOBALS['test_store']->get( 'orders' ) as $id => $order ) {
		if ( isset( $order['meta'][ $args['meta_key'] ] ) && $order['meta'][ $args['meta_key'] ] <= $args['meta_value'] ) {
			$due[ $id ] = (int) $order['meta'][ $args['meta_key'] ];
		}
	}
	asort( $due );
	return array_slice( array_keys( $due ), 0, $args['limit'] );
}

function wc_create_refund( $args = array() ) {
	$id     = $args['order_id'];
	$order  = wc_get_order( $id );
	$refund = new WC_Order_Refund();
	if ( (float) $args['amount'] > (float) $order->get_total() - $order->get_total_refunded() ) {
		return new WP_Error( 'error', 'Invalid refund amount.' );
	}
	do_action( 'woocommerce_create_refund', $refund, $args );
	$GLOBALS['test_store']->change(
		static function ( &$content ) use ( $id, $args ) {
			$content['orders'][ $id ]['refunds'][] = array(
				'amount' => (float) $args['amount'],
				'reason' => $args['reason'],
			);
		}
	);
	if ( ! empty( $args['refund_payment'] ) ) {
		$gateway = new Lunas_QRIS_Gateway();
		$result  = $gateway->process_refund( $id, $args['amount'], $args['reason'] );
		if ( is_wp_error( $result ) ) {
			$GLOBALS['test_store']->change(
				static function ( &$content ) use ( $id ) {
					array_pop( $content['orders'][ $id ]['refunds'] );
				}
			);
			return new WP_Error( 'error', $result->get_error_message() );
		}
	}
	if ( ! empty( $args['restock_items'] ) && ! empty( $args['line_items'] ) ) {
		test_change_stock( $id, 'pending' );
	}
	if ( $order->get_total_refunded() >= (float) $order->get_total() ) {
		$order->update_status( 'refunded' );
	}
	return $refund;
}

function WC() {
	static $instance = null;
	if ( null === $instance ) {
		$instance       = new stdClass();
		$instance->cart = null;
	}
	return $instance;
}

function get_woocommerce_currency() {
	return get_option( 'woocommerce_currency', 'IDR' );
}

function wc_get_price_decimals() {
	return (int) get_option( 'woocommerce_price_num_decimals', 0 );
}

function wc_add_notice( $message, $notice_type = 'success', $data = array() ) {
	$GLOBALS['test_shown'][] = $message;
}

function wc_get_page_screen_id( $for ) {
	return 'shop_order';
}

class WC_Logger {
	public function error( $message, $context = array() ) {
		$GLOBALS['test_logged'][] = $message;
	}
}

function wc_get_logger() {
	return new WC_Logger();
}

class WC_Data_Store {
	public static function load( $object_type ) {
		return new WC_Data_Store();
	}

	public function has_callable( string $method ) {
		return is_callable( array( $this, $method ) );
	}

	public function clear_cached_data( array $order_ids ) {
		foreach ( $order_ids as $order_id ) {
			Test_Cache::forget( 'data', (int) $order_id );
		}
		return array();
	}
}

class Test_Order_Cache {
	public function remove( int $id ) {
		Test_Cache::forget( 'order', $id );
		return true;
	}
}

class_alias( 'Test_Order_Cache', 'Automattic\WooCommerce\Caches\OrderCache' );

class Test_Container {
	public function get( string $id ) {
		return new $id();
	}
}

function wc_get_container() {
	return new Test_Container();
}

class Test_Features {
	public static function declare_compatibility(
		string $feature_id,
		string $plugin_file,
		bool $positive_compatibility = true
	) {
		$GLOBALS['test_features'][ $feature_id ] = $positive_compatibility;
		return true;
	}
}

class_alias( 'Test_Features', 'Automattic\WooCommerce\Utilities\FeaturesUtil' );

abstract class Test_Payment_Method_Type {
	protected $name = '';

	public function get_name() {
		return $this->name;
	}
}

class_alias(
	'Test_Payment_Method_Type',
	'Automattic\WooCommerce\Blocks\Payments\Integrations\AbstractPaymentMethodType'
);

function test_queue() {
	return 'queue' . ( isset( $GLOBALS['test_site'] ) ? $GLOBALS['test_site'] : '' );
}

function as_has_scheduled_action( $hook, $args = null, $group = '' ) {
	return null !== $GLOBALS['test_store']->get( test_queue(), $hook );
}

function as_schedule_recurring_action(
	$timestamp,
	$interval_in_seconds,
	$hook,
	$args = array(),
	$group = '',
	$unique = false,
	$priority = 10
) {
	$GLOBALS['test_store']->change(
		static function ( &$content ) use ( $hook, $interval_in_seconds ) {
			$content[ test_queue() ][ $hook ] = $interval_in_seconds;
		}
	);
	return 1;
}

function as_unschedule_all_actions( $hook, $args = array(), $group = '' ) {
	$GLOBALS['test_store']->change(
		static function ( &$content ) use ( $hook ) {
			unset( $content[ test_queue() ][ $hook ] );
		}
	);
}
