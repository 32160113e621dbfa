const MIN_CHARACTERS = 12;
const MAX_BYTES = 128;
const MIN_DIFFERENT_CHARACTERS = 5;
/** A shorter local part, as in `a@toko.example`, is in most good passwords by chance. */
const MIN_LOCAL_PART_CHARACTERS = 3;

export type PasswordViolation = 'too_short' | 'too_long' | 'contains_email' | 'too_uniform';

/** One form of a password for all keyboards: NFKC, as NIST SP 800-63B, section 3.1.1.2, recommends. */
export function normalisePassword(password: string): string {
  return password.normalize('NFKC');
}

/** The rule that a new password violates; null if it violates none. */
export function passwordViolation(password: string, email: string): PasswordViolation | null {
  const text = normalisePassword(password);
  const characters = Array.from(text);
  if (characters.length < MIN_CHARACTERS) return 'too_short';
  if (isTooLong(text)) return 'too_long';
  const [localPart = ''] = email.toLowerCase().split('@');
  if (localPart.length >= MIN_LOCAL_PART_CHARACTERS && text.toLowerCase().includes(localPart)) return 'contains_email';
  return new Set(characters).size < MIN_DIFFERENT_CHARACTERS ? 'too_uniform' : null;
}

/** Whether no password is so long. A hash of it would be wasted time. */
export function isTooLong(password: string): boolean {
  return new TextEncoder().encode(normalisePassword(password)).length > MAX_BYTES;
}
