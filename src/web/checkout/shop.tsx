import type { ReactElement } from 'react';
import { contactHref } from '../../domain/shop-contact';
import type { Language } from '../../domain/sign-in';
import { initialsOf } from '../ui/initials';
import type { CheckoutPage, CheckoutPayment } from './checkout-state';
import { logoAddress } from './files';
import { TEXTS } from './texts';

interface MerchantProps {
  readonly merchantName: string;
  readonly logo: { readonly address: string; readonly width: number; readonly height: number } | null;
}

/** The logo at the address of the checkout pages. */
export function shownLogo(logo: CheckoutPayment['logo']): MerchantProps['logo'] {
  return logo && { address: logoAddress(logo.hash), width: logo.width, height: logo.height };
}

/** The shop by its name, with its logo or its initials. */
export function Merchant({ merchantName, logo }: MerchantProps): ReactElement {
  return (
    <p className="merchant with-logo">
      {logo === null ? (
        <span className="initials" aria-hidden="true">
          {initialsOf(merchantName)}
        </span>
      ) : (
        <img src={logo.address} width={logo.width} height={logo.height} alt="" />
      )}
      {merchantName}
    </p>
  );
}

export function BackToShop({
  language,
  returnUrl,
  isMain,
}: CheckoutPage & { readonly isMain: boolean }): ReactElement | null {
  if (returnUrl === null) return null;
  return (
    <a className={isMain ? 'button' : 'button quiet'} href={returnUrl} target="_top" data-return="">
      {TEXTS[language].backToShop}
    </a>
  );
}

interface ContactProps {
  readonly contact: string | null;
  readonly language: Language;
  /** Whom to ask if there is no contact; null: the page has another way. */
  readonly shop?: string | null;
}

/** How the customer reaches the shop. */
export function Contact({ contact, language, shop = null }: ContactProps): ReactElement | null {
  const href = contact === null ? null : contactHref(contact);
  if (contact === null || href === null) {
    return shop === null ? null : <p className="contact">{TEXTS[language].askShop(shop)}</p>;
  }
  return (
    <p className="contact">
      {TEXTS[language].contact}{' '}
      <a href={href} target="_top">
        {contact.replace(/^https:\/\//, '')}
      </a>
    </p>
  );
}
