import type { NotOpened } from '../../../db/links/open-link';
import type { Language } from '../../../domain/sign-in';
import { TEXTS } from '../texts';

/** Why the page of a link has no form. */
export type LinkEnd = Exclude<NotOpened, 'too_many_new' | 'too_many_open'> | 'not_possible';

/** Why the form was not executed. It can be sent again. */
export type LinkProblem = 'no_result' | 'too_many';

interface LinkTexts {
  readonly amount: string;
  readonly bounds: (minimum: string, maximum: string) => string;
  readonly amountError: (minimum: string, maximum: string) => string;
  readonly button: string;
  readonly ends: Readonly<Record<LinkEnd, string>>;
  readonly problems: Readonly<Record<LinkProblem, string>>;
  readonly otherAmount: (amount: string, until: string) => string;
  readonly payOther: (amount: string) => string;
  readonly unknown: { readonly title: string; readonly explanation: string };
}

const INDONESIAN: LinkTexts = {
  amount: 'Jumlah',
  bounds: (minimum, maximum) => `Dari ${minimum} sampai ${maximum}`,
  amountError: (minimum, maximum) => `Isi jumlah dari ${minimum} sampai ${maximum}.`,
  button: TEXTS.id.states.waiting.title,
  ends: {
    paid: 'Tautan ini sudah dibayar.',
    closed: 'Toko sudah menutup tautan ini.',
    expired: 'Tautan ini sudah berakhir.',
    used_up: 'Mintalah tautan baru kepada toko.',
    not_possible: 'Toko tidak dapat menerima pembayaran saat ini.',
  },
  problems: {
    no_result: 'Tekan tombolnya lagi: hanya ada satu pembayaran.',
    too_many: 'Terlalu banyak pembayaran lewat tautan ini sekarang. Tunggu sebentar, lalu tekan tombolnya lagi.',
  },
  otherAmount: (amount, until) => `${amount} sedang dibayar. Bayar jumlah itu, atau tunggu sampai ${until}.`,
  payOther: (amount) => `Bayar ${amount}`,
  unknown: { title: 'Halaman tidak ditemukan', explanation: 'Tautan ini tidak ada. Periksa alamatnya.' },
};

const ENGLISH: LinkTexts = {
  amount: 'Amount',
  bounds: (minimum, maximum) => `From ${minimum} to ${maximum}`,
  amountError: (minimum, maximum) => `Enter an amount from ${minimum} to ${maximum}.`,
  button: 'Pay by QRIS',
  ends: {
    paid: 'This link is paid.',
    closed: 'The shop has closed this link.',
    expired: 'This link has ended.',
    used_up: 'Ask the shop for a new link.',
    not_possible: 'The shop cannot take payments at present.',
  },
  problems: {
    no_result: 'Press the button again: it makes one payment.',
    too_many: 'Too many payments by this link at present. Wait a moment, then press the button again.',
  },
  otherAmount: (amount, until) => `${amount} is being paid. Pay it, or wait until ${until}.`,
  payOther: (amount) => `Pay ${amount}`,
  unknown: { title: 'Page not found', explanation: 'This link does not exist.' },
};

export const LINK_TEXTS_OF_CUSTOMERS: Readonly<Record<Language, LinkTexts>> = { id: INDONESIAN, en: ENGLISH };
