<?php
/**
 * Brings an order to its payments.
 *
 * @package Lunas_QRIS
 */

defined( 'ABSPATH' ) || exit;

/**
 * Reads the payments of an order at Lunas, and applies the table. Webhooks, the return of a customer, the clock,
 * hold-stock and refunds all end here, so an event that is lost, late or doubled changes nothing.
 */
final class Lunas_QRIS_Sync {

	/**
	 * What Lunas has, the statuses of the order (empty: any), and what is done. No row cancels an order.
	 */
	const TABLE = array(
		array( 'paid', array( 'pending', 'failed' ), 'complete' ),
		array( 'paid', array( 'cancelled' ), 'hold_cancelled' ),
		array( 'paid', array(), 'note_paid' ),
		array( 'paid_other_amount', array( 'pending', 'failed', 'cancelled', 'on-hold' ), 'hold_other_amount' ),
		array( 'second_paid', array(), 'refund_second' ),
		array( 'refund_processing', array(), 'record_refund' ),
		array( 'refunded', array(), 'create_refund' ),
		array( 'refund_cancelled', array(), 'forget_refund' ),
		array( 'refund_failed', array(), 'fail_refund' ),
		array( 'late_payment', array(), 'note_late_payment' ),
		array( 'ended', array(), 'note_end' ),
	);

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
	 * The attempts as they are now.
	 *
	 * @var array[]
	 */
	private $attempts;

	/**
	 * The attempts as they were stored.
	 *
	 * @var array[]
	 */
	private $stored;

	/**
	 * Whether Lunas was read for every attempt that can change.
	 *
	 * @var bool
	 */
	private $is_complete = true;

	/**
	 * Prepares the work on one order, whose lock the caller has.
	 *
	 * @param Lunas_QRIS_Client $client The client.
	 * @param WC_Order          $order  The order.
	 */
	public function __construct( $client, $order ) {
		$this->client   = $client;
		$this->order    = $order;
		$this->attempts = Lunas_QRIS_Attempts::load( $order );
		$this->stored   = $this->attempts;
	}

	/**
	 * Brings an order to its payments, under its lock.
	 *
	 * @param int    $order_id   The order.
	 * @param int    $seconds    The limit of each call to Lunas.
	 * @param string $payment_id A payment that is read even if its status is final: money can come late.
	 * @return bool Whether everything was read and applied.
	 */
	public static function run( $order_id, $seconds = 8, $payment_id = '' ) {
		$work = static function ( $order ) use ( $seconds, $payment_id ) {
			$sync = new Lunas_QRIS_Sync( new Lunas_QRIS_Client( $seconds ), $order );
			return $sync->bring( $payment_id );
		};
		return true === Lunas_QRIS_Lock::run( $order_id, $work, $seconds );
	}

	/**
	 * Reads, cancels what must not be paid any more, applies the table, and saves.
	 *
	 * @param string $payment_id A payment that is read even if its status is final.
	 * @return bool Whether everything was read and applied.
	 */
	public function bring( $payment_id = '' ) {
		if ( array() === $this->attempts ) {
			Lunas_QRIS_Attempts::forget_copied( $this->order );
			return true;
		}
		foreach ( $this->attempts as $index => $attempt ) {
			$is_final = Lunas_QRIS_Attempts::is_final( $attempt );
			if ( ! $is_final || ( '' !== $payment_id && $payment_id === $attempt['payment_id'] ) ) {
				$this->attempts[ $index ] = $this->read( $attempt );
			}
		}
		$this->cancel_stale();
		foreach ( $this->facts() as list( $fact, $index ) ) {
			foreach ( self::TABLE as list( $row, $statuses, $act ) ) {
				if ( $row === $fact && ( array() === $statuses || $this->order->has_status( $statuses ) ) ) {
					$this->$act( $index );
					break;
				}
			}
		}
		$this->save();
		return $this->is_complete;
	}

	/**
	 * The attempts after the work.
	 *
	 * @return array[]
	 */
	public function attempts() {
		return $this->attempts;
	}

	/**
	 * The attempt that pays the order.
	 *
	 * @return array|null Null: none was paid.
	 */
	public function paying_attempt() {
		$kept = $this->kept();
		return null === $kept ? null : $this->attempts[ $kept ];
	}

