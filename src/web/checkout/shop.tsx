import type { ReactElement } from 'react';
import type { Logo } from '../../db/merchants/merchant-logos';
import { contactHref } from '../../domain/shop-contact';
import type { Language } from '../../domain/sign-in';
import { logoAddress } from './files';
import { TEXTS } from './texts';

interface MerchantProps {
  readonly merchantName: string;
  readonly logo: Logo | null;
}

/** Whose page it is. */
export function Merchant({ merchantName, logo }: MerchantProps): ReactElement {
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
