import type { Language } from '../../../domain/sign-in';

/** `4 minutes` for 200 seconds: a wait is rounded up, so that a repeat after it is accepted. */
const minutesOf = (seconds: number) => Math.ceil(seconds / 60);

const en = {
  continue: 'Continue',
  cancel: 'Back',
  checkFields: 'Check these fields:',
  problems: {
    credentials: 'The e-mail or the password is wrong.',
    password: 'The password is wrong.',
    code: 'The code is wrong, or it was used before. Wait for the next code of your app.',
    missing: 'This field is empty.',
    repeated: 'The field was sent twice.',
    throttled: (seconds: number) =>
      seconds < 60
        ? `Too many attempts. Try again in ${seconds} seconds.`
        : `Too many attempts. Try again in ${minutesOf(seconds)} minutes.`,
    busy: 'Many users are signing in. Try again in a few seconds.',
    unavailable: 'Signing in is not possible right now. Your data is safe. Try again in a moment.',
  },
  stepUp: {
    title: 'Confirm that it is you',
    explanation: 'The next page changes access or money. Lunas asks for your proof again first.',
    code: 'Code of your authenticator app',
    codeHint: 'Six digits. Or one of your recovery codes.',
    password: 'Password',
  },
};

export type SignInTexts = typeof en;

const id: SignInTexts = {
  continue: 'Lanjutkan',
  cancel: 'Kembali',
  checkFields: 'Periksa isian berikut:',
  problems: {
    credentials: 'Email atau kata sandi salah.',
    password: 'Kata sandi salah.',
    code: 'Kode salah atau sudah dipakai. Tunggu kode berikutnya di aplikasi Anda.',
    missing: 'Isian ini masih kosong.',
    repeated: 'Isian terkirim dua kali.',
    throttled: (seconds: number) =>
      seconds < 60
        ? `Terlalu banyak percobaan. Coba lagi dalam ${seconds} detik.`
        : `Terlalu banyak percobaan. Coba lagi dalam ${minutesOf(seconds)} menit.`,
    busy: 'Banyak pengguna sedang masuk. Coba lagi beberapa detik lagi.',
    unavailable: 'Saat ini Anda belum bisa masuk. Data Anda aman. Coba lagi sebentar lagi.',
  },
  stepUp: {
    title: 'Pastikan ini Anda',
    explanation: 'Halaman berikutnya mengubah akses atau dana. Karena itu Lunas memeriksa Anda sekali lagi.',
    code: 'Kode dari aplikasi autentikator',
    codeHint: 'Enam angka. Atau salah satu kode pemulihan Anda.',
    password: 'Kata sandi',
  },
};

export const SIGN_IN_TEXTS: Readonly<Record<Language, SignInTexts>> = { id, en };