	/**
	 * Cancels the open attempts at Lunas, and saves what became of them.
	 *
	 * @return bool Whether no attempt is open any more, and none is paid.
	 */
	public function cancel_open() {
		$is_closed = true;
		foreach ( $this->attempts as $index => $attempt ) {
			if ( Lunas_QRIS_Attempts::is_open( $attempt ) ) {
				$this->attempts[ $index ] = $this->cancel( $attempt );
			}
			$is_closed = $is_closed && in_array( $this->attempts[ $index ]['status'], Lunas_QRIS_Attempts::ENDED, true );
		}
		foreach ( array_keys( $this->attempts ) as $index ) {
			if ( in_array( $this->attempts[ $index ]['status'], Lunas_QRIS_Attempts::ENDED, true ) ) {
				$this->note_end( $index );
			}
		}
		$this->save();
		return $is_closed;
	}

	/**
	 * Saves the attempts. What changes later gets its own notes.
	 */
	private function save() {
		Lunas_QRIS_Attempts::save( $this->order, $this->attempts );
		$this->stored = $this->attempts;
	}

	/**
	 * Reads the payment of an attempt. One without an id is looked for, and never created here.
	 *
	 * @param array $attempt The attempt.
	 * @return array The attempt, unchanged if Lunas could not be read.
	 */
	private function read( $attempt ) {
		if ( '' === $attempt['payment_id'] ) {
			return $this->look_for( $attempt );
		}
		$result = $this->client->read( $attempt['payment_id'] );
		if ( 200 === $result['status'] && isset( $result['payment']['id'] ) ) {
			return Lunas_QRIS_Attempts::with_payment( $attempt, $result['payment'] );
		}
		$is_unknown = 404 === $result['status'] && 'payment_unknown' === $result['reason'];
		$is_unpaid  = ! empty( $attempt['is_unknown'] ) || Lunas_QRIS_Attempts::is_open( $attempt );
		if ( $is_unknown && $is_unpaid && Lunas_QRIS_Attempts::is_old( $attempt ) ) {
			// Its order can end: the payment is one of another Lunas, such as the sandbox of the first tests. The clock
			// reads it further, because a key of another merchant has the same result.
			$attempt['is_unknown'] = true;
			$attempt['status']     = 'failed';
			return $attempt;
		}
		$this->is_complete = false;
		return $attempt;
	}

	/**
	 * Looks for the payment of an attempt whose create had no response.
	 *
	 * @param array $attempt The attempt.
	 * @return array The attempt, unchanged if there is no such payment.
	 */
	private function look_for( $attempt ) {
		$result = $this->client->find( $this->order->get_id() );
		if ( 200 !== $result['status'] ) {
			$this->is_complete = false;
			return $attempt;
		}
		foreach ( $result['transactions'] as $payment ) {
			$metadata = isset( $payment['metadata'] ) && is_array( $payment['metadata'] ) ? $payment['metadata'] : array();
			$is_ours  = isset( $metadata['site'], $metadata['attempt'], $payment['id'] )
				&& Lunas_QRIS_Attempts::site_of( $attempt ) === $metadata['site']
				&& (int) $metadata['attempt'] === (int) $attempt['number'];
			if ( $is_ours ) {
				return Lunas_QRIS_Attempts::with_payment( $attempt, $payment );
			}
		}
		return $attempt;
	}

	/**
	 * Cancels the payment of an open attempt. Its status is read first: a cancel also ends a refund that is held.
	 *
	 * @param array $attempt The attempt.
	 * @return array The attempt.
	 */
	private function cancel( $attempt ) {
		$attempt = $this->read( $attempt );
		if ( Lunas_QRIS_Attempts::site_of( $attempt ) !== Lunas_QRIS_Settings::site() ) {
			// A copy of the shop on another server does not end what customers of the shop pay.
			$attempt['cannot_cancel'] = true;
			return $attempt;
		}
		if ( '' === $attempt['payment_id'] && $this->is_complete ) {
			// No customer has seen the code of a create without a response.
			$attempt['status'] = 'failed';
		}
		if ( '' === $attempt['payment_id'] || ! Lunas_QRIS_Attempts::is_open( $attempt ) ) {
			return $attempt;
		}
		$result = $this->client->cancel( $attempt['payment_id'] );
		if ( 200 === $result['status'] && isset( $result['payment']['id'] ) ) {
			return Lunas_QRIS_Attempts::with_payment( $attempt, $result['payment'] );
		}
		if ( 'provider_cannot_cancel' === $result['reason'] ) {
			$attempt['cannot_cancel'] = true;
			return $attempt;
		}
		return 'status_not_cancellable' === $result['reason'] ? $this->read( $attempt ) : $attempt;
	}

