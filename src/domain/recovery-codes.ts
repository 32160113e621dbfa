export const RECOVERY_CODES = 10;
/** With fewer unused ones left, the pages ask the user to make new ones. */
export const FEW_RECOVERY_CODES = 3;

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CHARACTERS = 16;
const GROUP = /.{4}(?=.)/g;
const RANDOM_BYTES = 10;

/**
 * A recovery code as users read it: 80 bits in base 32 (Crockford), in four groups.
 * @param bits 10 bytes
 */
export function formatRecoveryCode(bits: Uint8Array): string {
  if (bits.length !== RANDOM_BYTES) throw new RangeError(`A recovery code has ${RANDOM_BYTES} bytes`);
  let value = bits.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = '';
  for (; text.length < CHARACTERS; value /= 32n) text = CROCKFORD.charAt(Number(value % 32n)) + text;
  return text.replaceAll(GROUP, '$&-');
}

/**
 * What a user typed, in the form of `formatRecoveryCode`: lower case, missing hyphens and the letters that Crockford
 * reads as digits are accepted. Undefined if it is no recovery code.
 */
export function parseRecoveryCode(text: string): string | undefined {
  const characters = text.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  if (!/^[0-9A-HJKMNP-TV-Z]{16}$/.test(characters)) return undefined;
  return characters.replaceAll(GROUP, '$&-');
}
