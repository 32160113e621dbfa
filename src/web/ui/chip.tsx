import type { ReactElement } from 'react';
import type { PaymentStatus } from '../../domain/payment-transitions';

/** A glyph and a word: the colour alone never has the meaning. */
const CHIPS = {
  created: ['○', 'neutral'],
  pending: ['○', 'open'],
  paid: ['✓', 'good'],
  settled: ['✓', 'good'],
  refund_processing: ['↺', 'back'],
  refunded: ['↺', 'neutral'],
  refund_failed: ['!', 'bad'],
  failed: ['!', 'bad'],
  expired: ['–', 'neutral'],
  cancelled: ['–', 'neutral'],
} as const satisfies Record<PaymentStatus, readonly [string, string]>;

interface ChipProps {
  readonly status: PaymentStatus;
  readonly label: string;
}

export function Chip({ status, label }: ChipProps): ReactElement {
  const [glyph, tone] = CHIPS[status];
  return (
    <span className={`chip ${tone}`}>
      <span aria-hidden="true">{glyph}</span>
      {label}
    </span>
  );
}
