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

/** What a state means for who reads it. */
export type Tone = 'good' | 'open' | 'warning' | 'bad' | 'neutral';

const GLYPHS = { good: '✓', open: '○', warning: '!', bad: '!', neutral: '–' } as const satisfies Record<Tone, string>;

/** A state that is not that of a payment. */
export function StateChip({ tone, label }: { readonly tone: Tone; readonly label: string }): ReactElement {
  return (
    <span className={`chip ${tone}`}>
      <span aria-hidden="true">{GLYPHS[tone]}</span>
      {label}
    </span>
  );
}

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
