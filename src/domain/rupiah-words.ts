import type { Language } from './sign-in';

const INDONESIAN = ['', 'satu', 'dua', 'tiga', 'empat', 'lima', 'enam', 'tujuh', 'delapan', 'sembilan'] as const;
const ENGLISH = (
  ' one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen ' +
  'eighteen nineteen'
).split(' ');
const ENGLISH_TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'] as const;

/** The words of a number below a thousand, in their order; none for zero. */
const BELOW_THOUSAND: Readonly<Record<Language, (number: number) => string[]>> = {
  id(number) {
    const [hundreds, rest] = [Math.floor(number / 100), number % 100];
    const words = hundreds === 0 ? [] : hundreds === 1 ? ['seratus'] : [INDONESIAN[hundreds] ?? '', 'ratus'];
    return [...words, ...indonesianBelowHundred(rest)];
  },
  en(number) {
    const [hundreds, rest] = [Math.floor(number / 100), number % 100];
    const words = hundreds === 0 ? [] : [ENGLISH[hundreds] ?? '', 'hundred'];
    return [...words, ...englishBelowHundred(rest)];
  },
};

function indonesianBelowHundred(number: number): string[] {
  const [tens, ones] = [Math.floor(number / 10), number % 10];
  const last = ones === 0 ? [] : [INDONESIAN[ones] ?? ''];
  if (tens === 0) return last;
  if (number === 10) return ['sepuluh'];
  if (number === 11) return ['sebelas'];
  return tens === 1 ? [...last, 'belas'] : [INDONESIAN[tens] ?? '', 'puluh', ...last];
}

function englishBelowHundred(number: number): string[] {
  if (number === 0) return [];
  if (number < 20) return [ENGLISH[number] ?? ''];
  const [tens, ones] = [ENGLISH_TENS[Math.floor(number / 10)] ?? '', ENGLISH[number % 10] ?? ''];
  return [ones === '' ? tens : `${tens}-${ones}`];
}

const SCALES = {
  id: { thousand: 'ribu', million: 'juta', oneThousand: ['seribu'] },
  en: { thousand: 'thousand', million: 'million', oneThousand: ['one', 'thousand'] },
} as const satisfies Record<Language, unknown>;

/** `lima puluh ribu rupiah`: a whole amount from 1 to 999,999,999, as people of the language read it aloud. */
export function rupiahInWords(rupiah: number, language: Language): string {
  const wordsOf = BELOW_THOUSAND[language];
  const { thousand, million, oneThousand } = SCALES[language];
  const [millions, thousands, rest] = [
    Math.floor(rupiah / 1_000_000),
    Math.floor(rupiah / 1_000) % 1_000,
    rupiah % 1_000,
  ];
  return [
    ...(millions === 0 ? [] : [...wordsOf(millions), million]),
    ...(thousands === 0 ? [] : thousands === 1 ? oneThousand : [...wordsOf(thousands), thousand]),
    ...wordsOf(rest),
    'rupiah',
  ].join(' ');
}
