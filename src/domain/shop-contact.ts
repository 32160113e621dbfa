export const MAX_CONTACT_CHARACTERS = 200;

const EMAIL = /^[\w.+-]+@[a-z\d-]+(?:\.[a-z\d-]+)+$/i;
const TELEPHONE = /^\+?\d[\d ()-]{5,18}\d$/;
const PAGE = /^https:\/\/[a-z\d.-]+\.[a-z]{2,}(?:\/\S*)?$/i;

/** The address of a link to it; null if it is no e-mail address, telephone number or `https` address. */
export function contactHref(contact: string): string | null {
  if (EMAIL.test(contact)) return `mailto:${contact}`;
  if (TELEPHONE.test(contact)) return `tel:${contact.replaceAll(/[^\d+]/g, '')}`;
  // PostgreSQL stores no NUL.
  return PAGE.test(contact) && !/\p{Cc}/u.test(contact) ? contact : null;
}
