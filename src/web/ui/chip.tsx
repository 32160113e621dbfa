import type { ReactElement } from 'react';
import type { PaymentStatus } from '../../domain/payment-transitions';
import { Icon, type IconName } from './icon';

/** An icon and a word: the colour alone never has the meaning. */
const CHIPS = {
  created: ['waiting', 'neutral'],
  pending: ['waiting', 'open'],
  paid: ['done', 'good'],
  settled: ['done', 'good'],
  refund_processing: ['returned', 'back'],
  refunded: ['returned', 'neutral'],
  refund_failed: ['alert', 'bad'],
  failed: ['alert', 'bad'],
  expired: ['ended', 'neutral'],
  cancelled: ['ended', 'neutral'],
} as const satisfies Record<PaymentStatus, readonly [IconName, string]>;

/** What a state means for who reads it. */
export type Tone = 'good' | 'open' | 'warning' | 'bad' | 'neutral';

const ICONS = {
  good: 'done',
  open: 'waiting',
  warning: 'alert',
  bad: 'alert',
  neutral: 'ended',
} as const satisfies Record<Tone, IconName>;

/** A state that is not that of a payment. */
export function StateChip({ tone, label }: { readonly tone: Tone; readonly label: string }): ReactElement {
  return (
    <span className={`chip ${tone}`}>
      <Icon name={ICONS[tone]} />
      {label}
    </span>
  );
}

/** The class of a status, for what stands around its chip. */
export const toneOf = (status: PaymentStatus) => CHIPS[status][1];

interface ChipProps {
  readonly status: PaymentStatus;
  readonly label: string;
}

export function Chip({ status, label }: ChipProps): ReactElement {
  const [icon, tone] = CHIPS[status];
  return (
    <span className={`chip ${tone}`}>
      <Icon name={icon} />
      {label}
    </span>
  );
}
