/** What the encoding of the standard fonts of PDF has (WinAnsiEncoding, ISO 32000-1 annex D). */
const ENCODED = /^[\x20-\x7e\xa0-\xff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]$/u;

/** A text of which the standard fonts have every character: `Łódź 株` becomes `?ódz ?`. */
export function printable(text: string): string {
  return Array.from(text.normalize('NFC'), printableCharacter).join('');
}

function printableCharacter(character: string): string {
  if (ENCODED.test(character)) return character;
  const letters = Array.from(character.normalize('NFKD')).filter((part) => ENCODED.test(part));
  return letters.join('') || '?';
}