	/**
	 * Cancels the codes of an order that is cancelled or paid otherwise, and those of another total.
	 */
	private function cancel_stale() {
		$is_ended = $this->order->has_status( array( 'cancelled', 'processing', 'completed', 'refunded' ) );
		foreach ( $this->attempts as $index => $attempt ) {
			$is_stale = $is_ended || ! $this->has_total( $attempt );
			if ( $is_stale && Lunas_QRIS_Attempts::is_open( $attempt ) && empty( $attempt['cannot_cancel'] ) ) {
				$this->attempts[ $index ] = $this->cancel( $attempt );
			}
		}
	}

	/**
	 * What Lunas has, over all attempts.
	 *
	 * @return array[] Pairs of the name in the table and the index of the attempt.
	 */
	private function facts() {
		$facts = array();
		$kept  = $this->kept();
		foreach ( $this->attempts as $index => $attempt ) {
			if ( $index === $kept ) {
				$facts[] = array( $this->fact_of_kept( $attempt ), $index );
				if ( $this->is_paid( $attempt ) && array() !== Lunas_QRIS_Attempts::load_refund( $this->order ) ) {
					$facts[] = array( 'refund_cancelled', $index );
				}
			} elseif ( $this->is_paid( $attempt ) ) {
				$facts[] = array( 'second_paid', $index );
			}
			if ( in_array( $attempt['status'], Lunas_QRIS_Attempts::ENDED, true ) ) {
				$facts[] = array( 'ended', $index );
			}
			if ( ! empty( $attempt['late'] ) ) {
				$facts[] = array( 'late_payment', $index );
			}
		}
		return $facts;
	}

	/**
	 * The fact of the attempt that pays the order.
	 *
	 * @param array $attempt The attempt.
	 * @return string
	 */
	private function fact_of_kept( $attempt ) {
		if ( ! $this->is_paid( $attempt ) ) {
			return $attempt['status'];
		}
		return $this->has_total( $attempt ) ? 'paid' : 'paid_other_amount';
	}

	/**
	 * The attempt that pays the order: the one that did already, else one of the order's total, else the first paid.
	 *
	 * @return int|null Its index. Null: none was paid.
	 */
	private function kept() {
		$ranks = array();
		foreach ( $this->attempts as $index => $attempt ) {
			$has_money = ! Lunas_QRIS_Attempts::is_open( $attempt )
				&& ! in_array( $attempt['status'], Lunas_QRIS_Attempts::ENDED, true );
			if ( $has_money && empty( $attempt['is_second'] ) ) {
				$ranks[ $index ] = array(
					$this->order->get_transaction_id() === $attempt['reference_id'] ? 0 : 1,
					$this->has_total( $attempt ) ? 0 : 1,
					isset( $attempt['paid_at'] ) ? $attempt['paid_at'] : '',
				);
			}
		}
		asort( $ranks );
		return array() === $ranks ? null : key( $ranks );
	}

	/**
	 * Whether the money of the attempt is at Lunas.
	 *
	 * @param array $attempt The attempt.
	 * @return bool
	 */
	private function is_paid( $attempt ) {
		return in_array( $attempt['status'], Lunas_QRIS_Attempts::PAID, true );
	}

	/**
	 * Whether an attempt has the amount of the order. The total is not rounded, and rupiah pay no other currency.
	 *
	 * @param array $attempt The attempt.
	 * @return bool
	 */
	private function has_total( $attempt ) {
		return 'IDR' === $this->order->get_currency() && (float) $this->order->get_total() === (float) $attempt['amount'];
	}

	/**
	 * Whether the stored attempt had another value.
	 *
	 * @param int    $index The attempt.
	 * @param string $name  Its member.
	 * @return bool
	 */
	private function has_changed( $index, $name = 'status' ) {
		$before = isset( $this->stored[ $index ][ $name ] ) ? $this->stored[ $index ][ $name ] : '';
		$now    = isset( $this->attempts[ $index ][ $name ] ) ? $this->attempts[ $index ][ $name ] : '';
		return $before !== $now;
	}

	/**
	 * Row: one is paid, and the order waits for it.
	 *
	 * @param int $index The attempt.
	 */
	private function complete( $index ) {
		$attempt = $this->attempts[ $index ];
		if ( $this->order->get_transaction_id() === $attempt['reference_id'] ) {
			return;
		}
		if ( ! $this->order->payment_complete( $attempt['reference_id'] ) && $this->order->needs_payment() ) {
			$this->is_complete = false;
			// Another plugin rejected it: the next reading repeats it, because the stored status is not final.
			$this->attempts[ $index ]['status'] = $this->stored[ $index ]['status'];
			return;
		}
		/* translators: 1: amount, 2: reference of the payment. */
		$text = __( 'Paid by QRIS: %1$s, %2$s.', 'lunas-qris-for-woocommerce' );
		$this->note( sprintf( $text, Lunas_QRIS_Texts::rupiah( $attempt['amount'] ), $attempt['reference_id'] ) );
	}

