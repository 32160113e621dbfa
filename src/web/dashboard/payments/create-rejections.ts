import { formatRupiah } from '../../../domain/money';
import type { Language } from '../../../domain/sign-in';
import type { RejectionData } from '../../../services/payments/create/create-rejection';

/** What a form adds to the rejections of a creation. */
interface FormRejectionData extends RejectionData {
  /** The requests of the merchant have reached the limit of a minute. */
  readonly merchant_rate: object;
}

export type FormReason = keyof FormRejectionData;

export type FormRejection<Reason extends FormReason = FormReason> = {
  [Name in Reason]: { readonly reason: Name } & FormRejectionData[Name];
}[Reason];

type RejectionTexts = { readonly [Reason in FormReason]: (rejection: FormRejection<Reason>) => string };

const busyInEnglish = () => 'Many QR codes are being created. Try again in a moment.';

const en: RejectionTexts = {
  payment_method_inactive: () => 'QRIS is not active for you.',
  provider_not_enabled: () => 'This provider is not enabled for you.',
  provider_unavailable: () => 'This provider is not available at present. Try again later.',
  fee_reaches_amount: ({ feeRupiah }) => `The amount has to be more than its fee of ${formatRupiah(feeRupiah)}.`,
  total_too_large: ({ feeRupiah }) => `Amount and fee (${formatRupiah(feeRupiah)}) are above Rp 10.000.000.`,
  return_url_not_allowed: ({ origin }) => `Your shop has no address ${origin}. Register it in the settings first.`,
  idempotency_key_reused: () => 'This form has created another payment already. Open a new form.',
  idempotency_key_archived: () => 'This form has created a payment already, which is archived. Open a new form.',
  creates_in_flight: busyInEnglish,
  merchant_rate: busyInEnglish,
  provider_rejected: () => 'The provider did not create a QR. The list of payments has the reason. Open a new form.',
};

const busyInIndonesian = () => 'Banyak QR sedang dibuat. Coba lagi sebentar.';

const id: RejectionTexts = {
  payment_method_inactive: () => 'QRIS tidak aktif untuk Anda.',
  provider_not_enabled: () => 'Penyedia ini tidak aktif untuk Anda.',
  provider_unavailable: () => 'Penyedia ini sedang tidak tersedia. Coba lagi nanti.',
  fee_reaches_amount: ({ feeRupiah }) => `Jumlah harus lebih besar dari biayanya, ${formatRupiah(feeRupiah)}.`,
  total_too_large: ({ feeRupiah }) => `Jumlah dan biaya (${formatRupiah(feeRupiah)}) melebihi Rp 10.000.000.`,
  return_url_not_allowed: ({ origin }) => `Toko Anda tidak punya alamat ${origin}. Daftarkan dulu di pengaturan.`,
  idempotency_key_reused: () => 'Formulir ini sudah membuat pembayaran lain. Buka formulir baru.',
  idempotency_key_archived: () => 'Formulir ini sudah membuat pembayaran yang kini diarsipkan. Buka formulir baru.',
  creates_in_flight: busyInIndonesian,
  merchant_rate: busyInIndonesian,
  provider_rejected: () => 'Penyedia tidak membuat QR. Alasannya ada di daftar pembayaran. Buka formulir baru.',
};

const TEXTS: Readonly<Record<Language, RejectionTexts>> = { en, id };

/** Why a form creates no payment, in the language of the member. */
export function creationText<Reason extends FormReason>(language: Language, rejection: FormRejection<Reason>): string {
  return TEXTS[language][rejection.reason](rejection);
}

/** A reason of the operation. Why a payment was not created stands in it. */
interface NotDone {
  readonly reason: string;
  readonly why?: { readonly reason: string };
}

const FIELDS: Readonly<Partial<Record<string, string>>> = {
  merchant_state: 'amount',
  payment_method_inactive: 'provider',
  provider_not_enabled: 'provider',
  provider_unavailable: 'provider',
  fee_reaches_amount: 'amount',
  total_too_large: 'amount',
} satisfies Partial<Record<FormReason | 'merchant_state', string>>;

/** The field that has the text; undefined: it stands above the form. */
export const fieldOfCreation = ({ reason, why }: NotDone) => FIELDS[why?.reason ?? reason];

const LIMITS: ReadonlySet<string> = new Set<FormReason>(['creates_in_flight', 'merchant_rate']);

/** Whether the same form can be sent again in a moment. */
export const isCreationLimit = ({ reason, why }: NotDone) => LIMITS.has(why?.reason ?? reason);
