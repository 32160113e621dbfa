import { validate as isUuid } from 'uuid';
import { referencePattern } from '../../crypto/reference-id';
import type { LinkKey } from '../../db/links/find-link';

/** The reference id of a payment link. */
const LINK_REFERENCE_ID = referencePattern('LK');

/** The link that a path names, by UUID or reference_id; undefined for a text of neither form. */
export function parseLinkId(text: string): LinkKey | undefined {
  if (LINK_REFERENCE_ID.test(text)) return { referenceId: text };
  return isUuid(text) ? { id: text.toLowerCase() } : undefined;
}