	/**
	 * Row: one is paid after the order was cancelled.
	 *
	 * @param int $index The attempt.
	 */
	private function hold_cancelled( $index ) {
		$text = __( 'Paid after the order was cancelled. Send it, or refund it.', 'lunas-qris-for-woocommerce' );
		$this->hold( $index, $text );
	}

	/**
	 * Row: one is paid, but the order does not wait for it: it was paid otherwise, or a person changed its status.
	 *
	 * @param int $index The attempt.
	 */
	private function note_paid( $index ) {
		$attempt = $this->attempts[ $index ];
		$is_new  = empty( $this->stored[ $index ]['paid_at'] ) && $this->has_changed( $index, 'paid_at' );
		if ( $is_new && $this->order->get_transaction_id() !== $attempt['reference_id'] ) {
			/* translators: 1: amount, 2: reference of the payment. */
			$text = __(
				'Paid by QRIS while the order did not wait for it: %1$s, %2$s. Send it, or refund it.',
				'lunas-qris-for-woocommerce'
			);
			$this->note( sprintf( $text, Lunas_QRIS_Texts::rupiah( $attempt['amount'] ), $attempt['reference_id'] ) );
		}
	}

	/**
	 * Row: one is paid, and its amount is not the total of the order.
	 *
	 * @param int $index The attempt.
	 */
	private function hold_other_amount( $index ) {
		/* translators: 1: amount that was paid, 2: total of the order. */
		$text   = __( '%1$s was paid, but the order is %2$s. Send it, or refund it.', 'lunas-qris-for-woocommerce' );
		$amount = Lunas_QRIS_Texts::rupiah( $this->attempts[ $index ]['amount'] );
		$code   = $this->order->get_currency();
		$total  = $this->order->get_total();
		$total  = 'IDR' === $code ? Lunas_QRIS_Texts::rupiah( $total ) : $code . ' ' . $total;
		$this->hold( $index, sprintf( $text, $amount, $total ) );
	}

	/**
	 * Puts the order on hold, once for a payment: the shop decides.
	 *
	 * @param int    $index The attempt.
	 * @param string $text  The note.
	 */
	private function hold( $index, $text ) {
		$reference = $this->attempts[ $index ]['reference_id'];
		if ( $this->order->get_transaction_id() === $reference ) {
			return;
		}
		$text .= ' (' . $reference . ')';
		$this->order->set_transaction_id( $reference );
		if ( $this->order->has_status( 'on-hold' ) ) {
			// WooCommerce writes the note of a status only when the status changes.
			$this->order->save();
			$this->note( $text );
		} else {
			$this->order->update_status( 'on-hold', $text );
		}
	}

	/**
	 * Row: a second one is paid. Its money goes back.
	 *
	 * @param int $index The attempt.
	 */
	private function refund_second( $index ) {
		$attempt = $this->attempts[ $index ];
		if ( ! empty( $attempt['is_second'] ) ) {
			return;
		}
		$amount = Lunas_QRIS_Texts::rupiah( $attempt['amount'] );
		$result = $this->client->refund( $attempt['payment_id'] );
		if ( 200 === $result['status'] && isset( $result['payment']['id'] ) ) {
			/* translators: 1: amount, 2: reference of the payment. */
			$text    = __( 'Paid twice: the refund of %1$s is requested (%2$s).', 'lunas-qris-for-woocommerce' );
			$attempt = Lunas_QRIS_Attempts::with_payment( $attempt, $result['payment'] );
		} elseif ( 400 === $result['status'] ) {
			/* translators: 1: amount, 2: reference of the payment. */
			$text = __( 'Paid twice: return %1$s yourself (%2$s).', 'lunas-qris-for-woocommerce' );
		} else {
			$this->is_complete = false;
			return;
		}
		$attempt['is_second']     = true;
		$this->attempts[ $index ] = $attempt;
		$this->note( sprintf( $text, $amount, $attempt['reference_id'] ) );
	}

	/**
	 * Row: a refund is in progress. The order keeps its status until Lunas has confirmed it.
	 *
	 * @param int $index The attempt.
	 */
	private function record_refund( $index ) {
		$refund = Lunas_QRIS_Attempts::load_refund( $this->order );
		if ( isset( $refund['state'] ) && 'requested' === $refund['state'] ) {
			return;
		}
		$refund += array(
			'payment_id'   => $this->attempts[ $index ]['payment_id'],
			'reason'       => '',
			'restock'      => true,
			'requested_at' => time(),
		);

		$refund['state'] = 'requested';
		Lunas_QRIS_Attempts::save_refund( $this->order, $refund );
		$this->note( __( 'Refund requested.', 'lunas-qris-for-woocommerce' ) );
	}

