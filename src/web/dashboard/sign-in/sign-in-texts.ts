import type { PasswordViolation } from '../../../domain/passwords';
import type { Language } from '../../../domain/sign-in';
import { SHARED_EN, SHARED_ID } from '../texts/shared-texts';

/** `4` minutes for 200 seconds: a wait is rounded up, so that a repeat after it is accepted. */
const minutesOf = (seconds: number) => Math.ceil(seconds / 60);

const VIOLATIONS_EN: Readonly<Record<PasswordViolation, string>> = {
  too_short: 'The password needs at least 12 characters.',
  too_long: 'The password has more than 128 bytes.',
  contains_email: 'The password must not contain the name of your e-mail address.',
  too_uniform: 'The password needs at least 5 different characters.',
  common:
    'The password is easy to guess. Do not build it from a common word, a row of keys, a year or a name: ' +
    'choose several unusual words.',
};

const VIOLATIONS_ID: Readonly<Record<PasswordViolation, string>> = {
  too_short: 'Kata sandi minimal 12 karakter.',
  too_long: 'Kata sandi lebih dari 128 byte.',
  contains_email: 'Kata sandi tidak boleh memuat nama di alamat email Anda.',
  too_uniform: 'Kata sandi perlu minimal 5 karakter yang berbeda.',
  common:
    'Kata sandi ini mudah ditebak. Jangan menyusunnya dari kata umum, deret tombol, tahun, atau nama: ' +
    'pilih beberapa kata yang tidak biasa.',
};

const en = {
  introduction: 'Lunas takes QRIS payments for your shop: a customer scans the code, and the money comes to your bank.',
  continue: 'Continue',
  cancel: 'Back',
  notAccepted: 'This did not work:',
  email: 'E-mail',
  password: 'Password',
  newPassword: 'New password',
  passwordHint: 'At least 12 characters, without the name of your e-mail address. Several words are easy to remember.',
  repeatPassword: 'The same password again',
  name: 'Your name',
  violations: VIOLATIONS_EN,
  problems: {
    credentials: 'The e-mail or the password is wrong.',
    password: 'The password is wrong.',
    code: 'The code is wrong, or it was used before. Wait for the next code of your app.',
    passkey: 'The passkey was not accepted. Try again, or use another way to sign in.',
    missing: 'This field is empty.',
    repeated: SHARED_EN.sentTwice,
    mismatch: 'The two passwords differ.',
    name: 'The name has at most 100 characters.',
    throttled: (seconds: number) =>
      seconds < 60
        ? `Too many attempts. Try again in ${seconds} seconds.`
        : `Too many attempts. Try again in ${minutesOf(seconds)} minutes.`,
    busy: 'Many users are signing in. Try again in a few seconds.',
    unavailable: 'Signing in is not possible right now. Your data is safe. Try again in a moment.',
  },
  login: {
    title: 'Sign in',
    button: 'Sign in',
    help: 'You cannot sign in?',
    helpText:
      'An owner of your merchant can send you a link that sets a new password. ' +
      'If you are its only owner, or a member of several merchants, contact Lunas.',
  },
  code: {
    title: 'Second step',
    label: 'Code of your authenticator app',
    hint: 'Six digits. Or one of your recovery codes.',
    other: 'Sign in as another user',
  },
  stepUp: {
    title: 'Confirm that it is you',
    explanation: 'The next page changes access or money. Lunas asks for your proof again first.',
  },
  passkey: {
    use: 'Use a passkey',
    create: 'Use a passkey instead',
    title: 'Use your passkey',
    explanation: 'Your browser asks for the passkey now. Confirm with your fingerprint, your face or the PIN.',
    createTitle: SHARED_EN.addPasskey,
    createExplanation: 'Your browser asks now where to keep the passkey.',
    start: 'Ask again',
    failed: 'The browser has not used a passkey. Ask again, or go back.',
    needsScript: 'A passkey needs JavaScript, and a browser that has passkeys. Password and code work without them.',
    firstName: 'My first passkey',
  },
  enrol: {
    title: 'Set up the second factor',
    required: 'Lunas requires a second factor in addition to the password: an authenticator app or a passkey.',
    scan: 'Open an authenticator app, such as Google Authenticator or Aegis, and scan this code.',
    qr: 'QR code for the authenticator app',
    open: 'Open the app on this device',
    secret: 'Or type this secret into the app:',
    copy: 'Copy',
    code: 'Code that the app shows',
    codeHint: 'Six digits',
    button: 'Confirm',
  },
  recovery: {
    title: 'Your recovery codes',
    explanation: 'Each code replaces the app or the passkey once, if you lose it. Store them where only you read them.',
    once: 'Lunas shows them only now.',
    copy: 'Copy all',
    copied: 'Copied',
    print: 'Print',
    stored: 'I have stored the codes',
  },
  invitation: {
    title: (merchant: string) => `Join ${merchant}`,
    invited: (email: string, role: string) => `${email} is invited. Role: ${role}.`,
    create: 'Create the login',
    join: (merchant: string, role: string) => `Join ${merchant} as ${role}`,
    signIn: 'Sign in and join',
    known: 'This e-mail has a login at Lunas already. Sign in with it.',
    otherUser: (email: string) => `You are signed in as ${email}. Sign out, and open the link again.`,
    invalidTitle: 'This invitation is not valid',
    invalid: 'It was used or withdrawn, or it has expired. An invitation works once, for 72 hours.',
    invalidNext: 'If you have joined already, sign in. If not, request a new invitation.',
  },
  reset: {
    title: 'Set a new password',
    explanation: (email: string) =>
      `For ${email}. Your authenticator app, passkeys and recovery codes are removed, and every browser is signed out.`,
    button: 'Set the password',
    invalidTitle: SHARED_EN.linkNotValid,
    invalid: 'It was used or withdrawn, or it has expired. It works once, for one hour.',
    invalidNext: 'If you have set a password already, sign in with it. If not, request a new link.',
  },
};

