import { z } from 'zod';
import { parseLinkId } from '../../../services/links/path-id';
import { merchantCode, pagePath } from '../../page/page-path';

const ofMerchant = { code: merchantCode };
const ofLink = { code: merchantCode, link: z.string().refine((text) => parseLinkId(text) !== undefined) };

export const linksPath = pagePath('/m/:code/links', ofMerchant);
export const newLinkPath = pagePath('/m/:code/links/new', ofMerchant);
export const linkPath = pagePath('/m/:code/links/:link', ofLink);
export const closeLinkPath = pagePath('/m/:code/links/:link/close', ofLink);
export const linkCardPath = pagePath('/m/:code/links/:link/card', ofLink);