	/**
	 * Row: the customer has the money again. The order becomes refunded.
	 *
	 * @param int $index The attempt.
	 */
	private function create_refund( $index ) {
		$refund = Lunas_QRIS_Attempts::load_refund( $this->order );
		if ( 0.0 === (float) $this->order->get_total_refunded() ) {
			$created = wc_create_refund(
				array(
					'order_id'       => $this->order->get_id(),
					'amount'         => $this->order->get_total(),
					'reason'         => isset( $refund['reason'] ) ? $refund['reason'] : '',
					'line_items'     => $this->lines(),
					'refund_payment' => false,
					'restock_items'  => ! isset( $refund['restock'] ) || $refund['restock'],
				)
			);
			if ( is_wp_error( $created ) ) {
				$this->is_complete = false;
				// The next reading repeats this, because the stored status is not final.
				$this->attempts[ $index ]['status'] = $this->stored[ $index ]['status'];
				return;
			}
		}
		if ( $this->has_changed( $index ) ) {
			$this->note( __( 'Refunded by Lunas.', 'lunas-qris-for-woocommerce' ) );
		}
		Lunas_QRIS_Attempts::save_refund( $this->order, array() );
	}

	/**
	 * The whole order as the lines of a refund.
	 *
	 * @return array[] By item.
	 */
	private function lines() {
		$lines = array();
		foreach ( $this->order->get_items( array( 'line_item', 'fee', 'shipping' ) ) as $item_id => $item ) {
			$taxes = $item->get_taxes();

			$lines[ $item_id ] = array(
				'qty'          => $item->get_quantity(),
				'refund_total' => $item->get_total(),
				'refund_tax'   => isset( $taxes['total'] ) ? $taxes['total'] : array(),
			);
		}
		return $lines;
	}

	/**
	 * Row: the payment is paid, and a refund is stored: it was cancelled, or never requested.
	 *
	 * @param int $index The attempt.
	 */
	private function forget_refund( $index ) {
		$refund = Lunas_QRIS_Attempts::load_refund( $this->order );
		Lunas_QRIS_Attempts::save_refund( $this->order, array() );
		$this->note(
			'requesting' === $refund['state'] && ! $this->has_changed( $index )
				? __( 'The refund was not requested. Press Refund again.', 'lunas-qris-for-woocommerce' )
				: __( 'The refund was cancelled.', 'lunas-qris-for-woocommerce' )
		);
	}

	/**
	 * Row: the provider rejected the refund.
	 *
	 * @param int $index The attempt.
	 */
	private function fail_refund( $index ) {
		$refund = Lunas_QRIS_Attempts::load_refund( $this->order );
		if ( array() !== $refund && 'failed' !== $refund['state'] ) {
			$refund['state'] = 'failed';
			Lunas_QRIS_Attempts::save_refund( $this->order, $refund );
		}
		if ( $this->has_changed( $index ) ) {
			$text = __( 'The provider rejected the refund. Lunas decides what follows.', 'lunas-qris-for-woocommerce' );
			$this->note( $text );
		}
	}

	/**
	 * Row: money came after the end of an attempt. Lunas returns it.
	 *
	 * @param int $index The attempt.
	 */
	private function note_late_payment( $index ) {
		if ( $this->has_changed( $index, 'late' ) ) {
			$attempt = $this->attempts[ $index ];
			/* translators: 1: reference of the payment, 2: status of the late payment. */
			$text = __( 'Paid after its end (%1$s): Lunas returns the money. Status: %2$s.', 'lunas-qris-for-woocommerce' );
			$this->note( sprintf( $text, $attempt['reference_id'], $attempt['late'] ) );
		}
	}

	/**
	 * Row: an attempt ended without a payment. The customer may pay again.
	 *
	 * @param int $index The attempt.
	 */
	private function note_end( $index ) {
		$attempt = $this->attempts[ $index ];
		if ( $this->has_changed( $index ) && '' !== $attempt['reference_id'] ) {
			/* translators: 1: reference of the payment, 2: its status. */
			$text = __( 'The QRIS code %1$s ended: %2$s.', 'lunas-qris-for-woocommerce' );
			$this->note( sprintf( $text, $attempt['reference_id'], Lunas_QRIS_Texts::status( $attempt['status'] ) ) );
		}
	}

	/**
	 * Writes a note for the shop.
	 *
	 * @param string $text The note.
	 */
	private function note( $text ) {
		$this->order->add_order_note( $text );
	}
}
