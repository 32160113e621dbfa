<?php
/**
 * The gateway.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * The payment method of WooCommerce, with its settings.
 */
class Lunas_QRIS_Gateway extends WC_Payment_Gateway {

	const MAX_RUPIAH = 10000000;

	/**
	 * Reads the settings.
	 */
	public function __construct() {
		$this->id                 = 'lunas_qris';
		$this->has_fields         = false;
		$this->supports           = array( 'products', 'refunds' );
		$this->method_title       = 'Lunas QRIS';
		$this->method_description = __(
			'Customers pay by QRIS on the page of your Lunas. Orders follow what Lunas confirms.',
			'lunas-qris-for-woocommerce'
		);
		$this->init_form_fields();
		$this->init_settings();
		$this->title       = $this->get_option( 'title' );
		$this->description = $this->get_option( 'description' );
		$save              = array( $this, 'process_admin_options' );
		add_action( 'woocommerce_update_options_payment_gateways_' . $this->id, $save );
	}

	/**
	 * Declares the fields of the settings page.
	 */
	public function init_form_fields() {
		$defaults          = Lunas_QRIS_Settings::defaults();
		$this->form_fields = array(
			'enabled'        => array(
				'title'   => __( 'Active', 'lunas-qris-for-woocommerce' ),
				'type'    => 'checkbox',
				'label'   => __( 'Customers can pay by QRIS', 'lunas-qris-for-woocommerce' ),
				'default' => $defaults['enabled'],
			),
			'api_url'        => $this->secret_field(
				'api_url',
				'url',
				__( 'Address of Lunas', 'lunas-qris-for-woocommerce' ),
				__( 'Such as https://pay.example.com', 'lunas-qris-for-woocommerce' )
			),
			'secret_key'     => $this->secret_field(
				'secret_key',
				'password',
				__( 'Secret key', 'lunas-qris-for-woocommerce' ),
				__( 'Dashboard, Developers, Keys: it reads, creates, cancels and refunds payments.', 'lunas-qris-for-woocommerce' )
			),
			'webhook_secret' => $this->secret_field(
				'webhook_secret',
				'password',
				__( 'Webhook secret', 'lunas-qris-for-woocommerce' ),
				__( 'Dashboard, Developers, Webhooks: add the address below, and copy its secret.', 'lunas-qris-for-woocommerce' )
			),
			'title'          => array(
				'title'   => __( 'Title', 'lunas-qris-for-woocommerce' ),
				'type'    => 'text',
				'default' => $defaults['title'],
			),
			'description'    => array(
				'title'   => __( 'Description', 'lunas-qris-for-woocommerce' ),
				'type'    => 'textarea',
				'default' => $defaults['description'],
			),
			'provider'       => array(
				'title'   => __( 'Provider', 'lunas-qris-for-woocommerce' ),
				'type'    => 'select',
				'default' => $defaults['provider'],
				'options' => array(
					'gopay'     => 'GoPay',
					'shopeepay' => 'ShopeePay',
				),
			),
		);
	}

	/**
	 * A field that a constant of wp-config.php can replace.
	 *
	 * @param string $name        Its key.
	 * @param string $type        Its type.
	 * @param string $title       Its label.
	 * @param string $description The text below it.
	 * @return array
	 */
	private function secret_field( $name, $type, $title, $description ) {
		$field = array(
			'title'       => $title,
			'type'        => $type,
			'description' => $description,
			'default'     => '',
		);
		if ( Lunas_QRIS_Settings::is_constant( $name ) ) {
			$field['description'] = __( 'Set in wp-config.php.', 'lunas-qris-for-woocommerce' );
			$field['disabled']    = true;
		}
		return $field;
	}

	/**
	 * Whether a customer can choose the method. Amounts are never rounded here.
	 *
	 * @return bool
	 */
	public function is_available() {
		if ( ! parent::is_available() || ! Lunas_QRIS_Settings::is_complete() || 'IDR' !== get_woocommerce_currency() ) {
			return false;
		}
		if ( ! WC()->cart && 0 === absint( get_query_var( 'order-pay' ) ) ) {
			return true;
		}
		return self::is_payable( (float) $this->get_order_total() );
	}

	/**
	 * Whether Lunas can take a total.
	 *
	 * @param float $total The total.
	 * @return bool
	 */
	public static function is_payable( $total ) {
		return $total >= 1 && $total <= self::MAX_RUPIAH && floor( $total ) === $total;
	}

	/**
	 * Whether the settings page opens when the method is switched on.
	 *
	 * @return bool
	 */
	public function needs_setup() {
		return ! Lunas_QRIS_Settings::is_complete();
	}

