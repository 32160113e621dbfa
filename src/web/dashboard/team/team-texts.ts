import type { MemberArea, MemberRole } from '../../../domain/member-roles';
import type { Language } from '../../../domain/sign-in';
import type { ActionTexts } from '../activity/recorded-action';
import { SHARED_EN, SHARED_ID } from '../texts/shared-texts';

const EN_AREAS = {
  payments: 'Payments',
  turnover: 'Turnover',
  customers: 'Customer data',
  balance: 'Balance',
  payouts: 'Payouts',
  bank_account: 'Bank account',
  developers: 'Keys and webhooks',
  team: 'Team',
  activity: 'Activity',
  settings: 'Settings',
} satisfies Record<MemberArea, string>;

const ID_AREAS = {
  payments: 'Pembayaran',
  turnover: 'Omzet',
  customers: 'Data pelanggan',
  balance: 'Saldo',
  payouts: 'Pencairan',
  bank_account: 'Rekening bank',
  developers: 'Kunci dan webhook',
  team: 'Tim',
  activity: 'Aktivitas',
  settings: 'Pengaturan',
} satisfies Record<MemberArea, string>;

const EN_PURPOSES = {
  owner: 'Everything: money, team, keys and settings',
  finance: 'Money: refunds, payouts and the bank account',
  developer: 'The integration: keys, webhooks and the look of the checkout page',
  support: 'Customers: payments, refunds and customer data',
  cashier: 'The counter: takes payments, and refunds none',
  viewer: 'Only looks: payments, balance and payouts',
} satisfies Record<MemberRole, string>;

const ID_PURPOSES = {
  owner: 'Semuanya: uang, tim, kunci, dan pengaturan',
  finance: 'Uang: pengembalian dana, pencairan, dan rekening bank',
  developer: 'Integrasi: kunci, webhook, dan tampilan halaman pembayaran',
  support: 'Pelanggan: pembayaran, pengembalian dana, dan data pelanggan',
  cashier: 'Kasir toko: menerima pembayaran, tanpa pengembalian dana',
  viewer: 'Hanya melihat: pembayaran, saldo, dan pencairan',
} satisfies Record<MemberRole, string>;

/** The actions of the team, as the activity names them. */
export const MEMBER_ACTION_TEXTS = {
  en: {
    'member.invite': 'Invited a person',
    'member.withdraw_invitation': 'Withdrew an invitation',
    'member.set_role': 'Changed a role',
    'member.remove': 'Removed a member',
    'member.reset': 'Made a reset link for a member',
  },
  id: {
    'member.invite': 'Mengundang orang',
    'member.withdraw_invitation': 'Menarik undangan',
    'member.set_role': 'Mengubah peran',
    'member.remove': 'Mengeluarkan anggota',
    'member.reset': 'Membuat tautan atur ulang',
  },
} satisfies ActionTexts;

