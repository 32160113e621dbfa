/** A payout, as its request was acknowledged to a member. */
export interface AcknowledgedPayout {
  readonly id: string;
  readonly referenceId: string;
  readonly merchantId: string;
  readonly grossRupiah: number;
  readonly feeRupiah: number;
  readonly amountRupiah: number;
  /** The balance that the request has read. */
  readonly balanceRupiah: number;
}

/** A time in which no permission for a call to the bank may be recorded. By the clock of the machine. */
export interface Pause {
  /** The id of a merchant on hold, or of a bank account that cools down or has ended. */
  readonly subject: string;
  /** From the response to what began it. */
  readonly fromMs: number;
  /** Until the request that ends it; null: not known yet. */
  toMs: number | null;
}

/** What members and operators have got as responses about payouts. */
export class PayoutJournal {
  readonly requested: AcknowledgedPayout[] = [];
  /** Actions whose response was that they are done. */
  readonly done: { readonly payoutId: string; readonly action: 'approve' | 'cancel' | 'resend' }[] = [];
  readonly pauses: Pause[] = [];
  /** The numbers of the merchants' bank accounts, by their ids. */
  readonly accountNumbers = new Map<string, string>();

  snapshot(): PayoutJournal {
    const copy = new PayoutJournal();
    copy.requested.push(...this.requested);
    copy.done.push(...this.done);
    copy.pauses.push(...this.pauses.map((pause) => ({ ...pause })));
    for (const [id, number] of this.accountNumbers) copy.accountNumbers.set(id, number);
    return copy;
  }
}