	/**
	 * Leads the customer to the page of the payment. The order stays pending, so its stock stays reserved.
	 *
	 * @param int $order_id The order.
	 * @return array
	 */
	public function process_payment( $order_id ) {
		$order = wc_get_order( $order_id );
		// A link to pay an old order works after the currency of the shop has changed.
		$is_payable = $order instanceof WC_Order && 'IDR' === $order->get_currency()
			&& self::is_payable( (float) $order->get_total() );
		if ( ! $is_payable ) {
			$end = array( 'error' => __( 'This total cannot be paid by QRIS.', 'lunas-qris-for-woocommerce' ) );
		} else {
			$end = Lunas_QRIS_Checkout::start( (int) $order_id );
		}
		if ( isset( $end['error'] ) ) {
			wc_add_notice( $end['error'], 'error' );
			return array( 'result' => 'failure' );
		}
		return array(
			'result'   => 'success',
			'redirect' => $end['redirect'],
		);
	}

	/**
	 * Requests a refund.
	 *
	 * @param int               $order_id The order.
	 * @param float|string|null $amount   The amount.
	 * @param string            $reason   The reason.
	 * @return WP_Error
	 */
	public function process_refund( $order_id, $amount = null, $reason = '' ) {
		return Lunas_QRIS_Refunds::process( (int) $order_id, $amount, $reason );
	}

	/**
	 * Saves the settings, and checks them at Lunas.
	 *
	 * @return bool
	 */
	public function process_admin_options() {
		$is_saved = parent::process_admin_options();
		if ( Lunas_QRIS_Settings::is_complete() ) {
			$this->check();
		}
		if ( ! Lunas_QRIS_Settings::is_encrypted() ) {
			WC_Admin_Settings::add_error(
				__( 'The secret key is sent without encryption. Enter an address with https.', 'lunas-qris-for-woocommerce' )
			);
		}
		return $is_saved;
	}

	/**
	 * Shows what is wrong with address or key.
	 */
	private function check() {
		$client = new Lunas_QRIS_Client();
		$result = $client->check();
		if ( 200 === $result['status'] ) {
			WC_Admin_Settings::add_message( __( 'Lunas accepts the key.', 'lunas-qris-for-woocommerce' ) );
			return;
		}
		if ( 401 === $result['status'] ) {
			$text = __( 'Lunas does not know this secret key.', 'lunas-qris-for-woocommerce' );
		} elseif ( 'api_key_ip_not_allowed' === $result['code'] ) {
			$text = __(
				'The key does not work from the address of this server. Add the address to the key.',
				'lunas-qris-for-woocommerce'
			);
		} elseif ( 0 === $result['status'] || $result['status'] >= 500 ) {
			$text = __( 'Lunas cannot be reached at this address.', 'lunas-qris-for-woocommerce' );
		} else {
			$text = __( 'Lunas rejects the settings.', 'lunas-qris-for-woocommerce' );
		}
		WC_Admin_Settings::add_error( trim( $text . ' ' . $result['message'] ) );
	}

	/**
	 * Writes the settings page.
	 */
	public function admin_options() {
		parent::admin_options();
		echo '<h3>' . esc_html__( 'State', 'lunas-qris-for-woocommerce' ) . '</h3><table class="form-table">';
		$this->row(
			__( 'Webhook address', 'lunas-qris-for-woocommerce' ),
			rest_url( Lunas_QRIS_Webhook::NAMESPACE_NAME . '/webhook' )
		);
		$this->row( __( 'Last event', 'lunas-qris-for-woocommerce' ), $this->ago( Lunas_QRIS_Webhook::LAST_EVENT ) );
		$this->row( __( 'Last reading', 'lunas-qris-for-woocommerce' ), $this->ago( Lunas_QRIS_Reconciliation::LAST_RUN ) );
		if ( wc_get_price_decimals() > 0 ) {
			printf(
				'<tr><th>%s</th><td><a href="%s">%s</a></td></tr>',
				esc_html__( 'Decimals', 'lunas-qris-for-woocommerce' ),
				esc_url( admin_url( 'admin.php?page=wc-settings&tab=general' ) ),
				esc_html__(
					'A total with decimals cannot be paid by QRIS. Set Number of decimals to 0.',
					'lunas-qris-for-woocommerce'
				)
			);
		}
		echo '</table>';
	}

	/**
	 * Writes a row of the table.
	 *
	 * @param string $label Its head.
	 * @param string $text  Its text.
	 */
	private function row( $label, $text ) {
		printf( '<tr><th>%s</th><td><code>%s</code></td></tr>', esc_html( $label ), esc_html( $text ) );
	}

	/**
	 * The age of a time that an option has.
	 *
	 * @param string $option Its name.
	 * @return string
	 */
	private function ago( $option ) {
		$time = (int) get_option( $option, 0 );
		if ( 0 === $time ) {
			return __( 'never', 'lunas-qris-for-woocommerce' );
		}
		/* translators: %s: duration, such as 3 minutes. */
		return sprintf( __( '%s ago', 'lunas-qris-for-woocommerce' ), human_time_diff( $time ) );
	}
}
