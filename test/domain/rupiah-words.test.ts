import * as fc from 'fast-check';
import { MAX_TOTAL_RUPIAH } from '../../src/domain/money';
import { rupiahInWords } from '../../src/domain/rupiah-words';
import { LANGUAGES } from '../../src/domain/sign-in';
import { bySize } from '../support/size';

/* The second implementation reads the words, and knows nothing of how they were made. */

const DIGITS = {
  id: ['satu', 'dua', 'tiga', 'empat', 'lima', 'enam', 'tujuh', 'delapan', 'sembilan'],
  en: ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'],
} as const;
const TEENS = ['ten', 'eleven', 'twelve', 'thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen'];
const TENS = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];

/** What each word adds, or multiplies what stands before it by. */
const ADDED: ReadonlyMap<string, number> = new Map([
  ...LANGUAGES.flatMap((language) => DIGITS[language].map((word, index) => [word, index + 1] as const)),
  ...[...TEENS, 'nineteen'].map((word, index) => [word, index + 10] as const),
  ...TENS.map((word, index) => [word, (index + 2) * 10] as const),
  ['sepuluh', 10],
  ['sebelas', 11],
  ['seratus', 100],
]);
const SCALES: ReadonlyMap<string, number> = new Map([
  ['ribu', 1_000],
  ['thousand', 1_000],
  ['juta', 1_000_000],
  ['million', 1_000_000],
]);

function readWords(text: string): number {
  let [sum, group, last] = [0, 0, 0];
  for (const word of text.replace(/ rupiah$/, '').split(/[ -]/)) {
    const scale = SCALES.get(word);
    if (word === 'seribu') sum += 1_000;
    else if (scale !== undefined) [sum, group, last] = [sum + (group + last) * scale, 0, 0];
    else if (word === 'belas') last += 10;
    else if (word === 'puluh') last *= 10;
    else if (word === 'ratus' || word === 'hundred') [group, last] = [group + last * 100, 0];
    else {
      const added = ADDED.get(word);
      if (added === undefined) throw new Error(`The word ${word} of "${text}" is unknown`);
      [group, last] = [group + last, added];
    }
  }
  return sum + group + last;
}

it.each([
  [1, 'satu rupiah', 'one rupiah'],
  [10, 'sepuluh rupiah', 'ten rupiah'],
  [11, 'sebelas rupiah', 'eleven rupiah'],
  [12, 'dua belas rupiah', 'twelve rupiah'],
  [21, 'dua puluh satu rupiah', 'twenty-one rupiah'],
  [100, 'seratus rupiah', 'one hundred rupiah'],
  [1_000, 'seribu rupiah', 'one thousand rupiah'],
  [1_111, 'seribu seratus sebelas rupiah', 'one thousand one hundred eleven rupiah'],
  [11_000, 'sebelas ribu rupiah', 'eleven thousand rupiah'],
  [50_000, 'lima puluh ribu rupiah', 'fifty thousand rupiah'],
  [101_000, 'seratus satu ribu rupiah', 'one hundred one thousand rupiah'],
  [1_001_000, 'satu juta seribu rupiah', 'one million one thousand rupiah'],
  [
    2_750_500,
    'dua juta tujuh ratus lima puluh ribu lima ratus rupiah',
    'two million seven hundred fifty thousand five hundred rupiah',
  ],
  [MAX_TOTAL_RUPIAH, 'sepuluh juta rupiah', 'ten million rupiah'],
])('%i', (rupiah, indonesian, english) => {
  expect([rupiahInWords(rupiah, 'id'), rupiahInWords(rupiah, 'en')]).toEqual([indonesian, english]);
});

it.each(LANGUAGES)('each amount that a customer can pay is read back from its words: %s', (language) => {
  const isReadBack = (rupiah: number) => readWords(rupiahInWords(rupiah, language)) === rupiah;
  const last = bySize({ small: 2_000, full: MAX_TOTAL_RUPIAH });
  const misread = (function* () {
    for (let rupiah = 1; rupiah <= last; rupiah += 1) if (!isReadBack(rupiah)) yield rupiah;
  })();
  expect(misread.next().value).toBeUndefined();
  fc.assert(fc.property(fc.integer({ min: 1, max: MAX_TOTAL_RUPIAH }), isReadBack), { numRuns: 2_000 });
});
