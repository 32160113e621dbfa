import type { ReactElement } from 'react';
import { contactHref } from '../../domain/shop-contact';
import type { Language } from '../../domain/sign-in';
import type { CheckoutPayment } from './checkout-state';
import { logoAddress } from './files';
import { TEXTS } from './texts';

/** Whose page it is. */
export function Merchant({ merchantName, logo }: Pick<CheckoutPayment, 'merchantName' | 'logo'>): ReactElement {
  if (logo === null) return <p className="merchant">{merchantName}</p>;
  const { hash, width, height } = logo;
  return (
    <p className="merchant with-logo">
      <img src={logoAddress(hash)} width={width} height={height} alt="" />
      {merchantName}
    </p>
  );
}

interface ContactProps {
  readonly contact: string | null;
  readonly language: Language;
}

/** How customers reach the shop. */
export function Contact({ contact, language }: ContactProps): ReactElement | null {
  const href = contact === null ? null : contactHref(contact);
  if (contact === null || href === null) return null;
  return (
    <p className="contact">
      {TEXTS[language].contact}{' '}
      <a href={href} target="_top">
        {contact.replace(/^https:\/\//, '')}
      </a>
    </p>
  );
}
