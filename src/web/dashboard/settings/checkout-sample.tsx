import type { ReactElement } from 'react';
import { SaveImage } from '../../checkout/code';
import { Due } from '../../checkout/due';
import { Merchant } from '../../checkout/shop';
import { timeLeftAt } from '../../checkout/time-left';
import { SAMPLE_ACCENTS, SAMPLE_STYLES } from '../files';
import type { MerchantView } from '../merchant-view';
import { APPEARANCE_TEXTS } from './appearance-texts';
import { logoPath } from './settings-paths';

export interface ShownAppearance {
  /** `#rrggbb`; null: the colour of Lunas. */
  readonly accent: string | null;
  readonly logo: { readonly hash: string; readonly width: number; readonly height: number } | null;
}

interface CheckoutSampleProps {
  readonly view: MerchantView;
  readonly appearance: ShownAppearance;
}

/** The payment that a sample shows. */
const SAMPLE = { totalRupiah: 50_000, timeToLiveMs: 900_000, image: { href: '#', download: 'qris.png' } } as const;

/** The checkout page before the payment, in both schemes. The script replaces the style sheet of the colour. */
export function CheckoutSample({ view, appearance: { accent, logo } }: CheckoutSampleProps): ReactElement {
  const { language } = view.locale;
  const expiresAt = new Date(view.nowMs + SAMPLE.timeToLiveMs);
  const due = { ...SAMPLE, language, expiresAt, timeLeft: timeLeftAt(view.nowMs, expiresAt) };
  const shownLogo = logo && { ...logo, address: logoPath.to(view, { hash: logo.hash }) };
  return (
    <div className="samples" data-accents={SAMPLE_ACCENTS.prefix}>
      {SAMPLE_STYLES.map((address) => (
        <link key={address} rel="stylesheet" href={address} />
      ))}
      {accent !== null && <link rel="stylesheet" href={SAMPLE_ACCENTS.address(accent)} data-accent="" />}
      {(['light', 'dark'] as const).map((scheme) => (
        <figure key={scheme} className={`sample ${scheme}`}>
          <figcaption>{APPEARANCE_TEXTS[language].schemes[scheme]}</figcaption>
          <div className="checkout-card" inert>
            <Merchant merchantName={view.merchantName} logo={shownLogo} />
            <Due {...due} heading="p" />
            <SaveImage {...due} />
          </div>
        </figure>
      ))}
    </div>
  );
}
