<?php
/**
 * Place order: from an order to the page of its QR.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * Leads the customer to the open payment of an order, or creates one. An order never has two open payments.
 */
final class Lunas_QRIS_Checkout {

	const MIN_SECONDS_LEFT = 60;
	const MAX_STEPS        = 4;

	/**
	 * The bounds of a payment's own time, in seconds.
	 */
	const EXPIRY = array( 60, 86400 );

	/**
	 * The client.
	 *
	 * @var Lunas_QRIS_Client
	 */
	private $client;

	/**
	 * The order.
	 *
	 * @var WC_Order
	 */
	private $order;

	/**
	 * Prepares the work on one order, whose lock the caller has.
	 *
	 * @param WC_Order $order The order.
	 */
	private function __construct( $order ) {
		$this->client = new Lunas_QRIS_Client();
		$this->order  = $order;
	}

	/**
	 * Finds or makes the payment of an order.
	 *
	 * @param int $order_id The order.
	 * @return array `redirect`: where the customer goes; or `error`: what the checkout shows.
	 */
	public static function start( $order_id ) {
		$work = static function ( $order ) {
			$checkout = new Lunas_QRIS_Checkout( $order );
			return $checkout->step( 1 );
		};
		$end  = Lunas_QRIS_Lock::run( $order_id, $work );
		return null === $end ? self::again() : $end;
	}

	/**
	 * Takes one step with the newest attempt. A step that ended it is followed by another one.
	 *
	 * @param int $number The number of the step.
	 * @return array As `start`.
	 */
	private function step( $number ) {
		if ( $number > self::MAX_STEPS ) {
			return self::again();
		}
		$sync = new Lunas_QRIS_Sync( $this->client, $this->order );
		$sync->bring();
		if ( null !== $sync->paying_attempt() ) {
			return array( 'redirect' => $this->order->get_checkout_order_received_url() );
		}
		$attempts = $sync->attempts();
		$newest   = end( $attempts );
		if ( false === $newest || ! Lunas_QRIS_Attempts::is_open( $newest ) ) {
			$attempts[] = $this->new_attempt( count( $attempts ) + 1 );
			Lunas_QRIS_Attempts::save( $this->order, $attempts );
			return $this->send( $attempts, $number );
		}
		if ( (int) $newest['amount'] === $this->amount() ) {
			if ( '' === $newest['payment_id'] ) {
				return $this->send( $attempts, $number );
			}
			if ( $this->has_time( $newest ) && '' !== $newest['checkout_url'] ) {
				return array( 'redirect' => $newest['checkout_url'] );
			}
		}
		return $this->replace( $sync, $number );
	}

	/**
	 * Cancels the newest attempt, so that another one can follow.
	 *
	 * @param Lunas_QRIS_Sync $sync   The work on the order.
	 * @param int             $number The number of the step.
	 * @return array As `start`.
	 */
	private function replace( $sync, $number ) {
		$sync->cancel_open();
		$attempts = $sync->attempts();
		$newest   = end( $attempts );
		if ( ! Lunas_QRIS_Attempts::is_open( $newest ) ) {
			return $this->step( $number + 1 );
		}
		if ( empty( $newest['cannot_cancel'] ) ) {
			return self::again();
		}
		/* translators: %s: time of day. */
		$text = __( 'Pay the code that you have, or try again after %s.', 'lunas-qris-for-woocommerce' );
		return array( 'error' => sprintf( $text, Lunas_QRIS_Texts::clock( $newest['expires_at'] ) ) );
	}

	/**
	 * Sends the saved body of the newest attempt under its key. A repeat makes no second payment.
	 *
	 * @param array[] $attempts The attempts.
	 * @param int     $number   The number of the step.
	 * @return array As `start`.
	 */
	private function send( $attempts, $number ) {
		$index   = count( $attempts ) - 1;
		$attempt = $attempts[ $index ];
		if ( ! $this->is_newest( $attempt ) ) {
			return self::again();
		}
		$result = $this->client->create( $attempt['request'], $attempt['key'] );
		if ( 201 === $result['status'] && isset( $result['payment']['id'] ) ) {
			$payment            = array( 'checkout_url' => $result['checkout_url'] ) + $result['payment'];
			$attempts[ $index ] = Lunas_QRIS_Attempts::with_payment( $attempt, $payment );
			Lunas_QRIS_Attempts::save( $this->order, $attempts );
			if ( false !== strpos( $attempt['request'], '"return_url"' ) ) {
				Lunas_QRIS_Notices::set( 'return_url', '' );
			}
			return '' !== $result['checkout_url'] && Lunas_QRIS_Attempts::is_open( $attempts[ $index ] )
				? array( 'redirect' => $result['checkout_url'] )
				: $this->step( $number + 1 );
		}
		if ( 400 === $result['status'] ) {
			return $this->rejected( $attempts, $result, $number );
		}
		if ( $result['status'] > 400 && $result['status'] < 429 ) {
			return $this->unavailable( $result );
		}
		return self::again();
	}

