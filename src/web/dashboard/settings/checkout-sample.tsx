import type { ReactElement } from 'react';
import { formatRupiah } from '../../../domain/money';
import { SAMPLE_ACCENTS, SAMPLE_STYLE } from '../files';
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

/** The head and the button of the checkout page, in both schemes. The script replaces the style sheet of the colour. */
export function CheckoutSample({ view, appearance: { accent, logo } }: CheckoutSampleProps): ReactElement {
  const texts = APPEARANCE_TEXTS[view.locale.language];
  return (
    <div className="samples" data-accents={SAMPLE_ACCENTS.prefix}>
      <link rel="stylesheet" href={SAMPLE_STYLE} />
      {accent !== null && <link rel="stylesheet" href={SAMPLE_ACCENTS.address(accent)} data-accent="" />}
      {(['light', 'dark'] as const).map((scheme) => (
        <figure key={scheme} className={`sample ${scheme}`}>
          <figcaption>{texts.schemes[scheme]}</figcaption>
          <div>
            <p className="sample-merchant">
              {logo && (
                <img src={logoPath.to(view, { hash: logo.hash })} width={logo.width} height={logo.height} alt="" />
              )}
              {view.merchantName}
            </p>
            <p className="sample-amount">{formatRupiah(50_000)}</p>
            <p className="sample-button">{texts.sampleButton}</p>
            <p className="sample-link">{texts.sampleLink}</p>
          </div>
        </figure>
      ))}
    </div>
  );
}