export type SignInTexts = typeof en;

const id: SignInTexts = {
  introduction:
    'Lunas menerima pembayaran QRIS untuk toko Anda: pelanggan memindai kode, dan uangnya masuk ke bank Anda.',
  continue: 'Lanjutkan',
  cancel: 'Kembali',
  notAccepted: 'Belum berhasil:',
  email: 'Email',
  password: 'Kata sandi',
  newPassword: 'Kata sandi baru',
  passwordHint: 'Minimal 12 karakter, tanpa nama di alamat email Anda. Gabungan beberapa kata mudah diingat.',
  repeatPassword: 'Ulangi kata sandi yang sama',
  name: 'Nama Anda',
  violations: VIOLATIONS_ID,
  problems: {
    credentials: 'Email atau kata sandi salah.',
    password: 'Kata sandi salah.',
    code: 'Kode salah atau sudah dipakai. Tunggu kode berikutnya di aplikasi Anda.',
    passkey: 'Kunci sandi tidak diterima. Coba lagi, atau masuk dengan cara lain.',
    missing: 'Isian ini masih kosong.',
    repeated: SHARED_ID.sentTwice,
    mismatch: 'Kedua kata sandi berbeda.',
    name: 'Nama paling panjang 100 karakter.',
    throttled: (seconds: number) =>
      seconds < 60
        ? `Terlalu banyak percobaan. Coba lagi dalam ${seconds} detik.`
        : `Terlalu banyak percobaan. Coba lagi dalam ${minutesOf(seconds)} menit.`,
    busy: 'Banyak pengguna sedang masuk. Coba lagi beberapa detik lagi.',
    unavailable: 'Saat ini Anda belum bisa masuk. Data Anda aman. Coba lagi sebentar lagi.',
  },
  login: {
    title: 'Masuk',
    button: 'Masuk',
    help: 'Tidak bisa masuk?',
    helpText:
      'Pemilik toko Anda dapat mengirim tautan untuk membuat kata sandi baru. ' +
      'Jika Anda satu-satunya pemilik, atau anggota beberapa toko, hubungi Lunas.',
  },
  code: {
    title: 'Langkah kedua',
    label: 'Kode dari aplikasi autentikator',
    hint: 'Enam angka. Atau salah satu kode pemulihan Anda.',
    other: 'Masuk sebagai pengguna lain',
  },
  stepUp: {
    title: 'Pastikan ini Anda',
    explanation: 'Halaman berikutnya mengubah akses atau dana. Karena itu Lunas memeriksa Anda sekali lagi.',
  },
  passkey: {
    use: 'Pakai kunci sandi',
    create: 'Pakai kunci sandi saja',
    title: 'Pakai kunci sandi Anda',
    explanation: 'Peramban sekarang meminta kunci sandi. Konfirmasi dengan sidik jari, wajah, atau PIN Anda.',
    createTitle: SHARED_ID.addPasskey,
    createExplanation: 'Peramban sekarang menanyakan tempat menyimpan kunci sandi.',
    start: 'Minta lagi',
    failed: 'Peramban tidak memakai kunci sandi. Minta lagi, atau kembali.',
    needsScript:
      'Kunci sandi memerlukan JavaScript dan peramban yang mendukungnya. Kata sandi dan kode tetap bisa dipakai.',
    firstName: 'Kunci sandi pertama saya',
  },
  enrol: {
    title: 'Atur langkah kedua',
    required: 'Selain kata sandi, Lunas mewajibkan langkah kedua: aplikasi autentikator atau kunci sandi.',
    scan: 'Buka aplikasi autentikator, misalnya Google Authenticator atau Aegis, lalu pindai kode ini.',
    qr: 'Kode QR untuk aplikasi autentikator',
    open: 'Buka aplikasi di perangkat ini',
    secret: 'Atau ketik kunci ini di aplikasi:',
    copy: 'Salin',
    code: 'Kode yang tampil di aplikasi',
    codeHint: 'Enam angka',
    button: 'Konfirmasi',
  },
  recovery: {
    title: 'Kode pemulihan Anda',
    explanation:
      'Setiap kode menggantikan aplikasi atau kunci sandi satu kali jika hilang. Simpan di tempat yang aman.',
    once: 'Kode ini hanya tampil sekarang.',
    copy: 'Salin semua',
    copied: 'Disalin',
    print: 'Cetak',
    stored: 'Kode sudah saya simpan',
  },
  invitation: {
    title: (merchant: string) => `Bergabung dengan ${merchant}`,
    invited: (email: string, role: string) => `${email} diundang. Peran: ${role}.`,
    create: 'Buat akun',
    join: (merchant: string, role: string) => `Bergabung dengan ${merchant} sebagai ${role}`,
    signIn: 'Masuk dan bergabung',
    known: 'Email ini sudah punya akun Lunas. Masuk dengan akun itu.',
    otherUser: (email: string) => `Anda masuk sebagai ${email}. Keluar dulu, lalu buka lagi tautan ini.`,
    invalidTitle: 'Undangan ini tidak berlaku',
    invalid: 'Undangan sudah dipakai, ditarik, atau kedaluwarsa. Undangan berlaku satu kali, selama 72 jam.',
    invalidNext: 'Jika Anda sudah bergabung, silakan masuk. Jika belum, minta undangan baru.',
  },
  reset: {
    title: 'Buat kata sandi baru',
    explanation: (email: string) =>
      `Untuk ${email}. Aplikasi autentikator, kunci sandi, dan kode pemulihan Anda dihapus, dan semua peramban keluar.`,
    button: 'Simpan kata sandi',
    invalidTitle: SHARED_ID.linkNotValid,
    invalid: 'Tautan sudah dipakai, ditarik, atau kedaluwarsa. Tautan berlaku satu kali, selama satu jam.',
    invalidNext: 'Jika Anda sudah membuat kata sandi, masuk dengan itu. Jika belum, minta tautan baru.',
  },
};

export const SIGN_IN_TEXTS: Readonly<Record<Language, SignInTexts>> = { id, en };