const en = {
  title: 'Team',
  caption: 'Members, the oldest first',
  pager: { newer: 'First', older: 'Next', name: 'Pages' },
  columns: { name: 'Name', role: 'Role', factor: 'Second factor', seen: 'Last seen' },
  hasFactor: 'Set',
  noFactor: 'No second factor',
  never: 'Never',
  disabled: 'Disabled',
  you: 'you',
  back: 'Back',
  lunas: 'Lunas',
  invitations: {
    title: 'Open invitations',
    caption: 'Invitations that wait, the newest first',
    columns: { email: 'E-mail', role: 'Role', by: 'Invited by', until: 'Valid until', action: 'Actions' },
    resend: 'New link',
    withdraw: 'Withdraw',
  },
  done: {
    role: 'The role is changed. It is in force from the next click on.',
    removed: 'The member is removed, and can no longer open this merchant.',
    withdrawn: 'The invitation is withdrawn. Its link no longer works.',
  },
  invite: {
    button: 'Invite',
    title: 'Invite a colleague',
    email: 'E-mail',
    create: 'Create the link',
    errorTitle: SHARED_EN.checkFields,
    errors: {
      email: 'Write an e-mail address such as sri@shop.example.',
      role: 'Choose a role.',
      member: 'This e-mail is that of a member already.',
      form: SHARED_EN.sentTwice,
    },
  },
  link: {
    title: 'The link is ready',
    resetTitle: 'The reset link is ready',
    once: 'Copy the link now. It is shown only once, and Lunas sends no e-mail.',
    name: 'Link',
    share: 'Share',
    invitation: (email: string) =>
      `Send it to ${email} yourself, by a channel that only this person reads: the link is enough to join.`,
    reset: (name: string) =>
      `Give it to ${name} in person or by phone. The link replaces the password and second factor.`,
    until: 'Valid until',
    ready: 'Done',
  },
  withdraw: {
    title: 'Withdraw the invitation?',
    explanation: 'The link no longer works. You can invite the person again.',
    button: 'Withdraw the invitation',
    ended: 'This invitation was used or withdrawn, or it has expired.',
  },
  member: {
    facts: 'Details',
    email: 'E-mail',
    since: 'Member since',
    invitedBy: 'Invited by',
    rights: 'May',
    changeRole: 'Change the role',
    remove: 'Remove',
    reset: 'Reset the login',
    manage: 'Change access',
    choose: 'Show what changes',
    own: 'This is you. You change your login in your profile.',
  },
  role: {
    title: 'Change the role?',
    columns: { area: 'Area', now: 'Now', after: 'Then' },
    caption: 'What changes',
    same: 'The member has this role already.',
    button: (role: string) => `Change to ${role}`,
    payouts: 'Every owner gets a notice, because this role approves payouts.',
    lastOwner: 'This is the last owner. Make another member an owner first.',
  },
  remove: {
    title: 'Remove the member?',
    explanation: 'The next click of this member fails. Their actions stay in the activity. You can invite them again.',
    button: 'Remove the member',
    keys: 'Keys that this member created',
    unnamed: 'No name',
    keysQuestion: 'The member may have kept their secrets',
    revokeKeys: 'Revoke these keys',
    keysHint: 'A server that still uses one of them is rejected within a second. Give it another key first.',
  },
  reset: {
    title: 'Reset the login?',
    explanation:
      'You get a link for one hour. With it the member sets a new password, and is signed out everywhere. ' +
      'Every owner gets a notice.',
    button: 'Create the reset link',
    own: 'You cannot reset your own login here. Change it in your profile, or ask another owner.',
    otherMerchants: 'This member also belongs to other merchants. Ask Lunas to reset the login.',
  },
  /** What a role is for. */
  purposes: EN_PURPOSES,
  areas: EN_AREAS,
  levels: {
    none: '–',
    view: 'view',
    manage: 'view and change',
    authorise: 'view, change and approve',
    createPayments: 'view, create and cancel',
    refundPayments: 'view, create, cancel and refund',
    requestPayouts: 'view and request',
    approvePayouts: 'view, request and approve',
  },
};

export type TeamTexts = typeof en;

