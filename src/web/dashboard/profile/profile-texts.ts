import type { Language, SignInMethod } from '../../../domain/sign-in';

const METHODS_EN = {
  password: 'Password',
  passkey: 'Passkey',
  development_link: 'Development link',
} satisfies Record<SignInMethod, string>;

const METHODS_ID = {
  password: 'Kata sandi',
  passkey: 'Kunci sandi',
  development_link: 'Tautan pengembangan',
} satisfies Record<SignInMethod, string>;

const en = {
  profile: 'Profile',
  security: 'Security',
  merchants: 'To the merchant',
  language: 'Language',
  languages: { id: 'Bahasa Indonesia', en: 'English' },
  email: 'E-mail',
  emailHint: 'The e-mail cannot be changed. An owner can invite another one.',
  save: 'Save',
  done: {
    profile: 'The profile is saved.',
    password: 'The password is changed. Your other browsers are signed out.',
    ended: 'The session is ended.',
    others: 'All other sessions are ended.',
  },
  password: {
    title: 'Password',
    set: 'Lunas stores only a hash of it.',
    missing: 'You have no password yet.',
    change: 'Change password',
    create: 'Set a password',
    explanation: 'Your other browsers are signed out.',
  },
  totp: {
    title: 'Authenticator app',
    set: 'A code of the app is required at each sign-in.',
    missing: 'Not set up. Anyone who learns your password can sign in.',
    setUp: 'Set up',
    replace: 'Replace',
    replacing:
      'The codes of the earlier app and the earlier recovery codes stop working. Other browsers are signed out.',
  },
  codes: {
    title: 'Recovery codes',
    left: (count: number) => (count === 1 ? '1 code is left.' : `${count} codes are left.`),
    few: 'Create new ones before you need them.',
    none: 'They are created with the authenticator app.',
    create: 'New recovery codes',
    explanation: 'The earlier codes stop working.',
    button: 'Create the codes',
  },
  sessions: {
    title: 'Where you are signed in',
    caption: 'Your sessions, the newest first',
    columns: {
      browser: 'Browser',
      address: 'Address',
      seen: 'Last seen (WIB)',
      since: 'Signed in (WIB)',
      action: 'Action',
    },
    current: 'This browser',
    end: 'End',
    endOthers: 'End all others',
    none: 'No session.',
    unknown: 'Unknown browser',
    methods: METHODS_EN,
  },
};

export type ProfileTexts = typeof en;

const id: ProfileTexts = {
  profile: 'Profil',
  security: 'Keamanan',
  merchants: 'Ke toko',
  language: 'Bahasa',
  languages: { id: 'Bahasa Indonesia', en: 'English' },
  email: 'Email',
  emailHint: 'Email tidak dapat diganti. Pemilik toko dapat mengundang email lain.',
  save: 'Simpan',
  done: {
    profile: 'Profil sudah disimpan.',
    password: 'Kata sandi sudah diganti. Peramban Anda yang lain sudah keluar.',
    ended: 'Sesi sudah diakhiri.',
    others: 'Semua sesi lain sudah diakhiri.',
  },
  password: {
    title: 'Kata sandi',
    set: 'Lunas hanya menyimpan hash dari kata sandi Anda.',
    missing: 'Anda belum punya kata sandi.',
    change: 'Ganti kata sandi',
    create: 'Buat kata sandi',
    explanation: 'Peramban Anda yang lain akan keluar.',
  },
  totp: {
    title: 'Aplikasi autentikator',
    set: 'Kode dari aplikasi diperlukan setiap kali masuk.',
    missing: 'Belum diatur. Siapa pun yang tahu kata sandi Anda dapat masuk.',
    setUp: 'Atur',
    replace: 'Ganti',
    replacing: 'Kode dari aplikasi lama dan kode pemulihan lama tidak berlaku lagi. Peramban lain akan keluar.',
  },
  codes: {
    title: 'Kode pemulihan',
    left: (count: number) => `Tersisa ${count} kode.`,
    few: 'Buat yang baru sebelum Anda membutuhkannya.',
    none: 'Kode ini dibuat bersama aplikasi autentikator.',
    create: 'Kode pemulihan baru',
    explanation: 'Kode yang lama tidak berlaku lagi.',
    button: 'Buat kode',
  },
  sessions: {
    title: 'Tempat Anda masuk',
    caption: 'Sesi Anda, yang terbaru lebih dulu',
    columns: {
      browser: 'Peramban',
      address: 'Alamat',
      seen: 'Terakhir aktif (WIB)',
      since: 'Masuk (WIB)',
      action: 'Tindakan',
    },
    current: 'Peramban ini',
    end: 'Akhiri',
    endOthers: 'Akhiri semua yang lain',
    none: 'Tidak ada sesi.',
    unknown: 'Peramban tidak dikenal',
    methods: METHODS_ID,
  },
};

export const PROFILE_TEXTS: Readonly<Record<Language, ProfileTexts>> = { id, en };
