import type { ReactElement } from 'react';
import type { Language } from '../../domain/sign-in';
import { drawQrisPath } from '../../qris/image';
import { shopOf } from '../../qris/qris';
import type { CheckoutPage } from './checkout-state';
import { formatRupiah, TEXTS } from './texts';
import { CodeWatermark } from './watermark';

export interface ImageLink {
  readonly href: string;
  /** The name of the file. */
  readonly download: string;
}

/** The image of the code, as a file for the gallery of the phone. */
export function imageOf({ payment, path, language }: CheckoutPage): ImageLink {
  return { href: `${path}/qris.png?lang=${language}`, download: `qris-${payment.referenceId}.png` };
}

interface ImageProps {
  readonly language: Language;
  readonly image: ImageLink;
}

export function SaveImage({ language, image: { href, download } }: ImageProps): ReactElement {
  return (
    <a className="save" href={href} download={download}>
      {TEXTS[language].saveImage}
    </a>
  );
}

/** The main button of a touch device. The script shares the image, where the browser can; else the link saves it. */
export function PayOnPhone({ language, image: { href, download } }: ImageProps): ReactElement {
  const texts = TEXTS[language];
  return (
    <div className="on-phone" data-payable="">
      <a className="button" href={href} download={download} data-share="">
        {texts.payOnPhone}
      </a>
      <p className="hint">{texts.payOnPhoneHint}</p>
    </div>
  );
}

/** The code, and the name by which the customer's app confirms it. */
export function Code(page: CheckoutPage & { readonly payload: string }): ReactElement {
  const { payment, payload, language, isSandbox } = page;
  const texts = TEXTS[language];
  const { size, path: modules } = drawQrisPath(payload);
  const shop = shopOf(payload);
  const name = `${texts.codeName}: ${formatRupiah(payment.totalRupiah)}, ${payment.merchantName}`;
  return (
    <section className="code" data-payable="">
      <figure>
        <p className="mark">
          <b>QRIS</b> <span>{texts.anyApp}</span>
        </p>
        <svg role="img" aria-label={name} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
          <rect width={size} height={size} fill="#fff" />
          {isSandbox && <CodeWatermark size={size} />}
          <path d={modules} fill="#000" />
        </svg>
        <figcaption>
          {shop !== null && (
            <>
              <span>{texts.appShows}</span>
              <b>{shop.merchantName}</b>
              {shop.nmid !== null && <small>NMID: {shop.nmid}</small>}
            </>
          )}
          <small>{texts.checkApp}</small>
        </figcaption>
      </figure>
      <SaveImage language={language} image={imageOf(page)} />
    </section>
  );
}

interface StepsProps {
  readonly title: string;
  readonly steps: readonly string[];
  /** The script opens the steps of a payment on this phone when the image is saved. */
  readonly isForPhone?: boolean;
  readonly isOpen?: boolean;
}

export function Steps({ title, steps, isForPhone = false, isOpen = false }: StepsProps): ReactElement {
  return (
    <details data-after-saving={isForPhone ? '' : undefined} open={isOpen}>
      <summary>{title}</summary>
      <ol>
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
    </details>
  );
}