const id: TeamTexts = {
  title: 'Tim',
  caption: 'Anggota, yang terlama lebih dulu',
  pager: { newer: 'Pertama', older: 'Berikutnya', name: 'Halaman' },
  columns: { name: 'Nama', role: 'Peran', factor: 'Faktor kedua', seen: 'Terakhir aktif' },
  hasFactor: 'Terpasang',
  noFactor: 'Tanpa faktor kedua',
  never: 'Belum pernah',
  disabled: 'Dinonaktifkan',
  you: 'Anda',
  back: 'Kembali',
  lunas: 'Tim Lunas',
  invitations: {
    title: 'Undangan terbuka',
    caption: 'Undangan yang menunggu, yang terbaru lebih dulu',
    columns: { email: 'Email', role: 'Peran', by: 'Diundang oleh', until: 'Berlaku sampai', action: 'Tindakan' },
    resend: 'Tautan baru',
    withdraw: 'Tarik',
  },
  done: {
    role: 'Peran sudah diubah dan berlaku mulai klik berikutnya.',
    removed: 'Anggota sudah dikeluarkan dan tidak dapat membuka toko ini lagi.',
    withdrawn: 'Undangan sudah ditarik. Tautannya tidak berlaku lagi.',
  },
  invite: {
    button: 'Undang',
    title: 'Undang rekan',
    email: 'Email',
    create: 'Buat tautan',
    errorTitle: SHARED_ID.checkFields,
    errors: {
      email: 'Tulis alamat email, misalnya sri@toko.example.',
      role: 'Pilih peran.',
      member: 'Email ini sudah milik seorang anggota.',
      form: SHARED_ID.sentTwice,
    },
  },
  link: {
    title: 'Tautan sudah siap',
    resetTitle: 'Tautan atur ulang sudah siap',
    once: 'Salin tautan ini sekarang. Tautan hanya ditampilkan sekali, dan Lunas tidak mengirim email.',
    name: 'Tautan',
    share: 'Bagikan',
    invitation: (email) =>
      `Kirim sendiri kepada ${email}, lewat saluran yang hanya dibaca orang itu. Pemegang tautan dapat bergabung.`,
    reset: (name) =>
      `Berikan langsung atau lewat telepon kepada ${name}. Tautan ini mengganti kata sandi dan faktor kedua.`,
    until: 'Berlaku sampai',
    ready: 'Selesai',
  },
  withdraw: {
    title: 'Tarik undangan?',
    explanation: 'Tautannya tidak berlaku lagi. Anda dapat mengundang orang ini lagi.',
    button: 'Tarik undangan',
    ended: 'Undangan ini sudah dipakai, ditarik, atau kedaluwarsa.',
  },
  member: {
    facts: 'Rincian',
    email: 'Email',
    since: 'Anggota sejak',
    invitedBy: 'Diundang oleh',
    rights: 'Boleh',
    changeRole: 'Ubah peran',
    remove: 'Keluarkan',
    reset: 'Atur ulang akses masuk',
    manage: 'Ubah akses',
    choose: 'Lihat perubahannya',
    own: 'Ini Anda. Akses masuk Anda diubah di profil.',
  },
  role: {
    title: 'Ubah peran?',
    columns: { area: 'Bagian', now: 'Sekarang', after: 'Nanti' },
    caption: 'Yang berubah',
    same: 'Anggota ini sudah memiliki peran tersebut.',
    button: (role) => `Ubah menjadi ${role}`,
    payouts: 'Setiap pemilik mendapat pemberitahuan, karena peran ini menyetujui pencairan.',
    lastOwner: 'Ini pemilik terakhir. Jadikan anggota lain pemilik lebih dulu.',
  },
  remove: {
    title: 'Keluarkan anggota?',
    explanation:
      'Klik berikutnya dari anggota ini gagal. Tindakannya tetap tercatat di aktivitas. Anda dapat mengundangnya lagi.',
    button: 'Keluarkan anggota',
    keys: 'Kunci yang dibuat anggota ini',
    unnamed: 'Tanpa nama',
    keysQuestion: 'Anggota ini mungkin masih menyimpan rahasianya',
    revokeKeys: 'Cabut kunci-kunci ini',
    keysHint: 'Server yang masih memakainya ditolak dalam satu detik. Pasang kunci lain lebih dulu.',
  },
  reset: {
    title: 'Atur ulang akses masuk?',
    explanation:
      'Anda mendapat tautan untuk satu jam. Dengan itu anggota membuat kata sandi baru, dan semua sesinya berakhir. ' +
      'Setiap pemilik mendapat pemberitahuan.',
    button: 'Buat tautan atur ulang',
    own: 'Akses Anda sendiri tidak diatur ulang di sini. Ubah di profil, atau minta pemilik lain.',
    otherMerchants: 'Anggota ini juga anggota toko lain. Minta tim Lunas mengatur ulang aksesnya.',
  },
  purposes: ID_PURPOSES,
  areas: ID_AREAS,
  levels: {
    none: '–',
    view: 'melihat',
    manage: 'melihat dan mengubah',
    authorise: 'melihat, mengubah, dan menyetujui',
    createPayments: 'melihat, membuat, dan membatalkan',
    refundPayments: 'melihat, membuat, membatalkan, dan mengembalikan dana',
    requestPayouts: 'melihat dan meminta',
    approvePayouts: 'melihat, meminta, dan menyetujui',
  },
};

export const TEAM_TEXTS: Readonly<Record<Language, TeamTexts>> = { id, en };
