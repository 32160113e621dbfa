/** Banks that can receive payouts, by their national code. */
export const BANKS = {
  '002': 'BRI',
  '008': 'Mandiri',
  '009': 'BNI',
  '011': 'Danamon',
  '013': 'Permata',
  '014': 'BCA',
  '016': 'Maybank',
  '019': 'Panin',
  '022': 'CIMB Niaga',
  '023': 'UOB',
  '028': 'OCBC',
  '046': 'DBS',
  '110': 'bjb',
  '111': 'Bank DKI',
  '147': 'Muamalat',
  '153': 'Sinarmas',
  '200': 'BTN',
  '213': 'SMBC Indonesia',
  '426': 'Mega',
  '441': 'KB Bank',
  '451': 'BSI',
  '490': 'Neo Commerce',
  '535': 'SeaBank',
  '542': 'Jago',
} as const satisfies Readonly<Record<string, string>>;

export type BankCode = keyof typeof BANKS;

export function isBankCode(code: string): code is BankCode {
  return Object.hasOwn(BANKS, code);
}

/** In the order of their names. */
export const BANK_CODES: readonly BankCode[] = Object.keys(BANKS)
  .filter(isBankCode)
  .toSorted((one, other) => BANKS[one].localeCompare(BANKS[other], 'en'));

/** 5 to 20 digits, without spaces. */
export function isAccountNumber(text: string): boolean {
  return /^\d{5,20}$/.test(text);
}

/** An account in the form of every page and command: `BCA •••• 1234`. */
export function describeAccount(bankCode: string, lastFour: string): string {
  return `${isBankCode(bankCode) ? BANKS[bankCode] : bankCode} •••• ${lastFour}`;
}
