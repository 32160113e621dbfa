import type { ReactElement } from 'react';
import { formatUnbroken } from '../../../domain/money';
import { linkStatusOf, type LinkStatus } from '../../../domain/payment-link';
import { StateChip, type Tone } from '../../ui/chip';
import type { MerchantView } from '../merchant-view';
import { LINK_TEXTS } from './link-texts';
import type { ShownLink } from './shown-link';

const TONES = { active: 'open', paid: 'good', closed: 'neutral', expired: 'neutral' } as const satisfies Record<
  LinkStatus,
  Tone
>;

interface LinkChipProps {
  readonly view: MerchantView;
  readonly link: ShownLink;
}

export function LinkChip({ view, link }: LinkChipProps): ReactElement {
  const status = linkStatusOf(link, view.nowMs);
  return <StateChip tone={TONES[status]} label={LINK_TEXTS[view.locale.language].statuses[status]} />;
}

/** What the link asks for: an amount, or two between which the customer chooses. */
export function linkAmountText({ locale }: MerchantView, link: ShownLink): string {
  if (link.amountRupiah !== null) return formatUnbroken(link.amountRupiah);
  return LINK_TEXTS[locale.language].range(formatUnbroken(link.minimumRupiah), formatUnbroken(link.maximumRupiah));
}
