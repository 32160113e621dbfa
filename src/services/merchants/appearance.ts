import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { LOGO_COLUMN, type Logo } from '../../db/merchants/merchant-logos';
import { shrinkImage, type ImageRejection } from '../../lib/shrink-image';

/** How the checkout page of a merchant looks. */
export interface Appearance {
  /** `#rrggbb`; null: the colour of Lunas. */
  readonly accent: string | null;
  readonly logo: Logo | null;
}

/** The limit of the file that a member uploads. */
export const MAX_LOGO_BYTES = 200 * 1_024;
/** The longest side of what is stored. */
const LOGO_SIDE = 256;

/** @throws NotFoundError if there is no such merchant */
export async function readAppearance(db: Queryable, merchantId: string): Promise<Appearance> {
  const { rows } = await db.query<Appearance>({
    name: 'read_appearance',
    text: `select merchants.accent, ${LOGO_COLUMN}
      from merchants left join merchant_logos logo on logo.merchant_id = merchants.id where merchants.id = $1`,
    values: [merchantId],
  });
  return requireRow(rows, 'merchant', merchantId);
}

/** The image of the merchant's logo. */
export async function readLogo(db: Queryable, merchantId: string): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ png: Buffer }>({
    name: 'read_logo',
    text: 'select png from merchant_logos where merchant_id = $1',
    values: [merchantId],
  });
  return rows[0]?.png;
}

/** What an uploaded file has to be, before it becomes a logo. */
export type LogoRejection = 'too_large' | ImageRejection;

/** The logo that a file becomes, or why it cannot become one. */
export async function readLogoFile(file: Buffer) {
  return file.length > MAX_LOGO_BYTES ? 'too_large' : shrinkImage(file, LOGO_SIDE);
}
