import { COMMON_WORDS, KEY_ROWS } from './common-passwords';

const MIN_CHARACTERS = 12;
const MAX_BYTES = 128;
const MIN_DIFFERENT_CHARACTERS = 5;
/** A shorter local part, as in `a@toko.example`, is in most good passwords by chance. */
const MIN_LOCAL_PART_CHARACTERS = 3;

export type PasswordViolation = 'too_short' | 'too_long' | 'contains_email' | 'too_uniform' | 'common';

/** Whose password it is. */
export interface PasswordOwner {
  readonly email: string;
  /** The names of the person and of the merchants: a stranger guesses them first. */
  readonly names: readonly string[];
}

/** One form of a password for all keyboards: NFKC, as NIST SP 800-63B, section 3.1.1.2, recommends. */
export function normalisePassword(password: string): string {
  return password.normalize('NFKC');
}

/** The rule that a new password violates; null if it violates none. */
export function passwordViolation(password: string, { email, names }: PasswordOwner): PasswordViolation | null {
  const text = normalisePassword(password);
  const characters = Array.from(text);
  if (characters.length < MIN_CHARACTERS) return 'too_short';
  if (isTooLong(text)) return 'too_long';
  const [localPart = ''] = email.toLowerCase().split('@');
  if (localPart.length >= MIN_LOCAL_PART_CHARACTERS && text.toLowerCase().includes(localPart)) return 'contains_email';
  if (new Set(characters).size < MIN_DIFFERENT_CHARACTERS) return 'too_uniform';
  return strengthOf(text.toLowerCase(), names) < MIN_STRENGTH ? 'common' : null;
}

/** Whether no password is so long. A hash of it would be wasted time. */
export function isTooLong(password: string): boolean {
  return new TextEncoder().encode(normalisePassword(password)).length > MAX_BYTES;
}

/** Eight random characters, or four common words. `password1234` has 4, `Indonesia2026` has 5. */
const MIN_STRENGTH = 8;
/** There are some hundred common words and rows of keys: each is worth two random characters. */
const PIECE_STRENGTH = 2;
/** Digits are most often a year, a date or a phone number. */
const MAX_DIGIT_STRENGTH = 3;
/** A shorter row is in good passwords by chance. */
const MIN_PIECE_CHARACTERS = 3;

/**
 * How many random characters the password is worth. Each guessable piece counts once, and a space nothing.
 * These rules catch what a list of leaked passwords has not: the lists under a permissive licence have few of 12
 * characters, hardly an Indonesian one, and no name of a shop.
 */
function strengthOf(text: string, names: readonly string[]): number {
  const words = [...COMMON_WORDS, ...names.flatMap(wordsOf)];
  const [pieces, digits] = [new Set<string>(), new Set<string>()];
  let others = 0;
  for (let rest = withoutRepetition(text); rest !== '';) {
    const piece = guessablePrefix(rest, words);
    const [number = ''] = /^\d+/.exec(rest) ?? [];
    const [character = ''] = rest;
    if (piece !== '' && piece.length >= number.length) pieces.add(piece);
    else if (number !== '') digits.add(number);
    else if (character !== ' ') others += 1;
    rest = rest.slice(Math.max(piece.length, number.length, character.length));
  }
  const digitStrength = Math.min([...digits].join('').length, MAX_DIGIT_STRENGTH);
  return pieces.size * PIECE_STRENGTH + digitStrength + others;
}

/** `kopikopikopi` is `kopi`. */
const withoutRepetition = (text: string) => text.replaceAll(/(.{3,}?)\1+/gu, '$1');

/** `Toko Kopi Senja`: each word, and all of them without spaces. */
function wordsOf(name: string): string[] {
  const words = name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...words, words.join('')].filter(({ length }) => length >= MIN_PIECE_CHARACTERS);
}

/** The longest beginning that is a word, a part of a row of keys, or one character repeated; empty if none is. */
function guessablePrefix(rest: string, words: readonly string[]): string {
  const letters = asLetters(rest);
  const [repeated = ''] = /^(.)\1{2,}/u.exec(rest) ?? [];
  const lengths = [
    repeated.length,
    ...words.map((word) => (rest.startsWith(word) || letters.startsWith(word) ? word.length : 0)),
    ...KEY_ROWS.map((row) => rowLength(rest, row)),
  ];
  return rest.slice(0, Math.max(...lengths));
}

/** How many characters of the row the text begins with; 0 if it is too few to be no chance. */
function rowLength(text: string, row: string): number {
  let length = MIN_PIECE_CHARACTERS;
  while (length <= text.length && row.includes(text.slice(0, length))) length += 1;
  return length > MIN_PIECE_CHARACTERS ? length - 1 : 0;
}

/** What digits and signs stand for in a word: `p4$$w0rd`. Each is one UTF-16 unit, as what it stands for. */
const LETTERS: Readonly<Partial<Record<string, string>>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};
const asLetters = (text: string) => text.replaceAll(/[013457@$!]/g, (character) => LETTERS[character] ?? character);
