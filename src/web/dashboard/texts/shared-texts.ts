/** Texts that several pages show, in English. A text is written once: the tidy test rejects a copy. */
export const SHARED_EN = {
  checkFields: 'Check these fields:',
  sentTwice: 'The field was sent twice.',
  noFormId: 'Open this form again: its number is missing.',
  aboveOwnRights: 'Choose only what your role may give.',
  filter: 'Filter',
  wrongFilter: 'This filter is not possible:',
  noMatch: 'Nothing matches these filters.',
  dayFormat: 'Write the day as 2026-11-25.',
  dayOrder: 'The first day is after the last one.',
  noStatus: 'There is no such status.',
  givenTwice: 'The value is given twice.',
  moneyAvailable: 'The money is available again.',
  endpointDeleted: 'The endpoint is deleted.',
  linkNotValid: 'This link is not valid',
  addPasskey: 'Add a passkey',
  nameAtBank: 'Name at the bank',
};

/** Texts that several pages show, in Indonesian. */
export const SHARED_ID: typeof SHARED_EN = {
  checkFields: 'Periksa isian berikut:',
  sentTwice: 'Isian terkirim dua kali.',
  noFormId: 'Buka formulir ini lagi: nomornya tidak ada.',
  aboveOwnRights: 'Pilih hanya yang boleh diberikan oleh peran Anda.',
  filter: 'Filter',
  wrongFilter: 'Filter ini tidak dapat dipakai:',
  noMatch: 'Tidak ada yang cocok dengan filter ini.',
  dayFormat: 'Tulis hari seperti 2026-11-25.',
  dayOrder: 'Hari pertama setelah hari terakhir.',
  noStatus: 'Status ini tidak ada.',
  givenTwice: 'Nilai diberikan dua kali.',
  moneyAvailable: 'Uangnya tersedia lagi di saldo.',
  endpointDeleted: 'Endpoint sudah dihapus.',
  linkNotValid: 'Tautan ini tidak berlaku',
  addPasskey: 'Tambah kunci sandi',
  nameAtBank: 'Nama di bank',
};