	/**
	 * Ends an attempt that Lunas rejected, unless it can do without the way back to the shop.
	 *
	 * @param array[] $attempts The attempts.
	 * @param array   $result   The rejection.
	 * @param int     $number   The number of the step.
	 * @return array As `start`.
	 */
	private function rejected( $attempts, $result, $number ) {
		$index = count( $attempts ) - 1;
		$body  = json_decode( $attempts[ $index ]['request'], true );
		if ( isset( $body['return_url'] ) && false !== strpos( $result['message'], 'return_url' ) ) {
			Lunas_QRIS_Notices::set( 'return_url', $result['message'] );
			unset( $body['return_url'] );
			$attempts[ $index ]['request'] = (string) wp_json_encode( $body );
			Lunas_QRIS_Attempts::save( $this->order, $attempts );
			return $this->send( $attempts, $number );
		}
		$attempts[ $index ]['status'] = 'failed';
		Lunas_QRIS_Attempts::save( $this->order, $attempts );
		return $this->unavailable( $result );
	}

	/**
	 * Notes why the customer cannot pay by QRIS.
	 *
	 * @param array $result The rejection.
	 * @return array As `start`.
	 */
	private function unavailable( $result ) {
		/* translators: %s: message of Lunas. */
		$text = __( 'Lunas created no payment: %s', 'lunas-qris-for-woocommerce' );
		$this->order->add_order_note( sprintf( $text, $result['message'] ) );
		$shown = __( 'QRIS is not available at present. Choose another way to pay.', 'lunas-qris-for-woocommerce' );
		return array( 'error' => $shown );
	}

	/**
	 * The end of a step whose effect is not known. The same press again makes no second payment.
	 *
	 * @return array As `start`.
	 */
	private static function again() {
		$text = __( 'Press Place order again: it makes one payment.', 'lunas-qris-for-woocommerce' );
		return array( 'error' => $text );
	}

	/**
	 * Whether no other process saved an attempt meanwhile: a proxy of the database can lose a lock.
	 *
	 * @param array $attempt The attempt that this process is about to send.
	 * @return bool
	 */
	private function is_newest( $attempt ) {
		$this->order->read_meta_data( true );
		$stored = Lunas_QRIS_Attempts::load( $this->order );
		$newest = end( $stored );
		return is_array( $newest ) && $newest['number'] === $attempt['number'] && $newest['request'] === $attempt['request'];
	}

	/**
	 * Whether the customer has the time to pay.
	 *
	 * @param array $attempt The attempt.
	 * @return bool
	 */
	private function has_time( $attempt ) {
		return (int) strtotime( $attempt['expires_at'] ) - time() >= self::MIN_SECONDS_LEFT;
	}

	/**
	 * The total of the order, which the gateway has checked to be whole rupiah.
	 *
	 * @return int
	 */
	private function amount() {
		return (int) $this->order->get_total();
	}

	/**
	 * An attempt that was not sent yet.
	 *
	 * @param int $number Its number.
	 * @return array
	 */
	private function new_attempt( $number ) {
		return array(
			'number'       => $number,
			'key'          => 'wc-' . Lunas_QRIS_Settings::site() . '-' . $this->order->get_id() . '-' . $number,
			'request'      => (string) wp_json_encode( $this->body( $number ) ),
			'amount'       => $this->amount(),
			'payment_id'   => '',
			'reference_id' => '',
			'checkout_url' => '',
			'expires_at'   => '',
			'status'       => '',
			'created_at'   => time(),
		);
	}

	/**
	 * The body of a create. It has no data of the customer.
	 *
	 * @param int $number The number of the attempt.
	 * @return array
	 */
	private function body( $number ) {
		$shop = html_entity_decode( (string) get_bloginfo( 'name' ), ENT_QUOTES, 'UTF-8' );
		$text = $shop . ' #' . $this->order->get_order_number();
		$text = trim( (string) preg_replace( '/[\p{Cc}\p{Zl}\p{Zp}]+/u', ' ', $text ) );
		$body = array(
			'amount'                => $this->amount(),
			'provider'              => Lunas_QRIS_Settings::get( 'provider' ),
			'merchant_reference_id' => (string) $this->order->get_id(),
			'description'           => mb_substr( $text, 0, 140 ),
			'return_url'            => $this->order->get_checkout_order_received_url(),
			'metadata'              => array(
				'source'   => 'woocommerce',
				'site'     => Lunas_QRIS_Settings::site(),
				'order_id' => (string) $this->order->get_id(),
				'attempt'  => $number,
			),
		);

		$minutes = (int) get_option( 'woocommerce_hold_stock_minutes', 0 );
		if ( $minutes > 0 ) {
			$body['expires_in'] = max( self::EXPIRY[0], min( $minutes * 60, self::EXPIRY[1] ) );
		}
		return array_filter( $body, array( __CLASS__, 'is_set' ) );
	}

	/**
	 * Whether a member of the body has a value.
	 *
	 * @param mixed $value The value.
	 * @return bool
	 */
	private static function is_set( $value ) {
		return '' !== $value;
	}
}
