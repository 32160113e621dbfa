import type { Language } from '../../domain/sign-in';

/** The texts of the form that searches the documents, in the language of its page. */
export const SEARCH_TEXTS: Readonly<
  Record<Language, Readonly<Record<'label' | 'hint' | 'send' | 'count' | 'none', string>>>
> = {
  id: {
    label: 'Cari di dokumen',
    hint: 'Cari, atau tekan /',
    send: 'Cari',
    count: 'Hasil: {}',
    none: 'Tidak ditemukan. Coba satu kata, misalnya “refund”.',
  },
  en: {
    label: 'Search the documents',
    hint: 'Search, or press /',
    send: 'Search',
    count: 'Results: {}',
    none: 'Nothing was found. Type one word, such as “refund”.',
  },
};
